//! The facts in the unencrypted part of a handshake: a check that is independent of what
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
const CERTIFICATE_VERIFY: u8 = 15;

const SIGNATURE_ALGORITHMS: u16 = 13;
const COMPRESS_CERTIFICATE: u16 = 27;
const PRE_SHARED_KEY: u16 = 41;
const EARLY_DATA: u16 = 42;
const SUPPORTED_VERSIONS: u16 = 43;
const KEY_SHARE: u16 = 51;

/// The number of zlib among the algorithms that compress certificates (RFC 8879, 7.3).
pub const ZLIB: u16 = 1;

/// Schemes with which no server of TLS 1.3 can sign here: PKCS #1, which is for certificates alone, and
/// PSS of keys that are for PSS alone (RFC 8446, 4.2.3).
pub const NEVER_SIGNED: [u16; 6] = [0x0401, 0x0501, 0x0601, 0x0809, 0x080a, 0x080b];

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
pub fn application_records(bytes: &[u8]) -> Result<usize> {
    let is_data = |(content, _): &(u8, &[u8])| *content == APPLICATION_DATA;
    Ok(records(bytes)?
        .iter()
        .filter(|record| is_data(record))
        .count())
}

/// The bytes of each certificate that a side of TLS 1.2 presents, from the leaf on; none if it
/// presents none.
pub fn certificates(sent: &[u8]) -> Result<Vec<usize>> {
    let mut sizes = Vec::new();
    for (kind, body) in messages(&clear(sent)?)? {
        if kind == CERTIFICATE {
            let mut list = Reader(body).vector(3)?;
            while !list.0.is_empty() {
                sizes.push(list.vector(3)?.0.len());
            }
        }
    }
    Ok(sizes)
}

/// The number of the scheme in which a side of TLS 1.2 signed; `None` if it did not sign.
pub fn signature_scheme(sent: &[u8]) -> Result<Option<u16>> {
    for (kind, body) in messages(&clear(sent)?)? {
        let mut body = Reader(body);
        match kind {
            SERVER_KEY_EXCHANGE => {
                body.take(1 + 2)?; // the named curve
                body.vector(1)?;
            }
            CERTIFICATE_VERIFY => {}
            _ => continue,
        }
        return body.u16().map(Some);
    }
    Ok(None)
}

/// The handshake messages that a side of TLS 1.2 sent before it encrypted.
fn clear(sent: &[u8]) -> Result<Vec<u8>> {
    let records = records(sent)?.into_iter();
    let clear = records.take_while(|(content, _)| *content == HANDSHAKE);
    Ok(clear.flat_map(|(_, fragment)| fragment).copied().collect())
}

/// Bytes of a TLS 1.3 record beside its content: the type of the content, and the tag of an AEAD.
const TYPE_AND_TAG: usize = 1 + 16;

/// How many bytes a side of TLS 1.3 encrypted.
pub fn encrypted_bytes(sent: &[u8]) -> Result<usize> {
    let encrypted = records(sent)?.into_iter();
    let encrypted = encrypted.filter(|(content, _)| *content == APPLICATION_DATA);
    Ok(encrypted
        .map(|(_, fragment)| fragment.len().saturating_sub(TYPE_AND_TAG))
        .sum())
}

/// The extensions of a hello, from where its list of them begins; none if it has no list.
fn extensions(mut rest: Reader<'_>) -> Result<Vec<(u16, Reader<'_>)>> {
    let mut found = Vec::new();
    if !rest.0.is_empty() {
        let mut list = rest.vector(2)?;
        while !list.0.is_empty() {
            found.push((list.u16()?, list.vector(2)?));
        }
    }
    Ok(found)
}

/// The content of an extension of a ClientHello.
fn client_extension(hello: &[u8], wanted: u16) -> Result<Option<Reader<'_>>> {
    let mut body = Reader(hello);
    body.take(2 + 32)?;
    body.vector(1)?;
    body.vector(2)?;
    body.vector(1)?;
    let found = extensions(body)?.into_iter().find(|it| it.0 == wanted);
    Ok(found.map(|(_, content)| content))
}

/// The numbers of the groups of a ClientHello's key shares and the bytes of each, in its order.
fn client_shares(body: &[u8]) -> Result<Vec<(u16, usize)>> {
    let mut found = Vec::new();
    if let Some(mut content) = client_extension(body, KEY_SHARE)? {
        let mut shares = content.vector(2)?;
        while !shares.0.is_empty() {
            found.push((shares.u16()?, shares.vector(2)?.0.len()));
        }
    }
    Ok(found)
}

/// The groups for which a client's first flight, and nothing else, sends key shares, in its order.
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
    groups_of_shares(body)
}

/// The same of a client's first ClientHello, whatever follows it.
pub fn first_key_shares(client: &[u8]) -> Result<Vec<KeyExchange>> {
    groups_of_shares(&first_client_hello(client)?)
}

fn groups_of_shares(hello: &[u8]) -> Result<Vec<KeyExchange>> {
    client_shares(hello)?
        .into_iter()
        .map(|(group, _)| KeyExchange::from_number(group))
        .collect()
}

