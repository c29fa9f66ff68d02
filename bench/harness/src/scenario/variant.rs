//! What else names a scenario: its `variant`, and the one parser of it.

use std::{fmt, str::FromStr};

use anyhow::{Context, Error, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::{
    chain::Chain,
    primitive::Primitive,
    set_up::SetUp,
    words::{KeyExchange, Operation, Server, number, vocabulary},
};

/// A variant. Its text in records and suites is what `Display` writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Variant {
    /// The key shares that a client sends: `X25519MLKEM768+X25519`.
    KeyShares(Vec<KeyExchange>),
    /// The client first sends a key share that the server does not want: `hello-retry`.
    HelloRetry,
    /// The client of a resumed handshake sends data in its first flight: `early-data`.
    EarlyData,
    /// A server of TLS 1.2 renews tickets as its library does by default: `own-tickets`. Without it
    /// every resumption issues a new one.
    OwnTickets,
    /// Idle connections release their buffers as the library documents: `released-buffers`.
    ReleasedBuffers,
    /// Connections held at once: `sessions-1000`.
    Sessions(u32),
    /// A transfer whose source and destination do not fit into a cache: `cold`.
    Cold,
    /// Sockets without TCP_NODELAY, so that TCP may delay small segments: `nagle`.
    Nagle,
    /// The server is a program of the system: `nginx`, `haproxy`.
    Server(Server),
    /// Certificates in a chain other than the usual one: `chain-3`.
    Chain(Chain),
    /// The server compresses its certificates (RFC 8879): `compressed-zlib`.
    Compressed,
    /// `aes-256-gcm-seal-16384`, `rsa-2048-sign`.
    Primitive(Primitive),
    /// `client-mozilla`, `names-100`.
    SetUp(SetUp),
    /// A name that only other tools' data has. No program of ours measures it.
    Foreign(String),
}

vocabulary!(
    /// The kinds of variants that our programs measure.
    VariantKind {
        KeyShares = "key-shares",
        HelloRetry = "hello-retry",
        EarlyData = "early-data",
        OwnTickets = "own-tickets",
        ReleasedBuffers = "released-buffers",
        Sessions = "sessions",
        Cold = "cold",
        Nagle = "nagle",
        Server = "server",
        Chain = "chain",
        Compressed = "compressed",
        Primitive = "primitive",
        SetUp = "set-up",
    }
);

const COMPRESSED: &str = "compressed-zlib";

impl VariantKind {
    /// The texts of this kind, for messages.
    fn expected(self) -> String {
        match self {
            Self::KeyShares => {
                let groups: Vec<_> = KeyExchange::ALL.iter().map(|it| it.as_str()).collect();
                format!("key shares joined by + ({})", groups.join(", "))
            }
            Self::HelloRetry
            | Self::EarlyData
            | Self::OwnTickets
            | Self::ReleasedBuffers
            | Self::Cold
            | Self::Nagle => self.as_str().into(),
            Self::Sessions => "sessions-NUMBER".into(),
            Self::Server => "nginx or haproxy".into(),
            Self::Chain => {
                let chains: Vec<_> = Chain::ALL.iter().map(|it| it.as_str()).collect();
                chains.join(", ")
            }
            Self::Compressed => COMPRESSED.into(),
            Self::Primitive => Primitive::names(),
            Self::SetUp => SetUp::names(),
        }
    }
}

fn group(name: &str) -> Option<KeyExchange> {
    KeyExchange::ALL
        .iter()
        .copied()
        .find(|group| group.as_str() == name)
}

/// Known groups joined by `+`, none of them twice.
fn groups(text: &str) -> Option<Vec<KeyExchange>> {
    let groups: Vec<_> = text.split('+').map(group).collect::<Option<_>>()?;
    let unique = (1..groups.len()).all(|i| !groups[..i].contains(&groups[i]));
    unique.then_some(groups)
}

impl Variant {
    fn parse(text: &str) -> Result<Self> {
        let foreign = || Self::Foreign(text.into());
        ensure!(!text.is_empty(), "expected a name");
        match text {
            "hello-retry" => return Ok(Self::HelloRetry),
            "early-data" => return Ok(Self::EarlyData),
            "own-tickets" => return Ok(Self::OwnTickets),
            "released-buffers" => return Ok(Self::ReleasedBuffers),
            "cold" => return Ok(Self::Cold),
            "nagle" => return Ok(Self::Nagle),
            COMPRESSED => return Ok(Self::Compressed),
            _ => {}
        }
        if let Some(server) = Server::ALL.iter().find(|it| it.as_str() == text) {
            return Ok(Self::Server(*server));
        }
        if let Some(chain) = Chain::parse(text) {
            return Ok(Self::Chain(chain));
        }
        if let Some(rest) = text.strip_prefix("sessions-") {
            // What one tool prints twice is numbered by its importer.
            let repeat = rest.split_once("-repeat-");
            return match (number(rest), repeat) {
                (Some(sessions), _) => Ok(Self::Sessions(sessions)),
                (_, Some((sessions, times))) if number(sessions).and(number(times)).is_some() => {
                    Ok(foreign())
                }
                _ => bail!("expected sessions- and a number from 1 to {}", u32::MAX),
            };
        }
        if let Some(primitive) = Primitive::parse(text)? {
            return Ok(Self::Primitive(primitive));
        }
        if let Some(set_up) = SetUp::parse(text)? {
            return Ok(Self::SetUp(set_up));
        }
        if !text.split('+').any(|part| group(part.trim()).is_some()) {
            return Ok(foreign());
        }
        if let Some(groups) = groups(text) {
            return Ok(Self::KeyShares(groups));
        }
        let list = text.strip_suffix("-shared");
        let list = list.or_else(|| text.strip_suffix("-separate"));
        match list.and_then(groups) {
            Some(_) => Ok(foreign()),
            None => bail!("expected {}", VariantKind::KeyShares.expected()),
        }
    }

