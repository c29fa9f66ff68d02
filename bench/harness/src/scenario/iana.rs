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
    /// The number of the scheme in which both sides sign with such a key.
    pub fn signature_scheme(self) -> u16 {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => 0x0804, // rsa_pss_rsae_sha256
            Self::EcdsaP256 => 0x0403,               // ecdsa_secp256r1_sha256
            Self::EcdsaP384 => 0x0503,               // ecdsa_secp384r1_sha384
            Self::Ed25519 => 0x0807,
            Self::MlDsa44 => 0x0904,
            Self::MlDsa65 => 0x0905,
            Self::MlDsa87 => 0x0906,
        }
    }

    /// Certificates that sign in another scheme, of a type that every library supports.
    pub fn with_another_scheme(self) -> Self {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => Self::EcdsaP256,
            _ => Self::Rsa2048,
        }
    }

    /// The name that IANA lists for that scheme.
    fn signature_scheme_name(self) -> &'static str {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => "rsa_pss_rsae_sha256",
            Self::EcdsaP256 => "ecdsa_secp256r1_sha256",
            Self::EcdsaP384 => "ecdsa_secp384r1_sha384",
            Self::Ed25519 => "ed25519",
            Self::MlDsa44 => "mldsa44",
            Self::MlDsa65 => "mldsa65",
            Self::MlDsa87 => "mldsa87",
        }
    }
}

/// The number of a signature scheme from its name at IANA.
pub fn signature_scheme(name: &str) -> Result<u16> {
    let mut known = Certificate::ALL.iter();
    let found = known.find(|it| it.signature_scheme_name() == name);
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
        let mut suites: Vec<_> = suites.collect();
        suites.sort_unstable();
        let expected = [
            0x1301, 0x1302, 0x1303, 0xc02b, 0xc02c, 0xc02f, 0xc030, 0xcca8, 0xcca9,
        ];
        assert_eq!(suites, expected);
        for suite in CipherSuite::ALL {
            assert_eq!(CipherSuite::from_number(suite.number()).unwrap(), *suite);
        }
        let groups = [
            (KeyExchange::X25519, 29),
            (KeyExchange::Secp256r1, 23),
            (KeyExchange::Secp384r1, 24),
            (KeyExchange::X25519MlKem768, 4588),
            (KeyExchange::Secp256r1MlKem768, 4587),
            (KeyExchange::MlKem768, 513),
        ];
        let schemes = Certificate::ALL.iter().map(|it| it.signature_scheme());
        let schemes: Vec<_> = schemes.collect();
        let expected = [2052, 2052, 1027, 1283, 2055, 2308, 2309, 2310];
        assert_eq!(schemes, expected);
        // https://www.iana.org/assignments/tls-parameters (TLS SignatureScheme)
        for (name, number) in [
            ("rsa_pss_rsae_sha256", 2052),
            ("ecdsa_secp256r1_sha256", 1027),
            ("ecdsa_secp384r1_sha384", 1283),
            ("ed25519", 2055),
            ("mldsa44", 2308),
            ("mldsa65", 2309),
            ("mldsa87", 2310),
        ] {
            assert_eq!(signature_scheme(name).unwrap(), number);
        }
        for certificate in Certificate::ALL {
            let another = certificate.with_another_scheme();
            assert_ne!(another.signature_scheme(), certificate.signature_scheme());
        }
        let error = signature_scheme("rsa_pkcs1_sha256")
            .unwrap_err()
            .to_string();
        let expected = "signature scheme \"rsa_pkcs1_sha256\" is not in the vocabulary";
        assert_eq!(error, expected);
        for (group, number) in groups {
            assert_eq!(group.number(), number);
            assert_eq!(KeyExchange::from_number(number).unwrap(), group);
        }
    }
}
