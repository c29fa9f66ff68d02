//! The numbers that IANA assigned to cipher suites, groups and signature schemes.

use anyhow::{Context, Result};

use super::words::{Certificate, CipherSuite, KeyExchange};

impl CipherSuite {
    pub fn number(self) -> u16 {
        match self {
            Self::Aes128Gcm => 0x1301,
            Self::Aes256Gcm => 0x1302,
            Self::ChaCha20Poly1305 => 0x1303,
            Self::EcdheRsaAes128Gcm => 0xc02f,
            Self::EcdheRsaAes256Gcm => 0xc030,
            Self::EcdheRsaChaCha20Poly1305 => 0xcca8,
            Self::EcdheEcdsaAes128Gcm => 0xc02b,
            Self::EcdheEcdsaAes256Gcm => 0xc02c,
            Self::EcdheEcdsaChaCha20Poly1305 => 0xcca9,
        }
    }

    /// The cipher suite of an IANA number.
    pub fn from_number(number: u16) -> Result<Self> {
        let found = Self::ALL.iter().find(|suite| suite.number() == number);
        found
            .copied()
            .with_context(|| format!("cipher suite {number:#06x} is not in the vocabulary"))
    }
}

impl Certificate {
    /// The scheme in which both sides sign with such a key: its number and its name at IANA.
    fn scheme(self) -> (u16, &'static str) {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => (0x0804, "rsa_pss_rsae_sha256"),
            Self::EcdsaP256 => (0x0403, "ecdsa_secp256r1_sha256"),
            Self::EcdsaP384 => (0x0503, "ecdsa_secp384r1_sha384"),
            Self::Ed25519 => (0x0807, "ed25519"),
            Self::MlDsa44 => (0x0904, "mldsa44"),
            Self::MlDsa65 => (0x0905, "mldsa65"),
            Self::MlDsa87 => (0x0906, "mldsa87"),
        }
    }

    /// The number of the scheme in which both sides sign with such a key.
    pub fn signature_scheme(self) -> u16 {
        self.scheme().0
    }

    /// Certificates that sign in another scheme, of a type that every library supports.
    pub fn with_another_scheme(self) -> Self {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => Self::EcdsaP256,
            _ => Self::Rsa2048,
        }
    }
}

/// The number of a signature scheme from its name at IANA.
pub fn signature_scheme(name: &str) -> Result<u16> {
    let mut known = Certificate::ALL.iter();
    let found = known.find(|it| it.scheme().1 == name);
    found
        .map(|it| it.signature_scheme())
        .with_context(|| format!("signature scheme \"{name}\" is not in the vocabulary"))
}

impl KeyExchange {
    pub fn number(self) -> u16 {
        match self {
            Self::X25519 => 0x001d,
            Self::Secp256r1 => 0x0017,
            Self::Secp384r1 => 0x0018,
            Self::X25519MlKem768 => 0x11ec,
            Self::Secp256r1MlKem768 => 0x11eb,
            Self::MlKem768 => 0x0201,
        }
    }

    /// The group of an IANA number.
    pub fn from_number(number: u16) -> Result<Self> {
        let found = Self::ALL.iter().find(|group| group.number() == number);
        found
            .copied()
            .with_context(|| format!("group {number:#06x} is not in the vocabulary"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_equal_those_of_iana() {
        let suites = CipherSuite::ALL.iter().map(|it| it.number());
        let expected = [
            0x1301, 0x1302, 0x1303, 0xc02f, 0xc030, 0xcca8, 0xc02b, 0xc02c, 0xcca9,
        ];
        assert_eq!(suites.collect::<Vec<_>>(), expected);
        for suite in CipherSuite::ALL {
            assert_eq!(CipherSuite::from_number(suite.number()).unwrap(), *suite);
        }
        let groups = KeyExchange::ALL.iter().map(|it| it.number());
        assert_eq!(groups.collect::<Vec<_>>(), [29, 23, 24, 4588, 4587, 513]);
        for group in KeyExchange::ALL {
            assert_eq!(KeyExchange::from_number(group.number()).unwrap(), *group);
        }
        // https://www.iana.org/assignments/tls-parameters (TLS SignatureScheme)
        for (certificate, name, number) in [
            (Certificate::Rsa2048, "rsa_pss_rsae_sha256", 2052),
            (Certificate::Rsa4096, "rsa_pss_rsae_sha256", 2052),
            (Certificate::EcdsaP256, "ecdsa_secp256r1_sha256", 1027),
            (Certificate::EcdsaP384, "ecdsa_secp384r1_sha384", 1283),
            (Certificate::Ed25519, "ed25519", 2055),
            (Certificate::MlDsa44, "mldsa44", 2308),
            (Certificate::MlDsa65, "mldsa65", 2309),
            (Certificate::MlDsa87, "mldsa87", 2310),
        ] {
            assert_eq!(certificate.signature_scheme(), number);
            assert_eq!(signature_scheme(name).unwrap(), number);
            assert_ne!(certificate.with_another_scheme().signature_scheme(), number);
        }
        let error = signature_scheme("rsa_pkcs1_sha256").unwrap_err();
        let expected = "signature scheme \"rsa_pkcs1_sha256\" is not in the vocabulary";
        assert_eq!(error.to_string(), expected);
    }
}
