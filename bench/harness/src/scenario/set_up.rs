//! The variants of the kind `set-up`: what is set up.

use std::fmt;

use anyhow::{Result, bail};

use super::words::{Side, number};

/// The largest number of project-made trust anchors.
pub const MOST_ANCHORS: u32 = 1_000;

/// The largest number of names that a server has certificates for.
pub const MOST_NAMES: u32 = 10_000;

/// Trust anchors, including the root of the peer's chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Anchors {
    /// Mozilla's trust anchors, and the root.
    Mozilla,
    /// This number of project-made anchors, ECDSA P-256.
    Own(u32),
}

/// What is set up and used for one handshake. Its text is the variant of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetUp {
    /// `anchors-1000`: trust anchors alone.
    Anchors(Anchors),
    /// `client-mozilla`: a client's context with trust anchors, for one connection.
    Client(Anchors),
    /// `shared-mozilla`: a connection that uses an existing client context.
    Shared(Anchors),
    /// `server`: a server's context, from a PEM chain and key.
    Server,
    /// `private-key`: a PEM private key alone.
    PrivateKey,
    /// `names-100`: a server that selects one of this number of certificates by name (SNI).
    Names(u32),
    /// `reload-100`: the same, while the context that it replaces exists.
    Reload(u32),
    /// `process-client-mozilla`: a process, until its first handshake is complete.
    ProcessClient(Anchors),
    /// `process-server`: the same for a server.
    ProcessServer,
    /// `client-slope`: the fixed cost, and the cost that each item adds.
    Slope(Slope),
}

/// The items whose number a slope varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slope {
    /// Trust anchors alone, 1 and 1,000.
    Anchors,
    /// Trust anchors of a client's context, 1 and 1,000.
    Client,
    /// Names of a server, 1 and 100.
    Names,
}

impl Slope {
    /// The set-ups with few and with many items, and the larger number.
    pub fn ends(self) -> (SetUp, SetUp, u32) {
        let (few, many) = (Anchors::Own(1), Anchors::Own(MOST_ANCHORS));
        match self {
            Self::Anchors => (SetUp::Anchors(few), SetUp::Anchors(many), MOST_ANCHORS),
            Self::Client => (SetUp::Client(few), SetUp::Client(many), MOST_ANCHORS),
            Self::Names => (SetUp::Names(1), SetUp::Names(100), 100),
        }
    }
}

impl Anchors {
    fn parse(text: &str) -> Result<Self> {
        match (text, number(text)) {
            ("mozilla", _) => Ok(Self::Mozilla),
            (_, Some(own)) if own <= MOST_ANCHORS => Ok(Self::Own(own)),
            _ => bail!("expected mozilla or a number from 1 to {MOST_ANCHORS}"),
        }
    }
}

fn names(text: &str) -> Result<u32> {
    match number(text) {
        Some(number) if number <= MOST_NAMES => Ok(number),
        _ => bail!("expected a number from 1 to {MOST_NAMES}"),
    }
}

impl SetUp {
    /// Parses the text of a variant; `None` if it is not a set-up.
    pub(super) fn parse(text: &str) -> Result<Option<Self>> {
        let exact = match text {
            "server" => Some(Self::Server),
            "private-key" => Some(Self::PrivateKey),
            "process-server" => Some(Self::ProcessServer),
            "anchors-slope" => Some(Self::Slope(Slope::Anchors)),
            "client-slope" => Some(Self::Slope(Slope::Client)),
            "names-slope" => Some(Self::Slope(Slope::Names)),
            _ => None,
        };
        if exact.is_some() {
            return Ok(exact);
        }
        let Some((what, how_many)) = text.rsplit_once('-') else {
            return Ok(None);
        };
        // Other texts are variants of other tools.
        if how_many != "mozilla" && !how_many.bytes().all(|it| it.is_ascii_digit()) {
            return Ok(None);
        }
        Ok(Some(match what {
            "anchors" => Self::Anchors(Anchors::parse(how_many)?),
            "client" => Self::Client(Anchors::parse(how_many)?),
            "shared" => Self::Shared(Anchors::parse(how_many)?),
            "process-client" => Self::ProcessClient(Anchors::parse(how_many)?),
            "names" => Self::Names(names(how_many)?),
            "reload" => Self::Reload(names(how_many)?),
            _ => return Ok(None),
        }))
    }

    /// The texts of all set-ups, for messages.
    pub(super) fn names() -> String {
        "anchors-, client-, shared- or process-client- with mozilla or NUMBER, names-NUMBER, \
         reload-NUMBER, anchors-slope, client-slope, names-slope, server, private-key or \
         process-server"
            .into()
    }

