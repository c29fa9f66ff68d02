//! What the unencrypted part of a handshake says about it: a second opinion, independent of what
//! a library reports about itself. Message formats: RFC 5246, RFC 5077, RFC 8422, RFC 8446.

use anyhow::{Context, Result, bail, ensure};

use crate::scenario::{CipherSuite, KeyExchange, Protocol};

const CHANGE_CIPHER_SPEC: u8 = 20;
const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;

const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const NEW_SESSION_TICKET: u8 = 4;
const CERTIFICATE: u8 = 11;
const SERVER_KEY_EXCHANGE: u8 = 12;

const PRE_SHARED_KEY: u16 = 41;
const SUPPORTED_VERSIONS: u16 = 43;
const KEY_SHARE: u16 = 51;

const NAMED_CURVE: u8 = 3;
const TLS12: u16 = 0x0303;
const TLS13: u16 = 0x0304;

/// The random of a HelloRetryRequest: SHA-256 of "HelloRetryRequest" (RFC 8446, 4.1.3).
const HELLO_RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// A part of a message, read from its front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .with_context(|| format!("message ends {length} bytes too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// An unsigned number of `bytes` bytes, big-endian.
    fn number(&mut self, bytes: usize) -> Result<usize> {
        Ok(self
            .take(bytes)?
            .iter()
            .fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A vector with its length before it, in `bytes` bytes.
    fn vector(&mut self, bytes: usize) -> Result<Reader<'a>> {
        let length = self.number(bytes)?;
        Ok(Reader(self.take(length)?))
    }
}

/// The content types and fragments of all records, in order.
fn records(bytes: &[u8]) -> Result<Vec<(u8, &[u8])>> {
    let mut reader = Reader(bytes);
    let mut records = Vec::new();
    while !reader.0.is_empty() {
        let content = reader.u8()?;
        reader.u16()?;
        records.push((content, reader.vector(2)?.0));
    }
    Ok(records)
}

/// The types and bodies of handshake messages that follow each other in `bytes`.
fn messages(bytes: &[u8]) -> Result<Vec<(u8, &[u8])>> {
    let mut reader = Reader(bytes);
    let mut messages = Vec::new();
    while !reader.0.is_empty() {
        messages.push((reader.u8()?, reader.vector(3)?.0));
    }
    Ok(messages)
}

/// How many records of application data (in TLS 1.3 anything encrypted) `bytes` holds.
///
/// # Errors
/// `bytes` are not TLS records.
pub fn application_records(bytes: &[u8]) -> Result<usize> {
    let is_data = |(content, _): &(u8, &[u8])| *content == APPLICATION_DATA;
    Ok(records(bytes)?
        .iter()
        .filter(|record| is_data(record))
        .count())
}

/// The groups for which a client's first flight, and nothing else, sends key shares, in its order.
///
/// # Errors
/// `client` are not the records of a ClientHello, or a group is not in the vocabulary.
pub fn key_shares(client: &[u8]) -> Result<Vec<KeyExchange>> {
    let records = records(client)?;
    let sent: Vec<u8> = records
        .into_iter()
        .flat_map(|(_, it)| it)
        .copied()
        .collect();
    let [(CLIENT_HELLO, body)] = messages(&sent)?[..] else {
        bail!("the client sent something else than one ClientHello");
    };
    let mut body = Reader(body);
    body.take(2 + 32)?;
    body.vector(1)?;
    body.vector(2)?;
    body.vector(1)?;
    let mut extensions = body.vector(2)?;
    let mut groups = Vec::new();
    while !extensions.0.is_empty() {
        let kind = extensions.u16()?;
        let mut content = extensions.vector(2)?;
        if kind != KEY_SHARE {
            continue;
        }
        let mut shares = content.vector(2)?;
        while !shares.0.is_empty() {
            groups.push(KeyExchange::from_number(shares.u16()?)?);
            shares.vector(2)?;
        }
    }
    Ok(groups)
}

/// A handshake as the wire shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireHandshake {
    pub protocol: Protocol,
    pub cipher_suite: CipherSuite,
    /// Absent in a TLS 1.2 resumption.
    pub key_exchange: Option<KeyExchange>,
    pub resumed: bool,
    /// Asked for another key share first.
    pub hello_retry: bool,
    /// TLS 1.2 only: in TLS 1.3 tickets are encrypted.
    pub tickets: u32,
}

struct ServerHello {
    random: [u8; 32],
    cipher_suite: CipherSuite,
    protocol: Protocol,
    group: Option<KeyExchange>,
    pre_shared_key: bool,
}