    /// Which kind it is; none if it is foreign.
    pub fn kind(&self) -> Option<VariantKind> {
        Some(match self {
            Self::KeyShares(_) => VariantKind::KeyShares,
            Self::HelloRetry => VariantKind::HelloRetry,
            Self::EarlyData => VariantKind::EarlyData,
            Self::OwnTickets => VariantKind::OwnTickets,
            Self::ReleasedBuffers => VariantKind::ReleasedBuffers,
            Self::Sessions(_) => VariantKind::Sessions,
            Self::Cold => VariantKind::Cold,
            Self::Nagle => VariantKind::Nagle,
            Self::Server(_) => VariantKind::Server,
            Self::Chain(_) => VariantKind::Chain,
            Self::Compressed => VariantKind::Compressed,
            Self::Primitive(_) => VariantKind::Primitive,
            Self::SetUp(_) => VariantKind::SetUp,
            Self::Foreign(_) => return None,
        })
    }

    /// What the name of a scenario says of it.
    pub(super) fn readable(&self) -> String {
        match self {
            Self::Chain(chain) => chain.readable().into(),
            Self::Compressed => "certificates compressed with zlib".into(),
            Self::EarlyData => "early data".into(),
            Self::OwnTickets => "default renewal".into(),
            Self::ReleasedBuffers => "buffers released".into(),
            other => other.to_string(),
        }
    }

    /// Checks that an operation has variants of this kind: only those of `kinds`.
    pub fn check(&self, operation: Operation, kinds: &[VariantKind]) -> Result<()> {
        let is_known = self.kind().is_some_and(|kind| kinds.contains(&kind));
        let mut expected: Vec<_> = kinds.iter().map(|kind| kind.expected()).collect();
        if expected.is_empty() {
            expected.push("none".into());
        }
        ensure!(
            is_known,
            "variant \"{self}\", expected {} for a {operation}",
            expected.join(" or ")
        );
        Ok(())
    }
}

impl FromStr for Variant {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text).with_context(|| format!("variant \"{text}\""))
    }
}

impl TryFrom<String> for Variant {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|error: Error| format!("{error:#}"))
    }
}

impl From<Variant> for String {
    fn from(variant: Variant) -> Self {
        variant.to_string()
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyShares(groups) => {
                let names: Vec<_> = groups.iter().map(|group| group.as_str()).collect();
                f.write_str(&names.join("+"))
            }
            Self::HelloRetry => f.write_str("hello-retry"),
            Self::EarlyData => f.write_str("early-data"),
            Self::OwnTickets => f.write_str("own-tickets"),
            Self::ReleasedBuffers => f.write_str("released-buffers"),
            Self::Cold => f.write_str("cold"),
            Self::Nagle => f.write_str("nagle"),
            Self::Server(server) => server.fmt(f),
            Self::Chain(chain) => f.write_str(chain.as_str()),
            Self::Compressed => f.write_str(COMPRESSED),
            Self::Sessions(sessions) => write!(f, "sessions-{sessions}"),
            Self::Primitive(primitive) => primitive.fmt(f),
            Self::SetUp(set_up) => set_up.fmt(f),
            Self::Foreign(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Examples {
        valid: Vec<Example>,
        invalid: Vec<String>,
    }

    #[derive(Deserialize)]
    struct Example {
        text: String,
        kind: String,
    }

    fn examples() -> Examples {
        serde_json::from_str(include_str!("../../../../data/schema/variants.json")).unwrap()
    }

    #[test]
    fn valid_examples_are_of_their_kind_and_written_as_they_were() {
        for Example { text, kind } in examples().valid {
            let variant: Variant = text.parse().unwrap();
            let found = variant.kind().map_or("foreign", VariantKind::as_str);
            assert_eq!(found, kind, "{text}");
            assert_eq!(variant.to_string(), text);
            let json = serde_json::to_string(&variant).unwrap();
            assert_eq!(serde_json::from_str::<Variant>(&json).unwrap(), variant);
        }
    }

    #[test]
    fn invalid_examples_are_refused_with_their_text() {
        for text in examples().invalid {
            let error = text.parse::<Variant>().unwrap_err().to_string();
            assert_eq!(error, format!("variant \"{text}\""));
            assert!(serde_json::from_value::<Variant>(text.into()).is_err());
        }
    }

    #[test]
    fn a_variant_of_another_operation_is_refused_with_what_is_accepted() {
        let check = |text: &str, kinds: &[VariantKind]| {
            let variant: Variant = text.parse().unwrap();
            variant.check(Operation::Handshake, kinds)
        };
        let kinds = [VariantKind::HelloRetry, VariantKind::Sessions];
        check("hello-retry", &kinds).unwrap();
        for text in ["helo-retry", "X25519"] {
            let error = check(text, &kinds).unwrap_err().to_string();
            let expected = "expected hello-retry or sessions-NUMBER for a handshake";
            assert_eq!(error, format!("variant \"{text}\", {expected}"));
        }
        let error = check("chain-2", &[VariantKind::Chain])
            .unwrap_err()
            .to_string();
        let expected = "expected chain-1, chain-3, issuer-ecdsa-p256 for a handshake";
        assert_eq!(error, format!("variant \"chain-2\", {expected}"));
        let error = check("hello-retry", &[]).unwrap_err().to_string();
        assert!(error.ends_with("expected none for a handshake"), "{error}");
    }
}
