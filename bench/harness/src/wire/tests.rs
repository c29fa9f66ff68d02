//! What is read from records made by hand.

use super::*;

fn with_length(bytes: usize, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    [&length[length.len() - bytes..], content].concat()
}

pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &with_length(3, body)].concat()
}

pub fn record(content: u8, fragment: &[u8]) -> Vec<u8> {
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

/// The extensions of a HelloRetryRequest that asks for X25519.
fn retry() -> Vec<u8> {
    [&TLS13_VERSION[..], &[0, 51, 0, 2, 0, 0x1d]].concat()
}

#[test]
fn a_handshake_shows_its_parameters() {
    let seen = |protocol, key_exchange, resumed, hello_retry, tickets| WireHandshake {
        protocol,
        cipher_suite: match protocol {
            Protocol::Tls12 => CipherSuite::EcdheRsaAes256Gcm,
            Protocol::Tls13 => CipherSuite::Aes256Gcm,
        },
        key_exchange,
        resumed,
        hello_retry,
        tickets,
    };
    let full_12 = [
        hello([1; 32], 0xc030, &[]),
        message(CERTIFICATE, &[0; 10]),
        message(SERVER_KEY_EXCHANGE, &[3, 0, 0x1d, 0]),
    ]
    .concat();
    let ticket_12 = [
        hello([1; 32], 0xc030, &[]),
        message(NEW_SESSION_TICKET, &[0; 10]),
    ]
    .concat();
    let psk = [&TLS13_VERSION[..], &X25519_SHARE, &[0, 41, 0, 2, 0, 0]].concat();
    let p256 = [&TLS13_VERSION[..], &[0, 51, 0, 5, 0, 0x17, 0, 1, 9]].concat();
    let changed = record(CHANGE_CIPHER_SPEC, &[1]);
    let retried = record(HANDSHAKE, &hello(HELLO_RETRY_RANDOM, 0x1302, &retry()));
    for (sent, expected) in [
        (
            // Messages may be split over records.
            vec![
                record(HANDSHAKE, &full_12[..50]),
                record(HANDSHAKE, &full_12[50..]),
            ],
            seen(Protocol::Tls12, Some(KeyExchange::X25519), false, false, 0),
        ),
        (
            vec![
                record(HANDSHAKE, &ticket_12),
                changed.clone(),
                record(HANDSHAKE, &[0xaa; 40]), // encrypted
            ],
            seen(Protocol::Tls12, None, true, false, 1),
        ),
        (
            vec![
                retried.clone(),
                changed,
                record(HANDSHAKE, &hello([1; 32], 0x1302, &psk)),
                record(APPLICATION_DATA, &[0xaa; 40]),
            ],
            seen(Protocol::Tls13, Some(KeyExchange::X25519), true, true, 0),
        ),
        (
            // Without ChangeCipherSpec between the two hellos.
            vec![
                retried,
                record(HANDSHAKE, &hello([1; 32], 0x1302, &p256)),
                record(APPLICATION_DATA, &[0xaa; 40]),
            ],
            seen(
                Protocol::Tls13,
                Some(KeyExchange::Secp256r1),
                false,
                true,
                0,
            ),
        ),
    ] {
        assert_eq!(parse(&sent.concat()).unwrap(), expected);
    }
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

/// The body of a ClientHello.
pub fn client_hello(extensions: &[u8]) -> Vec<u8> {
    [
        &[3, 3][..],
        &[1; 32],
        &[0],
        &with_length(2, &[0x13, 0x02]),
        &[1, 0],
        &with_length(2, extensions),
    ]
    .concat()
}

#[test]
fn a_client_hello_shows_its_signature_schemes() {
    let schemes = with_length(2, &[9, 4, 8, 4]);
    let extensions = [&[0, 43, 0, 0, 0, 13][..], &with_length(2, &schemes)].concat();
    let hello = message(CLIENT_HELLO, &client_hello(&extensions));
    let encrypted = record(APPLICATION_DATA, &[7; 30]);
    let sent = [record(HANDSHAKE, &hello), encrypted.clone()].concat();
    assert_eq!(signature_schemes(&sent).unwrap(), [0x0904, 0x0804]);
    // Two records, the first of which has a part of the length.
    let split = [
        record(HANDSHAKE, &hello[..2]),
        record(HANDSHAKE, &hello[2..]),
        encrypted.clone(),
    ]
    .concat();
    assert_eq!(signature_schemes(&split).unwrap(), [0x0904, 0x0804]);
    let none = message(CLIENT_HELLO, &client_hello(&[0, 43, 0, 0]));
    assert_eq!(
        signature_schemes(&record(HANDSHAKE, &none)).unwrap(),
        Vec::<u16>::new()
    );

    let fault = |sent: &[u8]| signature_schemes(sent).unwrap_err().to_string();
    let half = record(HANDSHAKE, &hello[..40]);
    assert_eq!(fault(&half), "the client sent no whole ClientHello");
    let half = [half, encrypted].concat();
    assert_eq!(fault(&half), "the first message is encrypted");
    let server = record(
        HANDSHAKE,
        &message(SERVER_HELLO, &client_hello(&extensions)),
    );
    assert_eq!(fault(&server), "the first message is of type 2");
}

#[test]
fn a_client_hello_shows_how_certificates_may_be_compressed() {
    let found = |extensions: &[u8]| {
        let hello = message(CLIENT_HELLO, &client_hello(extensions));
        certificate_compressions(&record(HANDSHAKE, &hello))
    };
    let both = [0, 43, 0, 0, 0, 27, 0, 5, 4, 0, 2, 0, 1];
    assert_eq!(found(&both).unwrap(), [2, ZLIB]);
    assert_eq!(found(&[0, 43, 0, 0]).unwrap(), Vec::<u16>::new());
    assert!(found(&[0, 27, 0, 2, 2, 0]).is_err());
}

#[test]
fn a_client_hello_shows_its_key_shares() {
    let shares = with_length(2, &[0x11, 0xec, 0, 1, 7, 0, 0x1d, 0, 1, 8]);
    let extensions = [&[0, 43, 0, 0, 0, 51][..], &with_length(2, &shares)].concat();
    let body = client_hello(&extensions);
    let sent = record(HANDSHAKE, &message(CLIENT_HELLO, &body));
    assert_eq!(
        key_shares(&sent).unwrap(),
        [KeyExchange::X25519MlKem768, KeyExchange::X25519]
    );
    assert_eq!(
        first_key_shares(&[&sent[..], &sent].concat()).unwrap(),
        key_shares(&sent).unwrap()
    );
    assert!(key_shares(&sent[..sent.len() - 1]).is_err());
    assert!(key_shares(&record(HANDSHAKE, &message(SERVER_HELLO, &body))).is_err());
}

/// A ClientHello with one key share for X25519.
fn hello_with_share(share: &[u8]) -> Vec<u8> {
    let shares = with_length(2, &[&[0, 0x1d][..], &with_length(2, share)].concat());
    let extensions = [&[0, 51][..], &with_length(2, &shares)].concat();
    message(CLIENT_HELLO, &client_hello(&extensions))
}

#[test]
fn flights_of_tls13_have_key_shares_and_their_unencrypted_messages() {
    let share = [&TLS13_VERSION[..], &X25519_SHARE].concat();
    let server = [
        record(HANDSHAKE, &hello([1; 32], 0x1302, &share)),
        record(CHANGE_CIPHER_SPEC, &[1]),
        record(APPLICATION_DATA, &[0xaa; 40]),
        record(APPLICATION_DATA, &[0xaa; 60]),
    ]
    .concat();
    let flight = |bytes, records, messages, key_shares| Flight {
        bytes,
        records,
        messages,
        key_shares,
    };
    let expected = [flight(server.len(), 4, 1, 1)];
    assert_eq!(flights(Protocol::Tls13, &[&server]).unwrap(), expected);

    // After a retry, a client repeats its hello behind a record without meaning.
    let first = record(HANDSHAKE, &hello_with_share(&[0; 32]));
    let second = [
        record(CHANGE_CIPHER_SPEC, &[1]),
        record(HANDSHAKE, &hello_with_share(&[0; 65])),
    ]
    .concat();
    let expected = [
        flight(first.len(), 1, 1, 32),
        flight(second.len(), 2, 1, 65),
    ];
    let found = flights(Protocol::Tls13, &[&first, &second]).unwrap();
    assert_eq!(found, expected);
    let retry = record(HANDSHAKE, &hello(HELLO_RETRY_RANDOM, 0x1302, &retry()));
    let found = flights(Protocol::Tls13, &[&retry]).unwrap();
    assert_eq!(found, [flight(retry.len(), 1, 1, 0)]);
}

#[test]
fn flights_of_tls12_are_encrypted_after_change_cipher_spec() {
    let first = record(HANDSHAKE, &hello_with_share(&[0; 32]));
    let second = [
        record(HANDSHAKE, &message(16, &[0; 33])),
        record(CHANGE_CIPHER_SPEC, &[1]),
        record(HANDSHAKE, &[0xaa; 40]),
    ]
    .concat();
    let third = record(HANDSHAKE, &[0xaa; 40]);
    let found = flights(Protocol::Tls12, &[&first, &second, &third]).unwrap();
    let counts: Vec<_> = found.iter().map(|it| (it.records, it.messages)).collect();
    assert_eq!(counts, [(1, 1), (3, 1), (1, 0)]);
    assert!(flights(Protocol::Tls12, &[&first[..20]]).is_err());
}

#[test]
fn an_error_names_unknown_parameters_of_a_handshake() {
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
fn bytes_that_are_not_tls_are_rejected() {
    for sent in [&b""[..], b"GET / HTTP/1.1", &record(HANDSHAKE, &[9; 3])] {
        assert!(parse(sent).is_err());
    }
}

#[test]
fn a_handshake_of_tls_12_shows_the_scheme_of_each_signature() {
    let key_exchange = message(SERVER_KEY_EXCHANGE, &[3, 0, 0x1d, 1, 9, 8, 4, 0, 1, 7]);
    let server = record(
        HANDSHAKE,
        &[hello([1; 32], 0xc030, &[]), key_exchange].concat(),
    );
    let client = record(HANDSHAKE, &message(CERTIFICATE_VERIFY, &[4, 1, 0, 1, 7]));
    let encrypted = [
        record(CHANGE_CIPHER_SPEC, &[1]),
        record(HANDSHAKE, &[0xaa; 40]),
    ]
    .concat();
    for (sent, expected) in [
        (server, Some(0x0804)),
        (client, Some(0x0401)),
        (vec![], None),
    ] {
        let sent = [&sent[..], &encrypted].concat();
        assert_eq!(signature_scheme(&sent).unwrap(), expected);
    }
}
