//! The certificates of the project: for each type of key a root, an intermediate and two leaves,
//! and other chains of some types. `examples/certificates.rs` made them; they are valid until 2049.

pub mod set_up;

use anyhow::{Result, bail};

use crate::scenario::{Certificate, Chain};

/// The host name in every server's certificate.
pub const HOST_NAME: &str = "server.example";

/// The identity of a peer: its chain (leaf, then any intermediates) and the leaf's private key, as PEM.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    pub chain: &'static str,
    pub key: &'static str,
}

/// The identity that a server presents to clients that send its name (SNI).
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    pub identity: Identity,
}

/// The identities of a server and a client, and the root that verifies both.
#[derive(Clone, Copy, Debug)]
pub struct Authority {
    pub root: &'static str,
    pub server: Identity,
    pub client: Identity,
}

/// The content that a TLS 1.3 server signs (RFC 8446, 4.4.3), with a fixed SHA-384 transcript hash.
pub const SIGNED: &[u8] = concat!(
    "                                                                ",
    "TLS 1.3, server CertificateVerify\0",
    "0123456789abcdef0123456789abcdef0123456789abcdef",
)
.as_bytes();

macro_rules! authority {
    ($folder:literal) => {
        Authority {
            root: include_str!(concat!("../certificates/", $folder, "/root.pem")),
            server: Identity {
                chain: include_str!(concat!("../certificates/", $folder, "/server.pem")),
                key: include_str!(concat!("../certificates/", $folder, "/server.key")),
            },
            client: Identity {
                chain: include_str!(concat!("../certificates/", $folder, "/client.pem")),
                key: include_str!(concat!("../certificates/", $folder, "/client.key")),
            },
        }
    };
}

/// The certificates with keys of this type.
pub fn authority(certificate: Certificate) -> Authority {
    match certificate {
        Certificate::Rsa2048 => authority!("rsa-2048"),
        Certificate::Rsa4096 => authority!("rsa-4096"),
        Certificate::EcdsaP256 => authority!("ecdsa-p256"),
        Certificate::EcdsaP384 => authority!("ecdsa-p384"),
        Certificate::Ed25519 => authority!("ed25519"),
        Certificate::MlDsa44 => authority!("ml-dsa-44"),
        Certificate::MlDsa65 => authority!("ml-dsa-65"),
        Certificate::MlDsa87 => authority!("ml-dsa-87"),
    }
}

/// The certificates of this chain whose leaves have keys of this type.
pub fn in_chain(chain: Chain, leaf: Certificate) -> Result<Authority> {
    Ok(match (chain, leaf) {
        (Chain::One, Certificate::Rsa2048) => authority!("chain-1/rsa-2048"),
        (Chain::One, Certificate::EcdsaP256) => authority!("chain-1/ecdsa-p256"),
        (Chain::One, Certificate::MlDsa44) => authority!("chain-1/ml-dsa-44"),
        (Chain::One, Certificate::MlDsa65) => authority!("chain-1/ml-dsa-65"),
        (Chain::Three, Certificate::Rsa2048) => authority!("chain-3/rsa-2048"),
        (Chain::Three, Certificate::EcdsaP256) => authority!("chain-3/ecdsa-p256"),
        (Chain::Three, Certificate::MlDsa44) => authority!("chain-3/ml-dsa-44"),
        (Chain::Three, Certificate::MlDsa65) => authority!("chain-3/ml-dsa-65"),
        (Chain::EcdsaIssuers, Certificate::MlDsa44) => authority!("issuer-ecdsa-p256/ml-dsa-44"),
        (Chain::EcdsaIssuers, Certificate::MlDsa65) => authority!("issuer-ecdsa-p256/ml-dsa-65"),
        (Chain::EcdsaIssuers, Certificate::MlDsa87) => authority!("issuer-ecdsa-p256/ml-dsa-87"),
        _ => {
            let made = chain.certificates().iter();
            let made: Vec<_> = made.map(|it| format!("\"{it}\"")).collect();
            bail!(
                "found \"{leaf}\" with variant \"{chain}\", expected {}: there are no other \
                 certificates in this chain",
                made.join(", ")
            )
        }
    })
}

/// A signature of `SIGNED` with the server's key, in the scheme of `primitives::Signature`, made by
/// `examples/certificates.rs`; `None` for key types that no primitive uses.
pub fn signature(certificate: Certificate) -> Option<&'static [u8]> {
    Some(match certificate {
        Certificate::Rsa2048 => include_bytes!("../certificates/rsa-2048/server.sig"),
        Certificate::EcdsaP256 => include_bytes!("../certificates/ecdsa-p256/server.sig"),
        Certificate::EcdsaP384 => include_bytes!("../certificates/ecdsa-p384/server.sig"),
        Certificate::Ed25519 => include_bytes!("../certificates/ed25519/server.sig"),
        Certificate::MlDsa44 => include_bytes!("../certificates/ml-dsa-44/server.sig"),
        Certificate::MlDsa65 => include_bytes!("../certificates/ml-dsa-65/server.sig"),
        Certificate::MlDsa87 => include_bytes!("../certificates/ml-dsa-87/server.sig"),
        Certificate::Rsa4096 => return None,
    })
}