/// The body of a client's first ClientHello.
fn first_client_hello(client: &[u8]) -> Result<Vec<u8>> {
    let mut sent = Vec::new();
    for (content, fragment) in records(client)? {
        ensure!(content == HANDSHAKE, "the first message is encrypted");
        sent.extend_from_slice(fragment);
        let mut reader = Reader(&sent);
        let kind = reader.u8()?;
        ensure!(kind == CLIENT_HELLO, "the first message is of type {kind}");
        // Otherwise the next record has the rest.
        if let Ok(body) = reader.vector(3) {
            return Ok(body.0.to_vec());
        }
    }
    bail!("the client sent no whole ClientHello")
}

/// The numbers in a list of an extension, whose length has `bytes` bytes; empty without it.
fn offered(client: &[u8], extension: u16, bytes: usize) -> Result<Vec<u16>> {
    let mut numbers = Vec::new();
    if let Some(mut content) = client_extension(&first_client_hello(client)?, extension)? {
        let mut list = content.vector(bytes)?;
        while !list.0.is_empty() {
            numbers.push(list.u16()?);
        }
    }
    Ok(numbers)
}

/// The numbers of the signature schemes that a client offers in its first ClientHello, in its
/// order. A TLS 1.3 server can only sign with one of them (RFC 8446, 4.2.3).
pub fn signature_schemes(client: &[u8]) -> Result<Vec<u16>> {
    offered(client, SIGNATURE_ALGORITHMS, 2)
}

/// The numbers of the algorithms with which a client's first ClientHello accepts compressed
/// certificates, in its order. A server can only compress with one of them (RFC 8879, 4).
pub fn certificate_compressions(client: &[u8]) -> Result<Vec<u16>> {
    offered(client, COMPRESS_CERTIFICATE, 1)
}

/// Whether a client offers early data in its first ClientHello.
pub fn offers_early_data(client: &[u8]) -> Result<bool> {
    Ok(client_extension(&first_client_hello(client)?, EARLY_DATA)?.is_some())
}

/// One flight: the bytes of one side until the other answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    pub bytes: usize,
    pub records: usize,
    /// Handshake messages that are not encrypted. The wire does not show how many the others are.
    pub messages: usize,
    /// Bytes of the key shares of its hello: of all shares of a client. Of TLS 1.3 only.
    pub key_shares: usize,
}

/// Reads the flights of one side, from the first of a handshake.
pub fn flights<F: AsRef<[u8]>>(protocol: Protocol, sent: &[F]) -> Result<Vec<Flight>> {
    let mut changed = false;
    let one = |sent: &F| {
        let sent = sent.as_ref();
        let records = records(sent)?;
        let mut clear = Vec::new();
        for (content, fragment) in &records {
            match (*content, protocol) {
                // In TLS 1.3 this record has no meaning (RFC 8446, D.4).
                (CHANGE_CIPHER_SPEC, Protocol::Tls12) => changed = true,
                (HANDSHAKE, _) if !changed => clear.extend_from_slice(fragment),
                _ => {}
            }
        }
        let messages = messages(&clear)?;
        let mut key_shares = 0;
        for (kind, body) in &messages {
            key_shares += match *kind {
                CLIENT_HELLO => client_shares(body)?.iter().map(|(_, bytes)| bytes).sum(),
                SERVER_HELLO => server_hello(body)?.share,
                _ => 0,
            };
        }
        Ok(Flight {
            bytes: sent.len(),
            records: records.len(),
            messages: messages.len(),
            key_shares,
        })
    };
    sent.iter().map(one).collect()
}

/// Whether the first record of application data contains these bytes.
pub fn first_data_contains(sent: &[u8], bytes: &[u8]) -> Result<bool> {
    let mut records = records(sent)?.into_iter();
    let first = records.find(|(content, _)| *content == APPLICATION_DATA);
    Ok(first.is_some_and(|(_, it)| it.windows(bytes.len()).any(|it| it == bytes)))
}

/// How many records `bytes` holds.
pub fn all_records(bytes: &[u8]) -> Result<usize> {
    Ok(records(bytes)?.len())
}

/// A handshake as the wire shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireHandshake {
    pub protocol: Protocol,
    pub cipher_suite: CipherSuite,
    /// Absent in a TLS 1.2 resumption.
    pub key_exchange: Option<KeyExchange>,
    pub resumed: bool,
    /// Whether the server first requested another key share.
    pub hello_retry: bool,
    /// TLS 1.2 only: in TLS 1.3 tickets are encrypted.
    pub tickets: u32,
}

struct ServerHello {
    random: [u8; 32],
    cipher_suite: CipherSuite,
    protocol: Protocol,
    group: Option<KeyExchange>,
    /// Bytes of the key share; a HelloRetryRequest has none.
    share: usize,
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
    let mut share = 0;
    let mut pre_shared_key = false;
    for (kind, mut content) in extensions(body)? {
        match kind {
            SUPPORTED_VERSIONS => version = content.u16()?,
            KEY_SHARE => {
                group = Some(KeyExchange::from_number(content.u16()?)?);
                if !content.0.is_empty() {
                    share = content.vector(2)?.0.len();
                }
            }
            PRE_SHARED_KEY => pre_shared_key = true,
            _ => {}
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
        share,
        pre_shared_key,
    })
}

/// Reads everything that a server sent in a handshake.
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
pub(crate) mod tests;
