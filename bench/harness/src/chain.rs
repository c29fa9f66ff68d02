//! Whether a peer sent its whole chain of certificates, and nothing else.
//!
//! In TLS 1.2 the wire shows each certificate. TLS 1.3 encrypts them, but the number of encrypted
//! bytes shows whether one is missing, and whether they are compressed.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};

use crate::{
    certificates::Identity,
    scenario::{Certificate, Protocol},
    wire,
};

/// The bytes that a TLS 1.3 peer encrypts in a handshake besides certificates and a signature:
/// headers, extensions and Finished. Every certificate is larger than the width of this range.
const REST: RangeInclusive<usize> = 32..=320;

/// At most so many bytes fewer are encrypted if zlib compresses the certificates: it saves about 200
/// of each usual chain, and every certificate is larger.
const SAVED: usize = 256;

/// Bytes beside each certificate in a Certificate message of TLS 1.3: its length, and the length of
/// its extensions, of which there are none.
const ENTRY: usize = 5;

/// The chain that a peer must send.
#[derive(Clone, Debug)]
pub struct SentChain {
    /// Bytes of each certificate, from the leaf on.
    certificates: Vec<usize>,
    /// Bytes of the longest signature by the leaf's key.
    signature: usize,
    /// Whether they are compressed with zlib.
    is_compressed: bool,
}

impl SentChain {
    pub fn new(identity: &Identity, certificate: Certificate) -> Self {
        Self {
            certificates: sizes(identity.chain),
            signature: longest_signature(certificate),
            is_compressed: false,
        }
    }

    /// The same chain, compressed with zlib if `is_compressed`.
    pub fn compressed(self, is_compressed: bool) -> Self {
        Self {
            is_compressed,
            ..self
        }
    }

    /// How many bytes a TLS 1.3 peer encrypts in a handshake with this chain.
    pub fn encrypted(&self) -> RangeInclusive<usize> {
        let entries: usize = self.certificates.iter().map(|it| it + ENTRY).sum();
        let bytes = entries + self.signature;
        let least = bytes + REST.start();
        match self.is_compressed {
            true => least - SAVED..=least - 1,
            false => least..=bytes + REST.end(),
        }
    }

    /// Checks everything that the peer sent in a full handshake without tickets.
    pub fn check(&self, protocol: Protocol, sent: &[u8]) -> Result<()> {
        let expected = &self.certificates;
        let number = expected.len();
        match protocol {
            Protocol::Tls12 => {
                let found = wire::certificates(sent)?;
                ensure!(
                    found == *expected,
                    "certificates: found {} of {found:?} bytes, expected {number} of {expected:?}",
                    found.len()
                );
            }
            Protocol::Tls13 => {
                let (found, range) = (wire::encrypted_bytes(sent)?, self.encrypted());
                ensure!(
                    range.contains(&found),
                    "certificates: found {found} encrypted bytes, expected {} to {} with {number} \
                     of {expected:?} bytes{}",
                    range.start(),
                    range.end(),
                    match self.is_compressed {
                        true => ", compressed with zlib",
                        false => "",
                    }
                );
            }
        }
        Ok(())
    }
}

/// The bytes of each certificate of a PEM text, without decoding it: Base64 has four characters for
/// three bytes.
fn sizes(pem: &str) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut characters = 0;
    for line in pem.lines() {
        if line.starts_with("-----END") {
            sizes.push(characters * 3 / 4);
            characters = 0;
        } else if !line.starts_with("-----") {
            characters += line.trim_end_matches('=').len();
        }
    }
    sizes
}