    /// The side whose calls are timed. Either side could load anchors or a key alone.
    pub fn side(self) -> Side {
        match self {
            Self::Anchors(_) | Self::Client(_) | Self::Shared(_) | Self::ProcessClient(_) => {
                Side::Client
            }
            Self::Slope(Slope::Anchors | Slope::Client) => Side::Client,
            _ => Side::Server,
        }
    }

    /// The client's trust anchors; `None` if it trusts its peer's root alone.
    pub fn anchors(self) -> Option<Anchors> {
        match self {
            Self::Anchors(anchors)
            | Self::Client(anchors)
            | Self::Shared(anchors)
            | Self::ProcessClient(anchors) => Some(anchors),
            _ => None,
        }
    }

    /// Number of certificates from which the server selects by name.
    pub fn named(self) -> Option<u32> {
        match self {
            Self::Names(number) | Self::Reload(number) => Some(number),
            _ => None,
        }
    }

    /// Whether its instructions can be counted: it must be a single set-up within one process.
    pub fn is_countable(self) -> bool {
        !matches!(
            self,
            Self::ProcessClient(_) | Self::ProcessServer | Self::Slope(_)
        )
    }
}

impl fmt::Display for Anchors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mozilla => f.write_str("mozilla"),
            Self::Own(number) => number.fmt(f),
        }
    }
}

impl fmt::Display for SetUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anchors(anchors) => write!(f, "anchors-{anchors}"),
            Self::Client(anchors) => write!(f, "client-{anchors}"),
            Self::Shared(anchors) => write!(f, "shared-{anchors}"),
            Self::Server => f.write_str("server"),
            Self::PrivateKey => f.write_str("private-key"),
            Self::Names(number) => write!(f, "names-{number}"),
            Self::Reload(number) => write!(f, "reload-{number}"),
            Self::ProcessClient(anchors) => write!(f, "process-client-{anchors}"),
            Self::ProcessServer => f.write_str("process-server"),
            Self::Slope(Slope::Anchors) => f.write_str("anchors-slope"),
            Self::Slope(Slope::Client) => f.write_str("client-slope"),
            Self::Slope(Slope::Names) => f.write_str("names-slope"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> SetUp {
        SetUp::parse(text).unwrap().unwrap()
    }

    #[test]
    fn a_set_up_has_a_text_a_side_anchors_or_names_and_may_be_counted() {
        let (client, server) = (Side::Client, Side::Server);
        let (five, mozilla) = (Some(Anchors::Own(5)), Some(Anchors::Mozilla));
        for (text, side, anchors, named, is_countable) in [
            ("anchors-5", client, five, None, true),
            ("client-5", client, five, None, true),
            ("client-mozilla", client, mozilla, None, true),
            ("shared-5", client, five, None, true),
            ("server", server, None, None, true),
            ("private-key", server, None, None, true),
            ("names-10000", server, None, Some(10_000), true),
            ("reload-5", server, None, Some(5), true),
            ("process-client-5", client, five, None, false),
            ("process-client-mozilla", client, mozilla, None, false),
            ("process-server", server, None, None, false),
            ("anchors-slope", client, None, None, false),
            ("client-slope", client, None, None, false),
            ("names-slope", server, None, None, false),
        ] {
            let set_up = parsed(text);
            assert_eq!(set_up.to_string(), text);
            let found = (set_up.side(), set_up.anchors(), set_up.named());
            assert_eq!(found, (side, anchors, named), "{text}");
            assert_eq!(set_up.is_countable(), is_countable, "{text}");
        }
    }

    #[test]
    fn too_large_numbers_are_errors_and_other_words_are_not_parsed() {
        for text in [
            "anchors-1001",
            "names-10001",
            "names-0",
            "client-01",
            "reload-",
        ] {
            assert!(SetUp::parse(text).is_err(), "{text}");
        }
        for text in ["anchors", "anchors-all", "sessions-5", "server-2", "cold"] {
            assert_eq!(SetUp::parse(text).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn a_slope_is_between_one_item_and_many() {
        for (text, few, many, number) in [
            ("anchors-slope", "anchors-1", "anchors-1000", 1_000),
            ("client-slope", "client-1", "client-1000", 1_000),
            ("names-slope", "names-1", "names-100", 100),
        ] {
            let SetUp::Slope(slope) = parsed(text) else {
                panic!("{text} is no slope");
            };
            assert_eq!(slope.ends(), (parsed(few), parsed(many), number));
        }
    }

    #[test]
    fn messages_name_every_set_up() {
        for name in [
            "process-client-",
            "reload-NUMBER",
            "names-slope",
            "private-key",
        ] {
            assert!(SetUp::names().contains(name), "{name}");
        }
    }
}
