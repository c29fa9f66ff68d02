//! What is measured: the vocabulary of `data/schema/record.schema.json`.

use std::fmt;

use serde::{Deserialize, Serialize};

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

pub(crate) use vocabulary;

pub mod chain;
mod iana;
pub mod primitive;
pub mod set_up;
pub mod variant;

pub use chain::Chain;
pub use iana::signature_scheme;
pub use primitive::Primitive;
pub use set_up::{Anchors, SetUp, Slope};
pub use variant::{Variant, VariantKind};

pub use crate::workloads::Operation;

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

/// What is measured. All fields together identify a scenario; an absent field is not recorded or
/// does not apply.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub operation: Operation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cipher_suite: Option<CipherSuite>,
    /// Absent if no keys are exchanged, as in a TLS 1.2 resumption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_exchange: Option<KeyExchange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumption: Option<Resumption>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Bytes per write, or of a whole packet of QUIC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// Bytes that are written before they are read; absent: 1 MiB at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// Largest record, in bytes of plaintext.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_size: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
}

impl CipherSuite {
    /// Bytes of the hash of a cipher suite of TLS 1.3, which are those of Finished.
    pub fn hash_bytes(self) -> usize {
        match self.as_str().ends_with("SHA384") {
            true => 48,
            false => 32,
        }
    }

    /// The name of the AEAD, without the rest of the cipher suite.
    fn cipher(self) -> &'static str {
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
    fn readable(self) -> &'static str {
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
    fn readable(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Sender => "sending",
            Self::Receiver => "receiving",
        }
    }
}

/// A number of bytes in the largest binary unit that divides it: 16 B, 8 KiB, 1 MiB.
fn size_name(size: u32) -> String {
    for (unit, factor) in [("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if size.is_multiple_of(factor) {
            return format!("{} {unit}", size / factor);
        }
    }
    format!("{size} B")
}

impl Scenario {
    /// A scenario of this kind with all other fields absent.
    pub fn new(operation: Operation) -> Self {
        Self {
            operation,
            protocol: None,
            cipher_suite: None,
            key_exchange: None,
            certificate: None,
            authentication: None,
            resumption: None,
            side: None,
            threads: None,
            size: None,
            in_flight: None,
            record_size: None,
            variant: None,
        }
    }

    /// The same scenario for one side, or for none.
    pub fn on(&self, side: impl Into<Option<Side>>) -> Self {
        Self {
            side: side.into(),
            ..self.clone()
        }
    }

    /// The chain that its variant names; none for the usual one.
    pub fn chain(&self) -> Option<Chain> {
        match self.variant {
            Some(Variant::Chain(chain)) => Some(chain),
            _ => None,
        }
    }

    /// The readable name, by the same rules as `scenario_name` in `tlsperf.contract.names`.
    pub fn name(&self) -> String {
        let handshake = self.operation == Operation::Handshake;
        let transfer = self.operation == Operation::Transfer;
        let packet = self.operation == Operation::QuicPacket;
        let kind = match (handshake, self.resumption) {
            (false, _) if packet => "QUIC packet protection".into(),
            (false, _) => self.operation.as_str().replace('-', " "),
            (true, None) => "handshake".into(),
            (true, Some(Resumption::None)) => "full handshake".into(),
            (true, Some(_)) => "resumed handshake".into(),
        };
        let mut parts = vec![match self.protocol {
            Some(protocol) => format!("TLS {protocol} {kind}"),
            None => kind,
        }];
        match self.resumption {
            Some(Resumption::SessionId) => parts.push("session id".into()),
            Some(Resumption::Ticket) => parts.push("ticket".into()),
            _ => {}
        }
        if let Some(suite) = self.cipher_suite
            && (transfer || packet || suite.cipher() != "AES-256-GCM")
        {
            parts.push(suite.cipher().into());
        }
        if let Some(certificate) = self.certificate
            && (handshake
                || matches!(self.operation, Operation::SetUp | Operation::Connection)
                || (self.operation == Operation::Memory && certificate.is_ml_dsa()))
            && matches!(self.resumption, None | Some(Resumption::None))
        {
            parts.push(certificate.readable().into());
        }
        if let Some(group) = self.key_exchange
            && !transfer
        {
            parts.push(group.to_string());
        }
        if self.authentication == Some(Authentication::Mutual) {
            parts.push("mutual".into());
        }
        if let Some(bytes) = self.in_flight {
            parts.push(format!("{} in flight", size_name(bytes)));
        }
        let usual_size = transfer.then(|| self.in_flight.unwrap_or(1 << 20));
        if let Some(size) = self.size
            && Some(size) != usual_size
        {
            let writes = if transfer { " writes" } else { "" };
            parts.push(size_name(size) + writes);
        }
        if let Some(size) = self.record_size {
            parts.push(format!("{} records", size_name(size)));
        }
        parts.extend(self.variant.as_ref().map(Variant::readable));
        if let Some(threads) = self.threads
            && threads != 1
        {
            parts.push(format!("{threads} threads"));
        }
        parts.extend(self.side.map(|side| match (packet, side) {
            (true, Side::Sender) => "sealing".into(),
            (true, Side::Receiver) => "opening".into(),
            _ => side.readable().into(),
        }));
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Named {
        scenario: Scenario,
        name: String,
    }

    #[test]
    fn names_equal_those_of_the_contract() {
        let text = include_str!("../../../data/schema/scenario-names.json");
        let named: Vec<Named> = serde_json::from_str(text).unwrap();
        assert!(!named.is_empty());
        for Named { scenario, name } in named {
            assert_eq!(scenario.name(), name);
        }
    }

    #[test]
    fn an_unknown_field_or_value_is_rejected() {
        for text in [
            r#"{"operation":"handshake","colour":"red"}"#,
            r#"{"operation":"handshake","protocol":"1.1"}"#,
            r#"{"protocol":"1.3"}"#,
        ] {
            assert!(serde_json::from_str::<Scenario>(text).is_err(), "{text}");
        }
    }
}