/// Signatures of ECDSA may be a few bytes shorter.
fn longest_signature(certificate: Certificate) -> usize {
    match certificate {
        Certificate::Rsa2048 => 256,
        Certificate::Rsa4096 => 512,
        Certificate::EcdsaP256 => 72,
        Certificate::EcdsaP384 => 104,
        Certificate::Ed25519 => 64,
        // FIPS 204, table 2.
        Certificate::MlDsa44 => 2_420,
        Certificate::MlDsa65 => 3_309,
        Certificate::MlDsa87 => 4_627,
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};

    use super::*;
    use crate::{
        certificates::{self, Authority, authority, in_chain},
        scenario::Chain,
        wire::tests::{message, record},
    };

    /// Every chain of the project, with the type of its leaf and the number of its certificates.
    fn all() -> Vec<(Certificate, usize, Authority)> {
        let usual = Certificate::ALL.iter().map(|it| (*it, 2, authority(*it)));
        let mut all: Vec<_> = usual.collect();
        for &chain in Chain::ALL {
            for &certificate in chain.certificates() {
                let number = chain.issuers(certificate).len();
                all.push((certificate, number, in_chain(chain, certificate).unwrap()));
            }
        }
        all
    }

    /// The bytes of each certificate of a PEM text.
    fn decoded(pem: &str) -> Vec<usize> {
        let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
        let size = |it: &str| {
            let (body, _) = it.split_once("-----END").unwrap();
            let text: String = body.split_whitespace().collect();
            STANDARD.decode(text).unwrap().len()
        };
        blocks.map(size).collect()
    }

    /// What a TLS 1.3 peer sends, with so many encrypted bytes in records of at most 16 KiB.
    fn encrypted(bytes: usize) -> Vec<u8> {
        let mut sent = record(22, &message(2, &[]));
        let mut left = bytes;
        while left > 0 {
            let part = left.min(1 << 14);
            sent.extend(record(23, &vec![0xaa; part + 17]));
            left -= part;
        }
        sent
    }

    /// The message of a check of TLS 1.3; empty if it succeeds.
    fn fault(chain: &SentChain, bytes: usize) -> String {
        let checked = chain.check(Protocol::Tls13, &encrypted(bytes));
        checked.err().map_or(String::new(), |it| it.to_string())
    }

    #[test]
    fn each_chain_has_its_number_of_certificates_and_each_is_larger_than_the_rest_varies() {
        for (certificate, number, authority) in all() {
            for identity in [authority.server, authority.client] {
                let chain = sizes(identity.chain);
                assert_eq!(chain.len(), number, "{certificate}");
                assert_eq!(chain, decoded(identity.chain), "{certificate}");
                let with_root = [chain, sizes(authority.root)].concat();
                let width = REST.end() - REST.start();
                assert!(with_root.iter().all(|it| *it > width), "{certificate}");
            }
        }
    }

    #[test]
    fn no_two_types_of_keys_or_chains_have_the_same_certificates() {
        let all = all();
        let of_server = |it: &(_, _, Authority)| it.2.server.chain;
        let different: std::collections::HashSet<_> = all.iter().map(of_server).collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn a_signature_has_at_most_the_bytes_of_the_longest() {
        for &certificate in Certificate::ALL {
            let longest = longest_signature(certificate);
            match certificates::signature(certificate) {
                Some(known) => {
                    let range = known.len()..=known.len() + 4;
                    assert!(range.contains(&longest), "{certificate}");
                }
                // As long as the modulus.
                None => assert_eq!((certificate, longest), (Certificate::Rsa4096, 512)),
            }
        }
    }

    #[test]
    fn a_missing_or_another_certificate_is_noticed_in_tls13() {
        for (certificate, number, authority) in all() {
            let chain = SentChain::new(&authority.server, certificate);
            let range = chain.encrypted();
            for end in [*range.start(), *range.end()] {
                assert_eq!(fault(&chain, end), "");
                for size in &chain.certificates {
                    for bytes in [end - size - ENTRY, end + size + ENTRY] {
                        let expected = format!(
                            "certificates: found {bytes} encrypted bytes, expected {} to {} with \
                             {number} of",
                            range.start(),
                            range.end()
                        );
                        assert!(fault(&chain, bytes).starts_with(&expected), "{expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn certificates_that_are_not_compressed_or_missing_are_noticed() {
        for (certificate, _, authority) in all().into_iter().filter(|it| it.1 == 2) {
            let plain = SentChain::new(&authority.server, certificate);
            let compressed = plain.clone().compressed(true);
            // What zlib saves of these chains, at least 170 bytes, and what the rest has.
            let (least, rest) = (*plain.encrypted().start(), 64);
            let smallest = plain.certificates.iter().min().unwrap() + ENTRY;
            for (bytes, of_plain, of_compressed) in [
                (least + rest - 170, true, false),
                (least + rest - 220, true, false),
                (least, false, true),
                (least + rest, false, true),
                (least + rest - smallest, true, true),
            ] {
                let found = [&plain, &compressed].map(|it| !fault(it, bytes).is_empty());
                assert_eq!(found, [of_plain, of_compressed], "{certificate}, {bytes}");
            }
            let message = fault(&compressed, least);
            assert!(
                message.ends_with(" bytes, compressed with zlib"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_missing_certificate_is_noticed_in_tls12() {
        let chain = SentChain {
            certificates: vec![4, 3],
            signature: 72,
            is_compressed: false,
        };
        let sent = |list: &[u8]| {
            let length = u8::try_from(list.len()).unwrap();
            let message = message(11, &[&[0, 0, length], list].concat());
            // The message is split over two records, and what follows is encrypted.
            [
                record(22, &message[..5]),
                record(22, &message[5..]),
                record(20, &[1]),
                record(22, &[0xaa; 40]),
            ]
            .concat()
        };
        let both = sent(&[0, 0, 4, 1, 2, 3, 4, 0, 0, 3, 5, 6, 7]);
        chain.check(Protocol::Tls12, &both).unwrap();
        for (sent, found) in [
            (sent(&[0, 0, 4, 1, 2, 3, 4]), "1 of [4]"),
            (record(20, &[1]), "0 of []"),
        ] {
            let error = chain.check(Protocol::Tls12, &sent).unwrap_err().to_string();
            let expected = format!("certificates: found {found} bytes, expected 2 of [4, 3]");
            assert_eq!(error, expected);
        }
    }
}