fn server_hello(body: &[u8]) -> Result<ServerHello> {
    let mut body = Reader(body);
    let mut version = body.u16()?;
    let random = body.take(32)?.try_into()?;
    body.vector(1)?;
    let cipher_suite = CipherSuite::from_number(body.u16()?)?;
    body.u8()?;
    let mut group = None;
    let mut pre_shared_key = false;
    if !body.0.is_empty() {
        let mut extensions = body.vector(2)?;
        while !extensions.0.is_empty() {
            let kind = extensions.u16()?;
            let mut content = extensions.vector(2)?;
            match kind {
                SUPPORTED_VERSIONS => version = content.u16()?,
                KEY_SHARE => group = Some(KeyExchange::from_number(content.u16()?)?),
                PRE_SHARED_KEY => pre_shared_key = true,
                _ => {}
            }
        }
    }
    Ok(ServerHello {
        random,
        cipher_suite,
        protocol: match version {
            TLS12 => Protocol::Tls12,
            TLS13 => Protocol::Tls13,
            other => bail!("version {other:#06x} is neither TLS 1.2 nor TLS 1.3"),
        },
        group,
        pre_shared_key,
    })
}

/// Reads everything that a server sent in a handshake.
///
/// # Errors
/// `server` are not the records of a TLS handshake, or of one outside the vocabulary.
pub fn parse(server: &[u8]) -> Result<WireHandshake> {
    let records = records(server)?;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut clear = &mut before;
    for (content, fragment) in records {
        match content {
            HANDSHAKE => clear.extend_from_slice(fragment),
            CHANGE_CIPHER_SPEC => clear = &mut after,
            // From here on, or earlier, everything is encrypted.
            _ => break,
        }
    }
    let clear = messages(&before)?;
    let (kind, body) = *clear.first().context("the server sent no message")?;
    ensure!(kind == SERVER_HELLO, "the first message is of type {kind}");
    let mut hello = server_hello(body)?;

    if hello.protocol == Protocol::Tls12 {
        let group = |body: &[u8]| -> Result<KeyExchange> {
            let mut body = Reader(body);
            ensure!(
                body.u8()? == NAMED_CURVE,
                "key exchange without a named group"
            );
            KeyExchange::from_number(body.u16()?)
        };
        let find = |wanted| clear.iter().find(|(kind, _)| *kind == wanted);
        return Ok(WireHandshake {
            protocol: hello.protocol,
            cipher_suite: hello.cipher_suite,
            key_exchange: find(SERVER_KEY_EXCHANGE)
                .map(|(_, body)| group(body))
                .transpose()?,
            resumed: find(CERTIFICATE).is_none(),
            hello_retry: false,
            tickets: u32::from(find(NEW_SESSION_TICKET).is_some()),
        });
    }

    let hello_retry = hello.random == HELLO_RETRY_RANDOM;
    if hello_retry {
        // A server that is not asked for compatibility sends no ChangeCipherSpec between the two.
        let after = messages(&after)?;
        let (_, body) = clear[1..]
            .iter()
            .chain(&after)
            .find(|(kind, _)| *kind == SERVER_HELLO)
            .context("no ServerHello follows the HelloRetryRequest")?;
        hello = server_hello(body)?;
    }
    Ok(WireHandshake {
        protocol: hello.protocol,
        cipher_suite: hello.cipher_suite,
        key_exchange: hello.group,
        resumed: hello.pre_shared_key,
        hello_retry,
        tickets: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_length(bytes: usize, content: &[u8]) -> Vec<u8> {
        let length = content.len().to_be_bytes();
        [&length[length.len() - bytes..], content].concat()
    }

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        [&[kind][..], &with_length(3, body)].concat()
    }

    fn record(content: u8, fragment: &[u8]) -> Vec<u8> {
        [&[content, 3, 3][..], &with_length(2, fragment)].concat()
    }

    fn hello(random: [u8; 32], suite: u16, extensions: &[u8]) -> Vec<u8> {
        let body = [
            &[3, 3][..],
            &random,
            &[0],
            &suite.to_be_bytes(),
            &[0],
            &with_length(2, extensions),
        ]
        .concat();
        message(SERVER_HELLO, &body)
    }

    const TLS13_VERSION: [u8; 6] = [0, 43, 0, 2, 3, 4];
    const X25519_SHARE: [u8; 9] = [0, 51, 0, 5, 0, 0x1d, 0, 1, 9];

    #[test]
    fn a_full_tls12_handshake_names_its_group() {
        let flight = [
            hello([1; 32], 0xc030, &[]),
            message(CERTIFICATE, &[0; 10]),
            message(SERVER_KEY_EXCHANGE, &[3, 0, 0x1d, 0]),
        ]
        .concat();
        // Messages may be split over records.
        let sent = [
            record(HANDSHAKE, &flight[..50]),
            record(HANDSHAKE, &flight[50..]),
        ]
        .concat();
        assert_eq!(
            parse(&sent).unwrap(),
            WireHandshake {
                protocol: Protocol::Tls12,
                cipher_suite: CipherSuite::EcdheRsaAes256Gcm,
                key_exchange: Some(KeyExchange::X25519),
                resumed: false,
                hello_retry: false,
                tickets: 0,
            }
        );
    }

    #[test]
    fn a_resumed_tls12_handshake_shows_its_ticket() {
        let flight = [
            hello([1; 32], 0xc030, &[]),
            message(NEW_SESSION_TICKET, &[0; 10]),
        ]
        .concat();
        let sent = [
            record(HANDSHAKE, &flight),
            record(CHANGE_CIPHER_SPEC, &[1]),
            record(HANDSHAKE, &[0xaa; 40]), // encrypted
        ]
        .concat();
        let seen = parse(&sent).unwrap();
        assert!(seen.resumed);
        assert_eq!((seen.tickets, seen.key_exchange), (1, None));
    }

    #[test]
    fn a_tls13_handshake_shows_group_retry_and_resumption() {
        let retry = [&TLS13_VERSION[..], &[0, 51, 0, 2, 0, 0x1d]].concat();
        let psk = [&TLS13_VERSION[..], &X25519_SHARE, &[0, 41, 0, 2, 0, 0]].concat();
        let sent = [
            record(HANDSHAKE, &hello(HELLO_RETRY_RANDOM, 0x1302, &retry)),
            record(CHANGE_CIPHER_SPEC, &[1]),
            record(HANDSHAKE, &hello([1; 32], 0x1302, &psk)),
            record(APPLICATION_DATA, &[0xaa; 40]),
        ]
        .concat();
        assert_eq!(
            parse(&sent).unwrap(),
            WireHandshake {
                protocol: Protocol::Tls13,
                cipher_suite: CipherSuite::Aes256Gcm,
                key_exchange: Some(KeyExchange::X25519),
                resumed: true,
                hello_retry: true,
                tickets: 0,
            }
        );
        assert_eq!(application_records(&sent).unwrap(), 1);
    }

    #[test]
    fn records_of_application_data_alone_are_counted() {
        let data = record(APPLICATION_DATA, &[0xaa; 40]);
        let other = record(HANDSHAKE, &[1, 0, 0, 0]);
        for (sent, count) in [
            (vec![], 0),
            (other.clone(), 0),
            ([&data[..], &other, &data, &data].concat(), 3),
        ] {
            assert_eq!(application_records(&sent).unwrap(), count);
        }
    }

    #[test]
    fn a_client_hello_shows_its_key_shares() {
        let shares = with_length(2, &[0x11, 0xec, 0, 1, 7, 0, 0x1d, 0, 1, 8]);
        let extensions = [&[0, 43, 0, 0, 0, 51][..], &with_length(2, &shares)].concat();
        let body = [
            &[3, 3][..],
            &[1; 32],
            &[0],
            &with_length(2, &[0x13, 0x02]),
            &[1, 0],
            &with_length(2, &extensions),
        ]
        .concat();
        let sent = record(HANDSHAKE, &message(CLIENT_HELLO, &body));
        assert_eq!(
            key_shares(&sent).unwrap(),
            [KeyExchange::X25519MlKem768, KeyExchange::X25519]
        );
        assert!(key_shares(&sent[..sent.len() - 1]).is_err());
        assert!(key_shares(&record(HANDSHAKE, &message(SERVER_HELLO, &body))).is_err());
    }

    #[test]
    fn a_retry_without_a_change_of_cipher_is_seen() {
        let retry = [&TLS13_VERSION[..], &[0, 51, 0, 2, 0, 0x1d]].concat();
        let answer = [&TLS13_VERSION[..], &[0, 51, 0, 5, 0, 0x17, 0, 1, 9]].concat();
        let sent = [
            record(HANDSHAKE, &hello(HELLO_RETRY_RANDOM, 0x1302, &retry)),
            record(HANDSHAKE, &hello([1; 32], 0x1302, &answer)),
            record(APPLICATION_DATA, &[0xaa; 40]),
        ]
        .concat();
        let seen = parse(&sent).unwrap();
        assert!(seen.hello_retry && !seen.resumed);
        assert_eq!(seen.key_exchange, Some(KeyExchange::Secp256r1));
    }

    #[test]
    fn what_is_outside_of_the_vocabulary_is_named() {
        let first = |flight: &[u8]| parse(&record(HANDSHAKE, flight)).unwrap_err().to_string();
        let old = [0, 43, 0, 2, 3, 2];
        let group = [&TLS13_VERSION[..], &[0, 51, 0, 2, 0, 0x1e]].concat();
        let explicit = [
            hello([1; 32], 0xc030, &[]),
            message(SERVER_KEY_EXCHANGE, &[1, 0, 0x1d, 0]),
        ]
        .concat();
        for (flight, expected) in [
            (hello([1; 32], 0x1304, &[]), "cipher suite 0x1304 is not"),
            (hello([1; 32], 0x1302, &old), "version 0x0302 is neither"),
            (hello([1; 32], 0x1302, &group), "group 0x001e is not"),
            (explicit, "key exchange without a named group"),
            (
                message(CERTIFICATE, &[0; 4]),
                "the first message is of type 11",
            ),
            (
                hello(HELLO_RETRY_RANDOM, 0x1302, &TLS13_VERSION),
                "no ServerHello follows",
            ),
        ] {
            let error = first(&flight);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_not_tls_is_an_error() {
        for sent in [&b""[..], b"GET / HTTP/1.1", &record(HANDSHAKE, &[9; 3])] {
            assert!(parse(sent).is_err());
        }
    }
}
