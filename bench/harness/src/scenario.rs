//! What is measured: the vocabulary of `data/schema/record.schema.json`.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

pub mod chain;
mod iana;
pub mod primitive;
pub mod set_up;
pub mod variant;
mod words;

pub use chain::Chain;
pub use iana::signature_scheme;
pub use primitive::Primitive;
pub use set_up::{Anchors, SetUp, Slope};
pub use variant::{Variant, VariantKind};
pub use words::{
    Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption, Server,
    Side,
};

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

    /// The primitive that it measures.
    pub fn primitive(&self) -> Result<Primitive> {
        let name = self.name();
        ensure!(
            self.operation == Operation::Primitive,
            "scenario \"{name}\" is not a primitive"
        );
        let variant = self.variant.as_ref();
        match variant.with_context(|| format!("scenario \"{name}\" has no variant"))? {
            Variant::Primitive(primitive) => Ok(*primitive),
            other => bail!("variant \"{other}\", expected {}", Primitive::names()),
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
