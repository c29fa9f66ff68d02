//! The words of a scenario, which are those of `data/schema/record.schema.json`.

use std::fmt;

/// Defines an enumeration whose values serialize to the given texts.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $text)] $value,)+
        }

        impl $name {
            /// Every value, in the order of the schema.
            pub const ALL: &[Self] = &[$(Self::$value),+];

            /// The text of the schema.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$value => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(super) use vocabulary;

// `Operation`, the kind of a scenario: `build.rs` writes it from the schema, which has the list of
// `tools/src/tlsperf/contract/operations.py`.
include!(concat!(env!("OUT_DIR"), "/operation.rs"));

vocabulary!(
    /// A server of the system's packages.
    Server { Nginx = "nginx", Haproxy = "haproxy", }
);

vocabulary!(
    /// A version of TLS.
    Protocol {
        Tls12 = "1.2",
        Tls13 = "1.3",
    }
);

vocabulary!(
    /// Cipher suites, by their IANA names.
    CipherSuite {
        Aes128Gcm = "TLS_AES_128_GCM_SHA256",
        Aes256Gcm = "TLS_AES_256_GCM_SHA384",
        ChaCha20Poly1305 = "TLS_CHACHA20_POLY1305_SHA256",
        EcdheRsaAes128Gcm = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        EcdheRsaAes256Gcm = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        EcdheRsaChaCha20Poly1305 = "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        EcdheEcdsaAes128Gcm = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        EcdheEcdsaAes256Gcm = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        EcdheEcdsaChaCha20Poly1305 = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    }
);

vocabulary!(
    /// Key exchange groups.
    KeyExchange {
        X25519 = "X25519",
        Secp256r1 = "secp256r1",
        Secp384r1 = "secp384r1",
        X25519MlKem768 = "X25519MLKEM768",
        Secp256r1MlKem768 = "SecP256r1MLKEM768",
        MlKem768 = "MLKEM768",
    }
);

vocabulary!(
    /// Type and size of the keys of a certificate chain.
    Certificate {
        Rsa2048 = "rsa-2048",
        Rsa4096 = "rsa-4096",
        EcdsaP256 = "ecdsa-p256",
        EcdsaP384 = "ecdsa-p384",
        Ed25519 = "ed25519",
        MlDsa44 = "ml-dsa-44",
        MlDsa65 = "ml-dsa-65",
        MlDsa87 = "ml-dsa-87",
    }
);

vocabulary!(
    /// Which peers present a certificate.
    Authentication {
        Server = "server",
        Mutual = "mutual",
    }
);

vocabulary!(
    /// How a session is resumed. `Resumed`: data of another tool, which does not state how.
    Resumption {
        None = "none",
        SessionId = "session-id",
        Ticket = "ticket",
        Resumed = "resumed",
    }
);

vocabulary!(
    /// The side whose work is measured: client or server of a handshake, sender or receiver of a
    /// transfer or of QUIC's packets.
    Side {
        Client = "client",
        Server = "server",
        Sender = "sender",
        Receiver = "receiver",
    }
);

impl CipherSuite {
    /// Bytes of the hash of a cipher suite of TLS 1.3, which are those of Finished.
    pub fn hash_bytes(self) -> usize {
        match self.as_str().ends_with("SHA384") {
            true => 48,
            false => 32,
        }
    }

    /// The name of the AEAD, without the rest of the cipher suite.
    pub(super) fn cipher(self) -> &'static str {
        match self {
            Self::Aes128Gcm | Self::EcdheRsaAes128Gcm | Self::EcdheEcdsaAes128Gcm => "AES-128-GCM",
            Self::Aes256Gcm | Self::EcdheRsaAes256Gcm | Self::EcdheEcdsaAes256Gcm => "AES-256-GCM",
            Self::ChaCha20Poly1305
            | Self::EcdheRsaChaCha20Poly1305
            | Self::EcdheEcdsaChaCha20Poly1305 => "CHACHA20-POLY1305",
        }
    }
}

impl Certificate {
    pub(super) fn readable(self) -> &'static str {
        match self {
            Self::Rsa2048 => "RSA-2048",
            Self::Rsa4096 => "RSA-4096",
            Self::EcdsaP256 => "ECDSA P-256",
            Self::EcdsaP384 => "ECDSA P-384",
            Self::Ed25519 => "Ed25519",
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa87 => "ML-DSA-87",
        }
    }

    /// Whether its keys are of ML-DSA, which only TLS 1.3 has (draft-ietf-tls-mldsa).
    pub fn is_ml_dsa(self) -> bool {
        matches!(self, Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87)
    }
}

impl KeyExchange {
    /// Whether ML-KEM is a part of it; only TLS 1.3 has such groups.
    pub fn has_ml_kem(self) -> bool {
        matches!(
            self,
            Self::X25519MlKem768 | Self::Secp256r1MlKem768 | Self::MlKem768
        )
    }
}

impl Side {
    /// The end of a connection that it is: the server sends, the client receives.
    pub fn role(self) -> Self {
        match self {
            Self::Client | Self::Receiver => Self::Client,
            Self::Server | Self::Sender => Self::Server,
        }
    }

    pub(super) fn readable(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Sender => "sending",
            Self::Receiver => "receiving",
        }
    }
}

/// A number from 1 on, in ASCII digits, without a sign or a leading zero.
pub(super) fn number(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|it| it.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_number)
}
