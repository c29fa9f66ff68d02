//! The names of primitives, such as `aes-256-gcm-seal-16384` and `rsa-2048-sign`.

use std::fmt;

use anyhow::{Result, ensure};

use super::words::{Certificate, number, vocabulary};

vocabulary!(
    /// An authenticated cipher.
    Cipher {
        Aes128Gcm = "aes-128-gcm",
        Aes256Gcm = "aes-256-gcm",
        ChaCha20Poly1305 = "chacha20-poly1305",
    }
);

vocabulary!(
    /// A key exchange, or a key encapsulation.
    Group {
        X25519 = "x25519",
        Secp256r1 = "secp256r1",
        Secp384r1 = "secp384r1",
        MlKem768 = "ml-kem-768",
    }
);

/// A step of a key exchange. The last step of a key encapsulation is named `decapsulate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Generate,
    Encapsulate,
    Agree,
}

/// One primitive operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// Bytes of plaintext, encrypted in place.
    Seal(Cipher, u32),
    Open(Cipher, u32),
    /// RSA-PSS or ECDSA with SHA-256, ECDSA P-384 with SHA-384, Ed25519, or ML-DSA; hashing the
    /// message is included.
    Sign(Certificate),
    Verify(Certificate),
    KeyExchange(Group, Step),
}

/// The primitives without a size.
const WITHOUT_SIZE: [Primitive; 23] = [
    Primitive::Sign(Certificate::Rsa2048),
    Primitive::Verify(Certificate::Rsa2048),
    Primitive::Sign(Certificate::EcdsaP256),
    Primitive::Verify(Certificate::EcdsaP256),
    Primitive::Sign(Certificate::EcdsaP384),
    Primitive::Verify(Certificate::EcdsaP384),
    Primitive::Sign(Certificate::Ed25519),
    Primitive::Verify(Certificate::Ed25519),
    Primitive::Sign(Certificate::MlDsa44),
    Primitive::Verify(Certificate::MlDsa44),
    Primitive::Sign(Certificate::MlDsa65),
    Primitive::Verify(Certificate::MlDsa65),
    Primitive::Sign(Certificate::MlDsa87),
    Primitive::Verify(Certificate::MlDsa87),
    Primitive::KeyExchange(Group::X25519, Step::Generate),
    Primitive::KeyExchange(Group::X25519, Step::Agree),
    Primitive::KeyExchange(Group::Secp256r1, Step::Generate),
    Primitive::KeyExchange(Group::Secp256r1, Step::Agree),
    Primitive::KeyExchange(Group::Secp384r1, Step::Generate),
    Primitive::KeyExchange(Group::Secp384r1, Step::Agree),
    Primitive::KeyExchange(Group::MlKem768, Step::Generate),
    Primitive::KeyExchange(Group::MlKem768, Step::Encapsulate),
    Primitive::KeyExchange(Group::MlKem768, Step::Agree),
];

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seal(cipher, size) => write!(f, "{cipher}-seal-{size}"),
            Self::Open(cipher, size) => write!(f, "{cipher}-open-{size}"),
            Self::Sign(certificate) => write!(f, "{certificate}-sign"),
            Self::Verify(certificate) => write!(f, "{certificate}-verify"),
            Self::KeyExchange(group, step) => {
                let step = match (group, step) {
                    (_, Step::Generate) => "generate",
                    (_, Step::Encapsulate) => "encapsulate",
                    (Group::MlKem768, Step::Agree) => "decapsulate",
                    (_, Step::Agree) => "agree",
                };
                write!(f, "{group}-{step}")
            }
        }
    }
}

impl Primitive {
    /// Parses the name of a primitive; `None` if it is not one.
    pub(super) fn parse(text: &str) -> Result<Option<Self>> {
        for &cipher in Cipher::ALL {
            let Some(rest) = text.strip_prefix(cipher.as_str()) else {
                continue;
            };
            let (sealed, opened) = (rest.strip_prefix("-seal-"), rest.strip_prefix("-open-"));
            let Some(size) = sealed.or(opened) else {
                continue;
            };
            if let Some(size) = number(size) {
                return Ok(Some(match sealed {
                    Some(_) => Self::Seal(cipher, size),
                    None => Self::Open(cipher, size),
                }));
            }
            let is_number = !size.is_empty() && size.bytes().all(|it| it.is_ascii_digit());
            ensure!(!is_number, "{size}, expected a size from 1 to {}", u32::MAX);
        }
        Ok(WITHOUT_SIZE
            .into_iter()
            .find(|primitive| primitive.to_string() == text))
    }

    /// The names of all primitives, for messages.
    pub(super) fn names() -> String {
        let ciphers: Vec<_> = Cipher::ALL.iter().map(|cipher| cipher.as_str()).collect();
        let others = WITHOUT_SIZE.map(|primitive| primitive.to_string());
        format!(
            "{} with -seal-SIZE or -open-SIZE, or {}",
            ciphers.join(", "),
            others.join(", ")
        )
    }

    /// Whether it belongs to ML-KEM, which some libraries lack.
    pub fn is_ml_kem(self) -> bool {
        matches!(self, Self::KeyExchange(Group::MlKem768, _))
    }

    /// Whether it belongs to ML-DSA, which some libraries lack.
    pub fn is_ml_dsa(self) -> bool {
        matches!(self, Self::Sign(key) | Self::Verify(key) if key.is_ml_dsa())
    }

    /// Bytes of plaintext per operation, if the rate is in bytes.
    pub fn bytes(self) -> Option<u32> {
        match self {
            Self::Seal(_, size) | Self::Open(_, size) => Some(size),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Operation, Scenario};

    fn of(variant: &str) -> Result<Primitive> {
        Scenario {
            variant: Some(variant.parse()?),
            ..Scenario::new(Operation::Primitive)
        }
        .primitive()
    }

    #[test]
    fn a_name_is_parsed_to_its_primitive() {
        for (name, expected) in [
            (
                "aes-256-gcm-seal-16384",
                Primitive::Seal(Cipher::Aes256Gcm, 16384),
            ),
            (
                "chacha20-poly1305-open-1350",
                Primitive::Open(Cipher::ChaCha20Poly1305, 1350),
            ),
            ("rsa-2048-verify", Primitive::Verify(Certificate::Rsa2048)),
            ("ed25519-sign", Primitive::Sign(Certificate::Ed25519)),
            (
                "secp384r1-agree",
                Primitive::KeyExchange(Group::Secp384r1, Step::Agree),
            ),
            (
                "ml-kem-768-decapsulate",
                Primitive::KeyExchange(Group::MlKem768, Step::Agree),
            ),
        ] {
            assert_eq!(of(name).unwrap(), expected);
            assert_eq!(expected.to_string(), name);
        }
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_the_known_ones() {
        for name in [
            "aes-256-gcm",
            "aes-256-gcm-seal-x",
            "aes-256-gcm-shut-16",
            "des-seal-16",
            "x25519-sign",
            "secp256r1-encapsulate",
            "hello-retry",
        ] {
            let error = of(name).unwrap_err().to_string();
            assert!(
                error.contains(&format!("variant \"{name}\", expected aes-128-gcm,")),
                "{error}"
            );
        }
        let error = format!("{:#}", of("aes-256-gcm-seal-0").unwrap_err());
        assert!(error.contains("expected a size from 1 to"), "{error}");
        assert!(Scenario::new(Operation::Primitive).primitive().is_err());
        assert!(Scenario::new(Operation::Transfer).primitive().is_err());
    }
}
