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

    fn record(content: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
        [&[content, 3, 3][..], &length, bytes].concat()
    }

    /// What a TLS 1.3 peer sends, with so many encrypted bytes in records of at most 16 KiB.
    fn encrypted(bytes: usize) -> Vec<u8> {
        let mut sent = record(22, &[2, 0, 0, 0]);
        let mut left = bytes;
        while left > 0 {
            let part = left.min(1 << 14);
            sent.extend(record(23, &vec![0xaa; part + 17]));
            left -= part;
        }
        sent
    }

    #[test]
    fn each_chain_has_its_number_of_certificates_and_each_is_larger_than_the_rest_varies() {
        for (certificate, number, authority) in all() {
            for identity in [authority.server, authority.client] {
                let chain = sizes(identity.chain);
                assert_eq!(chain.len(), number, "{certificate}");
                let with_root = [chain, sizes(authority.root)].concat();
                let width = REST.end() - REST.start();
                assert!(with_root.iter().all(|it| *it > width), "{certificate}");
            }
        }
    }

    #[test]
    fn sizes_of_certificates_are_those_of_their_der() {
        // Four, three and two bytes: with two, one and no characters of padding.
        let pem = |base64: &str| {
            format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n")
        };
        let text = pem("AQID\nBA==") + &pem("AQID") + &pem("AQI=");
        assert_eq!(sizes(&text), [4, 3, 2]);
    }

    #[test]
    fn a_peer_encrypts_its_certificates_its_signature_and_the_rest() {
        let chain = SentChain {
            certificates: vec![1000, 500],
            signature: 72,
            is_compressed: false,
        };
        let bytes = 1000 + 500 + 2 * ENTRY + 72;
        assert_eq!(chain.encrypted(), bytes + 32..=bytes + 320);
        // RSA: the bytes of the modulus; ECDSA: two integers in DER; Ed25519 and ML-DSA: fixed.
        let signatures = [256, 512, 72, 104, 64, 2_420, 3_309, 4_627];
        for (certificate, signature) in Certificate::ALL.iter().zip(signatures) {
            let identity = authority(*certificate).server;
            assert_eq!(SentChain::new(&identity, *certificate).signature, signature);
        }
        assert_eq!(Certificate::ALL.len(), signatures.len());
    }

    #[test]
    fn a_missing_or_another_certificate_is_noticed_in_tls13() {
        for (certificate, number, authority) in all() {
            let chain = SentChain::new(&authority.server, certificate);
            let check = |bytes| chain.check(Protocol::Tls13, &encrypted(bytes));
            let range = chain.encrypted();
            for end in [*range.start(), *range.end()] {
                check(end).unwrap();
                for size in &chain.certificates {
                    for bytes in [end - size - ENTRY, end + size + ENTRY] {
                        let error = check(bytes).unwrap_err().to_string();
                        let expected = format!(
                            "certificates: found {bytes} encrypted bytes, expected {} to {} with \
                             {number} of",
                            range.start(),
                            range.end()
                        );
                        assert!(error.starts_with(&expected), "{error}");
                    }
                }
            }
        }
    }

    #[test]
    fn certificates_that_are_not_compressed_or_missing_are_noticed() {
        for (certificate, number, authority) in all().into_iter().filter(|it| it.1 == 2) {
            let plain = SentChain::new(&authority.server, certificate);
            let compressed = plain.clone().compressed(true);
            let check = |chain: &SentChain, bytes| {
                let checked = chain.check(Protocol::Tls13, &encrypted(bytes));
                checked.map_err(|error| error.to_string())
            };
            // What zlib saves of these chains, at least 170 bytes, and what the rest has.
            let (least, rest) = (*plain.encrypted().start(), 64);
            for saved in [170, 220] {
                let bytes = least + rest - saved;
                check(&compressed, bytes).unwrap();
                let error = check(&plain, bytes).unwrap_err();
                let expected = format!("certificates: found {bytes} encrypted bytes, expected");
                assert!(error.starts_with(&expected), "{error}");
            }
            let smallest = plain.certificates.iter().min().unwrap() + ENTRY;
            for bytes in [least, least + rest, least + rest - smallest] {
                let error = check(&compressed, bytes).unwrap_err();
                let expected = format!(
                    "certificates: found {bytes} encrypted bytes, expected {} to {} with {number} \
                     of {:?} bytes, compressed with zlib",
                    least - SAVED,
                    least - 1,
                    plain.certificates
                );
                assert_eq!(error, expected);
            }
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
            let message = [&[11, 0, 0, length + 3, 0, 0, length][..], list].concat();
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
        let found = |sent: &[u8]| {
            let error = chain.check(Protocol::Tls12, sent).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            found(&sent(&[0, 0, 4, 1, 2, 3, 4])),
            "certificates: found 1 of [4] bytes, expected 2 of [4, 3]"
        );
        assert_eq!(
            found(&record(20, &[1])),
            "certificates: found 0 of [] bytes, expected 2 of [4, 3]"
        );
    }

    /// The last byte of the object identifier, the bytes of a public key, and those of a signature:
    /// FIPS 204, table 2.
    const ML_DSA: [(Certificate, u8, usize, usize); 3] = [
        (Certificate::MlDsa44, 17, 1_312, 2_420),
        (Certificate::MlDsa65, 18, 1_952, 3_309),
        (Certificate::MlDsa87, 19, 2_592, 4_627),
    ];

    /// The head of a BIT STRING with so many bytes, as DER.
    fn bit_string(bytes: usize) -> [u8; 5] {
        let [high, low] = u16::try_from(bytes + 1).unwrap().to_be_bytes();
        [3, 0x82, high, low, 0]
    }

    /// The DER of each certificate of a PEM text.
    fn decoded(pem: &str) -> Vec<Vec<u8>> {
        let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
        blocks
            .map(|it| {
                let (body, _) = it.split_once("-----END").unwrap();
                let text: String = body.split_whitespace().collect();
                STANDARD.decode(text).unwrap()
            })
            .collect()
    }

    #[test]
    fn keys_and_signatures_of_ml_dsa_have_the_sizes_of_fips_204() {
        for (certificate, number, key, signature) in ML_DSA {
            assert_eq!(longest_signature(certificate), signature, "{certificate}");
            let known = certificates::signature(certificate).unwrap();
            assert_eq!(known.len(), signature, "{certificate}");
            let identifier = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, number];
            let algorithm = [&[0x30, 11, 6, 9][..], &identifier].concat();
            let public_key = [&algorithm[..], &bit_string(key)].concat();
            let authority = authority(certificate);
            let texts = [
                authority.server.chain,
                authority.client.chain,
                authority.root,
            ];
            let all: Vec<_> = texts.into_iter().flat_map(decoded).collect();
            assert_eq!(all.len(), 5, "{certificate}");
            for der in all {
                let has = |part: &[u8]| der.windows(part.len()).any(|it| it == part);
                assert!(has(&public_key), "{certificate}: a public key");
                // The signature is the last field, after its algorithm.
                let end = [&algorithm[..], &bit_string(signature)].concat();
                let at = der.len() - signature - end.len();
                assert!(der[at..].starts_with(&end), "{certificate}: a signature");
            }
        }
    }

    #[test]
    fn only_the_leaf_is_of_ml_dsa_where_others_issue_it() {
        for &certificate in Chain::EcdsaIssuers.certificates() {
            let authority = in_chain(Chain::EcdsaIssuers, certificate).unwrap();
            let [leaf, intermediate] = sizes(authority.server.chain)[..] else {
                panic!("{certificate}: a chain without an intermediate");
            };
            let of = ML_DSA.iter().find(|it| it.0 == certificate);
            let key = of.map(|it| it.2).unwrap();
            assert!((key + 200..key + 600).contains(&leaf), "{leaf} bytes");
            assert!(intermediate < 600, "{intermediate} bytes");
        }
    }
}
