//! Trust anchors and named certificates for set-ups that use many of them.
//!
//! Each PEM text is built once per process and never freed, so that no measured time includes
//! building it.

use std::sync::{Mutex, PoisonError};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{Identity, Named, authority};
use crate::scenario::{Anchors, Certificate};

/// Project-made ECDSA P-256 roots that no chain ends in; there are 999.
const OTHERS: &str = include_str!("../../certificates/set-up/anchors.pem");

/// The root of all certificates with their own names.
pub const ROOT_OF_NAMES: &str = include_str!("../../certificates/set-up/root.pem");

const INTERMEDIATE: &str = include_str!("../../certificates/set-up/intermediate.pem");
const LEAVES: &str = include_str!("../../certificates/set-up/leaves.pem");
const KEYS: &str = include_str!("../../certificates/set-up/keys.pem");

/// Names with a certificate of their own key: `site-00000.example` to `site-00099.example`.
const GENUINE: usize = 100;

/// Splits PEM text into its blocks, each with its BEGIN and END lines.
fn texts(pem: &'static str) -> Vec<&'static str> {
    let mut rest = pem;
    let mut texts = Vec::new();
    while let Some(end) = rest.find("-----END ") {
        let line = rest[end..].find('\n').map_or(rest.len(), |it| end + it + 1);
        texts.push(&rest[..line]);
        rest = &rest[line..];
    }
    texts
}

fn pem(der: &[u8]) -> String {
    let base64 = STANDARD.encode(der);
    let lines = base64.as_bytes().chunks(64);
    let lines: String = lines
        .map(|line| String::from_utf8_lossy(line).into_owned() + "\n")
        .collect();
    format!("-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n")
}

/// Decodes one PEM block of `texts`.
fn der(pem: &str) -> Vec<u8> {
    let base64: String = pem
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    STANDARD.decode(base64).unwrap_or_default()
}

/// Returns the cached value of `key`, or makes and caches it.
fn kept<K: PartialEq + Copy, T: Copy>(
    cache: &Mutex<Vec<(K, T)>>,
    key: K,
    make: impl FnOnce() -> T,
) -> T {
    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, found)) = cache.iter().find(|it| it.0 == key) {
        return *found;
    }
    let made = make();
    cache.push((key, made));
    made
}

/// PEM of the trust anchors, with the root for this certificate type in the middle.
pub fn trusted(certificate: Certificate, anchors: Anchors) -> &'static str {
    type Texts = Vec<((Certificate, Anchors), &'static str)>;
    static MADE: Mutex<Texts> = Mutex::new(Vec::new());
    kept(&MADE, (certificate, anchors), || {
        let mut all: Vec<String> = match anchors {
            Anchors::Mozilla => webpki_root_certs::TLS_SERVER_ROOT_CERTS
                .iter()
                .map(|it| pem(it))
                .collect(),
            Anchors::Own(number) => {
                let others = texts(OTHERS).into_iter().take(number as usize - 1);
                others.map(str::to_owned).collect()
            }
        };
        all.insert(all.len() / 2, authority(certificate).root.to_owned());
        String::leak(all.concat())
    })
}

/// Returns `number` servers, each with a name, a key and a chain of leaf and intermediate.
///
/// Beyond 100, the leaves and keys of the first hundred repeat under other names. Their signatures
/// are invalid, but no library verifies the chain that it loads as its own. The certificate for the
/// name that clients send is always a genuine one.
pub fn named(number: u32) -> &'static [Named] {
    static MADE: Mutex<Vec<(u32, &'static [Named])>> = Mutex::new(Vec::new());
    kept(&MADE, number, || {
        let number = number as usize;
        let leaves: Vec<_> = texts(LEAVES);
        let keys = texts(KEYS);
        let blocks = number.div_ceil(GENUINE);
        let one = |i: usize| {
            // The block of genuine certificates is in the middle, with the name that clients send.
            let middle = number / 2 / GENUINE;
            let block = (i / GENUINE + blocks - middle) % blocks;
            let i = i % GENUINE;
            let leaf = match block {
                0 => leaves[i].to_owned(),
                _ => pem(&renamed(&der(leaves[i]), i, block)),
            };
            Named {
                name: String::leak(format!("site-{:05}.example", block * GENUINE + i)),
                identity: Identity {
                    chain: String::leak(leaf + INTERMEDIATE),
                    key: keys[i],
                },
            }
        };
        Vec::leak((0..number).map(one).collect())
    })
}

/// Rewrites the name in leaf `i` to the same index in another block.
fn renamed(leaf: &[u8], i: usize, block: usize) -> Vec<u8> {
    let (from, to) = (format!("site-{i:05}"), format!("site-{block:03}{i:02}"));
    let mut leaf = leaf.to_vec();
    let places: Vec<_> = leaf
        .windows(from.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == from.as_bytes())
        .map(|(place, _)| place)
        .collect();
    for place in places {
        leaf[place..place + to.len()].copy_from_slice(to.as_bytes());
    }
    leaf
}

/// The name that a client sends: the middle one, whose certificate has a valid signature.
pub fn requested_name(named: &[Named]) -> &'static str {
    requested(named).name
}

/// What the server presents to that client.
pub fn requested(named: &[Named]) -> &Named {
    &named[named.len() / 2]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const ECDSA: Certificate = Certificate::EcdsaP256;

    #[test]
    fn the_root_is_in_the_middle_of_the_stated_number_of_anchors() {
        let root = authority(ECDSA).root;
        for number in [1, 2, 10, 1_000] {
            let anchors = texts(trusted(ECDSA, Anchors::Own(number)));
            assert_eq!(anchors.len(), number as usize);
            assert_eq!(anchors[(anchors.len() - 1) / 2], root, "of {number}");
            let different: HashSet<_> = anchors.iter().collect();
            assert_eq!(different.len(), anchors.len(), "of {number}");
        }
        let all = texts(trusted(ECDSA, Anchors::Mozilla));
        let expected = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
        assert_eq!(all.len(), expected.len() + 1);
        assert!(all.len() > 100, "Mozilla trusts {}", all.len());
        assert_eq!(der(all[0]), expected[0].as_ref());
        assert_eq!(all.iter().filter(|it| **it == root).count(), 1);
    }

    #[test]
    fn generated_texts_are_cached() {
        let first = trusted(ECDSA, Anchors::Own(7));
        assert!(std::ptr::eq(first, trusted(ECDSA, Anchors::Own(7))));
        assert!(std::ptr::eq(named(3), named(3)));
    }

    #[test]
    fn names_differ_and_the_requested_one_has_its_own_leaf() {
        let leaves = texts(LEAVES);
        for number in [1, 2, 100, 101, 1_000, 10_000] {
            let all = named(number);
            let names: HashSet<_> = all.iter().map(|it| it.name).collect();
            assert_eq!(names.len(), number as usize);
            let chains: HashSet<_> = all.iter().map(|it| it.identity.chain).collect();
            assert_eq!(chains.len(), number as usize);
            let asked = requested_name(all);
            let found = all.iter().find(|it| it.name == asked).unwrap();
            let genuine = leaves.iter().any(|it| found.identity.chain.starts_with(it));
            assert!(genuine, "{asked} of {number}");
        }
    }

    #[test]
    fn each_leaf_contains_its_name() {
        for it in named(250) {
            let leaf = der(texts(it.identity.chain)[0]);
            let name = it.name.as_bytes();
            let found = leaf.windows(name.len()).filter(|bytes| *bytes == name);
            assert_eq!(
                found.count(),
                2,
                "{}: subject and alternative name",
                it.name
            );
        }
    }
}
