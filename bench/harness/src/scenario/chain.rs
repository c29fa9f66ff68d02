//! Chains of certificates other than the usual one: a leaf and an intermediate, both with keys of
//! the scenario's type.

use std::fmt;

use super::words::{Certificate, vocabulary};

vocabulary!(
    /// A chain other than the usual one.
    Chain {
        /// The root issues the leaf.
        One = "chain-1",
        /// A leaf and two intermediates.
        Three = "chain-3",
        /// A leaf with a key of the scenario's type; the intermediate and the root have ECDSA P-256.
        EcdsaIssuers = "issuer-ecdsa-p256",
    }
);

impl Chain {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == text)
    }

    /// What the name of a scenario says of it.
    pub(super) fn readable(self) -> &'static str {
        match self {
            Self::One => "chain of 1 certificate",
            Self::Three => "chain of 3 certificates",
            Self::EcdsaIssuers => "ECDSA P-256 issuers",
        }
    }

    /// The types of leaf keys for which there are such chains.
    pub fn certificates(self) -> &'static [Certificate] {
        match self {
            Self::One | Self::Three => &[
                Certificate::Rsa2048,
                Certificate::EcdsaP256,
                Certificate::MlDsa44,
                Certificate::MlDsa65,
            ],
            Self::EcdsaIssuers => &[
                Certificate::MlDsa44,
                Certificate::MlDsa65,
                Certificate::MlDsa87,
            ],
        }
    }

    /// The types of the issuers' keys, from the root to the issuer of the leaf.
    pub fn issuers(self, leaf: Certificate) -> Vec<Certificate> {
        match self {
            Self::One => vec![leaf],
            Self::Three => vec![leaf; 3],
            Self::EcdsaIssuers => vec![Certificate::EcdsaP256; 2],
        }
    }
}
