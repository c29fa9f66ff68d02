//! Primitives: the library's own cryptography, which is the ceiling of its handshakes and
//! transfers. A primitive is named by the variant of its scenario, `aes-256-gcm-seal-16384`.
//!
//! An adapter implements `Cryptography`; what is done with it, and the proof that it does what it
//! should, is the same for every library. Everything that one key needs only once is set up before
//! the time that is measured, and what is freed is freed after it.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::{
    certificates::{self, SIGNED},
    clock::Laps,
    scenario::{Certificate, Operation, Scenario},
};

/// Bytes of a nonce, and of the tag behind what was sealed.
pub const NONCE: usize = 12;
pub const TAG: usize = 16;

/// Bytes of additional data, as in TLS1.2 (RFC 5246, 6.2.3.3).
const ADDITIONAL: usize = 13;

/// Bytes of plaintext that one batch seals and then opens: few enough to stay in the second cache,
/// enough for the clock not to matter.
const BATCH_BYTES: usize = 1 << 16;

/// Operations of one batch of anything else.
const BATCH: usize = 16;

/// Room for a signature: that of RSA-4096.
const MAX_SIGNATURE: usize = 512;

/// What a key exchange agrees on.
pub type Secret = [u8; 32];

/// A cipher with authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl Cipher {
    const ALL: [Self; 3] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];

    fn name(self) -> &'static str {
        match self {
            Self::Aes128Gcm => "aes-128-gcm",
            Self::Aes256Gcm => "aes-256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
        }
    }
}

/// What a key is exchanged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    X25519,
    MlKem768,
}

impl Group {
    /// Bytes of what the first role sends.
    fn share(self) -> usize {
        match self {
            Self::X25519 => 32,
            Self::MlKem768 => 1184,
        }
    }

    /// Bytes of what the second role answers.
    fn answer(self) -> usize {
        match self {
            Self::X25519 => 32,
            Self::MlKem768 => 1088,
        }
    }
}

/// Step of a key exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Generate,
    Encapsulate,
    Agree,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// So many bytes, in place.
    Seal(Cipher, usize),
    Open(Cipher, usize),
    /// RSA-PSS or ECDSA, with SHA-256: the message is hashed too.
    Sign(Certificate),
    Verify(Certificate),
    KeyExchange(Group, Step),
}

/// The names that stand for one primitive. Those of ciphers have a size.
const NAMED: [(&str, Primitive); 9] = [
    ("rsa-2048-sign", Primitive::Sign(Certificate::Rsa2048)),
    ("rsa-2048-verify", Primitive::Verify(Certificate::Rsa2048)),
    ("ecdsa-p256-sign", Primitive::Sign(Certificate::EcdsaP256)),
    (
        "ecdsa-p256-verify",
        Primitive::Verify(Certificate::EcdsaP256),
    ),
    (
        "x25519-generate",
        Primitive::KeyExchange(Group::X25519, Step::Generate),
    ),
    (
        "x25519-agree",
        Primitive::KeyExchange(Group::X25519, Step::Agree),
    ),
    (
        "ml-kem-768-generate",
        Primitive::KeyExchange(Group::MlKem768, Step::Generate),
    ),
    (
        "ml-kem-768-encapsulate",
        Primitive::KeyExchange(Group::MlKem768, Step::Encapsulate),
    ),
    (
        "ml-kem-768-decapsulate",
        Primitive::KeyExchange(Group::MlKem768, Step::Agree),
    ),
];

/// A library's own cryptography.
pub trait Cryptography: Sync {
    /// Sets up a key.
    ///
    /// # Errors
    /// The library refuses.
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>>;

    /// Parses a key, PEM; the public half of it verifies.
    ///
    /// # Errors
    /// The library refuses.
    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>>;

    /// # Errors
    /// The library refuses.
    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>>;
}

/// A cipher with its key.
pub trait Aead {
    /// Encrypts in place all of `record` but its last `TAG` bytes, and writes the tag there.
    ///
    /// # Errors
    /// The library fails.
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()>;

    /// Decrypts in place what `seal` has made.
    ///
    /// # Errors
    /// It is not what was sealed.
    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()>;
}

/// A key that signs and verifies: RSA-PSS (salt as long as the hash) or ECDSA, with SHA-256.
pub trait Signature {
    /// Hashes and signs; returns the length of the signature (ECDSA: as DER).
    ///
    /// # Errors
    /// The library fails.
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize>;

    /// Hashes and verifies.
    ///
    /// # Errors
    /// The signature is not one of the message.
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()>;
}

/// A key exchange, as TLS uses it: keys are used once, and what the peer sent is bytes.
pub trait KeyExchange {
    /// Makes a key pair, and writes its public half.
    ///
    /// # Errors
    /// The library fails.
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>>;

    /// Answers a peer's public key; writes the answer and the secret. With a Diffie-Hellman group,
    /// that is a key pair and an agreement.
    ///
    /// # Errors
    /// The library fails, or refuses the peer's key.
    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut Secret) -> Result<()> {
        self.generate(answer)?.agree(share, secret)
    }
}

/// The private half of a key pair.
pub trait PrivateKey {
    /// Writes the secret that follows from the peer's answer: decapsulates. Called once.
    ///
    /// # Errors
    /// The library fails, or refuses the answer.
    fn agree(&mut self, answer: &[u8], secret: &mut Secret) -> Result<()>;
}

/// A primitive made ready: belongs to one thread.
pub trait Batch {
    /// Does all operations of a batch; returns their time.
    ///
    /// # Errors
    /// The library fails.
    fn run(&mut self) -> Result<Duration>;

    /// Checks what the last batch has come to.
    ///
    /// # Errors
    /// It is wrong.
    fn check(&mut self) -> Result<()>;

    /// Operations of one batch.
    fn operations(&self) -> usize;
}

impl Primitive {
    /// What a scenario asks for.
    ///
    /// # Errors
    /// It is not a primitive, or one that is not known.
    pub fn of(scenario: &Scenario) -> Result<Self> {
        let name = scenario.name();
        ensure!(
            scenario.operation == Operation::Primitive,
            "scenario \"{name}\" is no primitive"
        );
        let variant = scenario
            .variant
            .as_deref()
            .with_context(|| format!("scenario \"{name}\" has no variant"))?;
        let expected = || {
            let ciphers = Cipher::ALL.map(Cipher::name).join(", ");
            let named = NAMED.map(|(name, _)| name).join(", ");
            format!(
                "variant \"{variant}\", expected {ciphers} with -seal-SIZE or -open-SIZE, or {named}"
            )
        };
        if let Some((_, primitive)) = NAMED.iter().find(|(name, _)| *name == variant) {
            return Ok(*primitive);
        }
        let cipher = Cipher::ALL.into_iter().find_map(|cipher| {
            let rest = variant.strip_prefix(cipher.name())?;
            Some((cipher, rest))
        });
        let (cipher, rest) = cipher.with_context(expected)?;
        let size = |prefix| -> Option<usize> {
            let size = rest.strip_prefix(prefix)?.parse().ok()?;
            (size > 0).then_some(size)
        };
        match (size("-seal-"), size("-open-")) {
            (Some(size), _) => Ok(Self::Seal(cipher, size)),
            (_, Some(size)) => Ok(Self::Open(cipher, size)),
            _ => bail!(expected()),
        }
    }

    /// Whether it is a part of ML-KEM, which not every library has.
    pub fn is_ml_kem(self) -> bool {
        matches!(self, Self::KeyExchange(Group::MlKem768, _))
    }

    /// Plaintext of one operation, where the rate is in bytes.
    pub fn bytes(self) -> Option<usize> {
        match self {
            Self::Seal(_, size) | Self::Open(_, size) => Some(size),
            _ => None,
        }
    }

    /// Makes it ready to be measured.
    ///
    /// # Errors
    /// The library refuses.
    pub fn batch(self, library: &dyn Cryptography) -> Result<Box<dyn Batch>> {
        Ok(match self {
            Self::Seal(cipher, size) => Box::new(Records::new(library, cipher, size, true)?),
            Self::Open(cipher, size) => Box::new(Records::new(library, cipher, size, false)?),
            Self::Sign(certificate) => Box::new(Signing(Signatures::new(library, certificate)?)),
            Self::Verify(certificate) => {
                let mut signatures = Signatures::new(library, certificate)?;
                signatures.sign()?;
                Box::new(Verifying(signatures))
            }
            Self::KeyExchange(group, step) => Box::new(Exchanges::new(library, group, step)?),
        })
    }

    /// Proves that the library does what its name says, and refuses what it must.
    ///
    /// # Errors
    /// It does not.
    pub fn prove(self, library: &dyn Cryptography) -> Result<()> {
        match self {
            Self::Seal(cipher, size) | Self::Open(cipher, size) => {
                prove_known_answer(library, cipher)?;
                prove_authentication(library, cipher, size)
            }
            Self::Sign(certificate) | Self::Verify(certificate) => {
                prove_signatures(library, certificate)
            }
            Self::KeyExchange(group, _) => prove_key_exchange(library, group),
        }
    }
}

/// The key that is measured with.
fn key(cipher: Cipher) -> &'static [u8] {
    match cipher {
        Cipher::Aes128Gcm => &[0x5a; 16],
        Cipher::Aes256Gcm | Cipher::ChaCha20Poly1305 => &[0x5a; 32],
    }
}

/// Records that are sealed and then opened, each in place and with a nonce of its own.
struct Records {
    aead: Box<dyn Aead>,
    seals: bool,
    plaintext: Vec<u8>,
    /// Each with room for a tag.
    records: Vec<Vec<u8>>,
    /// Records sealed so far.
    count: u64,
}

impl Records {
    fn new(library: &dyn Cryptography, cipher: Cipher, size: usize, seals: bool) -> Result<Self> {
        let plaintext: Vec<u8> = (0..size).map(|i| (i * 31 % 251) as u8).collect();
        let mut record = plaintext.clone();
        record.extend([0; TAG]);
        Ok(Self {
            aead: library.aead(cipher, key(cipher))?,
            seals,
            plaintext,
            records: vec![record; (BATCH_BYTES / size).max(1)],
            count: 0,
        })
    }
}

/// The nonce of one record: its number.
fn nonce(number: u64) -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    nonce[NONCE - 8..].copy_from_slice(&number.to_be_bytes());
    nonce
}

impl Batch for Records {
    fn run(&mut self) -> Result<Duration> {
        let first = self.count;
        let mut laps = Laps::start();
        for (record, number) in self.records.iter_mut().zip(first..) {
            self.aead.seal(&nonce(number), &[0; ADDITIONAL], record)?;
        }
        let sealing = laps.lap();
        for (record, number) in self.records.iter_mut().zip(first..) {
            self.aead.open(&nonce(number), &[0; ADDITIONAL], record)?;
        }
        let opening = laps.lap();
        self.count += self.records.len() as u64;
        Ok(if self.seals { sealing } else { opening })
    }

    fn check(&mut self) -> Result<()> {
        let opened = |record: &Vec<u8>| record[..self.plaintext.len()] == self.plaintext;
        ensure!(
            self.records.iter().all(opened),
            "what was opened is not what was sealed"
        );
        Ok(())
    }

    fn operations(&self) -> usize {
        self.records.len()
    }
}

/// One test vector of a cipher, as hexadecimal digits.
struct Vector {
    key: &'static str,
    nonce: &'static str,
    additional: &'static str,
    plaintext: &'static str,
    /// With its tag.
    sealed: &'static str,
}

/// Test cases 4 and 16 of the specification of GCM (McGrew and Viega 2005, appendix B), and that
/// of RFC 8439, 2.8.2.
fn vector(cipher: Cipher) -> Vector {
    const GCM: Vector = Vector {
        key: "feffe9928665731c6d6a8f9467308308",
        nonce: "cafebabefacedbaddecaf888",
        additional: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                    1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        sealed: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                 21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091\
                 5bc94fbc3221a5db94fae95ae7121a47",
    };
    match cipher {
        Cipher::Aes128Gcm => GCM,
        Cipher::Aes256Gcm => Vector {
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                     8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662\
                     76fc6ece0f4e1768cddf8853bb2d551b",
            ..GCM
        },
        Cipher::ChaCha20Poly1305 => Vector {
            key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
            nonce: "070000004041424344454647",
            additional: "50515253c0c1c2c3c4c5c6c7",
            plaintext: "4c616469657320616e642047656e746c656d656e206f662074686520636c6173\
                        73206f66202739393a204966204920636f756c64206f6666657220796f75206f\
                        6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73\
                        637265656e20776f756c642062652069742e",
            sealed: "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6\
                     3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36\
                     92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc\
                     3ff4def08e4b7a9de576d26586cec64b6116\
                     1ae10b594f09e26a7e902ecbd0600691",
        },
    }
}

/// The bytes of hexadecimal digits, of which there is an even number.
fn bytes(digits: &str) -> Result<Vec<u8>> {
    let pair = |i| Ok(u8::from_str_radix(&digits[i..i + 2], 16)?);
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// The cipher is the one that it is said to be.
fn prove_known_answer(library: &dyn Cryptography, cipher: Cipher) -> Result<()> {
    let vector = vector(cipher);
    let (plaintext, sealed) = (bytes(vector.plaintext)?, bytes(vector.sealed)?);
    let additional = bytes(vector.additional)?;
    let nonce: [u8; NONCE] = bytes(vector.nonce)?
        .try_into()
        .map_err(|_| anyhow!("a test vector's nonce is not {NONCE} bytes"))?;
    let mut aead = library.aead(cipher, &bytes(vector.key)?)?;
    let mut record = plaintext.clone();
    record.extend([0; TAG]);
    aead.seal(&nonce, &additional, &mut record)?;
    ensure!(
        record == sealed,
        "sealed a test vector of {} wrongly",
        cipher.name()
    );
    aead.open(&nonce, &additional, &mut record)?;
    ensure!(
        record[..plaintext.len()] == plaintext,
        "opened a test vector of {} wrongly",
        cipher.name()
    );
    Ok(())
}

/// What is not as it was sealed is refused.
fn prove_authentication(library: &dyn Cryptography, cipher: Cipher, size: usize) -> Result<()> {
    let mut aead = library.aead(cipher, key(cipher))?;
    let mut sealed = vec![0x11; size + TAG];
    aead.seal(&nonce(1), &[0; ADDITIONAL], &mut sealed)?;
    let mut open = |what, number, additional: u8, changed: Option<usize>| {
        let mut record = sealed.clone();
        if let Some(position) = changed {
            record[position] ^= 1;
        }
        let result = aead.open(&nonce(number), &[additional; ADDITIONAL], &mut record);
        ensure!(
            result.is_err(),
            "{} opened a record with {what}",
            cipher.name()
        );
        Ok(())
    };
    open("another tag", 1, 0, Some(size))?;
    open("other data", 1, 0, Some(size - 1))?;
    open("other additional data", 1, 1, None)?;
    open("another nonce", 2, 0, None)
}

/// A key with its signatures of one message.
struct Signatures {
    key: Box<dyn Signature>,
    signatures: Vec<Vec<u8>>,
}

impl Signatures {
    fn new(library: &dyn Cryptography, certificate: Certificate) -> Result<Self> {
        let identity = certificates::authority(certificate).server;
        Ok(Self {
            key: library.signature(certificate, identity.key)?,
            signatures: vec![vec![0; MAX_SIGNATURE]; BATCH],
        })
    }

    /// Returns the time of the signing alone.
    fn sign(&mut self) -> Result<Duration> {
        let mut lengths = [0; BATCH];
        for signature in &mut self.signatures {
            signature.resize(MAX_SIGNATURE, 0);
        }
        let mut laps = Laps::start();
        for (signature, length) in self.signatures.iter_mut().zip(&mut lengths) {
            *length = self.key.sign(SIGNED, signature)?;
        }
        let time = laps.lap();
        for (signature, length) in self.signatures.iter_mut().zip(lengths) {
            signature.truncate(length);
        }
        Ok(time)
    }
}

struct Signing(Signatures);

impl Batch for Signing {
    fn run(&mut self) -> Result<Duration> {
        self.0.sign()
    }

    /// One of each batch: to verify all would take longer than to sign them.
    fn check(&mut self) -> Result<()> {
        let Signatures { key, signatures } = &mut self.0;
        let last = signatures.last().map_or(&[][..], Vec::as_slice);
        key.verify(SIGNED, last)
            .context("a signature does not verify")
    }

    fn operations(&self) -> usize {
        BATCH
    }
}

struct Verifying(Signatures);

impl Batch for Verifying {
    fn run(&mut self) -> Result<Duration> {
        let Signatures { key, signatures } = &mut self.0;
        let mut laps = Laps::start();
        for signature in signatures {
            key.verify(SIGNED, signature)?;
        }
        Ok(laps.lap())
    }

    /// A signature that does not verify has failed the batch.
    fn check(&mut self) -> Result<()> {
        Ok(())
    }

    fn operations(&self) -> usize {
        BATCH
    }
}

/// Another's signature is accepted, so is the library's own, and no changed one: so it signs what
/// the other signed, in the same way.
fn prove_signatures(library: &dyn Cryptography, certificate: Certificate) -> Result<()> {
    let known = certificates::signature(certificate)
        .with_context(|| format!("there is no known signature of {certificate}"))?;
    let mut signatures = Signatures::new(library, certificate)?;
    signatures.sign()?;
    let Signatures { key, signatures } = &mut signatures;
    key.verify(SIGNED, known)
        .with_context(|| format!("{certificate}: a known signature does not verify"))?;
    for signature in [known]
        .into_iter()
        .chain(signatures.iter().map(Vec::as_slice))
    {
        key.verify(SIGNED, signature)
            .with_context(|| format!("{certificate}: a signature does not verify"))?;
        let mut changed = signature.to_vec();
        if let Some(last) = changed.last_mut() {
            *last ^= 1;
        }
        ensure!(
            key.verify(SIGNED, &changed).is_err(),
            "{certificate}: a changed signature verifies"
        );
        ensure!(
            key.verify(&SIGNED[1..], signature).is_err(),
            "{certificate}: a signature verifies another message"
        );
    }
    Ok(())
}

/// Key exchanges between two roles, each of three steps; one step is measured.
struct Exchanges {
    key_exchange: Box<dyn KeyExchange>,
    step: Step,
    keys: Vec<Box<dyn PrivateKey>>,
    messages: Vec<Messages>,
}

/// What is sent, and what either role ends with.
#[derive(Clone)]
struct Messages {
    share: Vec<u8>,
    answer: Vec<u8>,
    secrets: [Secret; 2],
}

impl Exchanges {
    fn new(library: &dyn Cryptography, group: Group, step: Step) -> Result<Self> {
        let messages = Messages {
            share: vec![0; group.share()],
            answer: vec![0; group.answer()],
            secrets: [[0; 32]; 2],
        };
        Ok(Self {
            key_exchange: library.key_exchange(group)?,
            step,
            keys: Vec::with_capacity(BATCH),
            messages: vec![messages; BATCH],
        })
    }
}

impl Batch for Exchanges {
    fn run(&mut self) -> Result<Duration> {
        self.keys.clear();
        let mut laps = Laps::start();
        for messages in &mut self.messages {
            self.keys
                .push(self.key_exchange.generate(&mut messages.share)?);
        }
        let generating = laps.lap();
        for Messages {
            share,
            answer,
            secrets: [secret, _],
        } in &mut self.messages
        {
            self.key_exchange.encapsulate(share, answer, secret)?;
        }
        let encapsulating = laps.lap();
        for (key, messages) in self.keys.iter_mut().zip(&mut self.messages) {
            key.agree(&messages.answer, &mut messages.secrets[1])?;
        }
        let agreeing = laps.lap();
        Ok(match self.step {
            Step::Generate => generating,
            Step::Encapsulate => encapsulating,
            Step::Agree => agreeing,
        })
    }

    fn check(&mut self) -> Result<()> {
        for Messages {
            secrets: [one, other],
            ..
        } in &mut self.messages
        {
            ensure!(one == other, "the two roles did not agree on a secret");
            // So that what the next batch does not write is noticed.
            (*one, *other) = ([0; 32], [1; 32]);
        }
        Ok(())
    }

    fn operations(&self) -> usize {
        BATCH
    }
}

/// Both roles agree, each time on something else, and on nothing with one who answered another.
fn prove_key_exchange(library: &dyn Cryptography, group: Group) -> Result<()> {
    let mut exchanges = Exchanges::new(library, group, Step::Agree)?;
    exchanges.run()?;
    let mut seen: Vec<&[u8]> = vec![&[0; 32]];
    for messages in &exchanges.messages {
        let [secret, _] = &messages.secrets;
        for new in [&messages.share, &messages.answer, &secret[..]] {
            ensure!(
                !seen.contains(&new),
                "{group:?}: a key or a secret came twice, or is zero"
            );
            seen.push(new);
        }
    }
    exchanges.check()?;
    let mut other = Exchanges::new(library, group, Step::Agree)?;
    other.run()?;
    let mut secret = [0; 32];
    let mut share = vec![0; group.share()];
    let mut key = exchanges.key_exchange.generate(&mut share)?;
    // X25519 makes something of every key, and ML-KEM of every ciphertext (FIPS 203, 6.3).
    key.agree(&other.messages[0].answer, &mut secret)?;
    ensure!(
        secret != other.messages[0].secrets[0],
        "{group:?}: a key agreed on a secret that is not its own"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variant: &str) -> Result<Primitive> {
        Primitive::of(&Scenario {
            variant: Some(variant.into()),
            ..Scenario::new(Operation::Primitive)
        })
    }

    #[test]
    fn a_name_says_what_to_measure() {
        for (name, expected) in [
            (
                "aes-256-gcm-seal-16384",
                Primitive::Seal(Cipher::Aes256Gcm, 16384),
            ),
            (
                "chacha20-poly1305-open-1350",
                Primitive::Open(Cipher::ChaCha20Poly1305, 1350),
            ),
            ("rsa-2048-verify", Primitive::Verify(Certificate::Rsa2048)),
        ] {
            assert_eq!(of(name).unwrap(), expected);
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_are_known() {
        for name in [
            "aes-256-gcm",
            "aes-256-gcm-seal-0",
            "aes-256-gcm-seal-x",
            "aes-256-gcm-shut-16",
            "des-seal-16",
            "x25519-sign",
        ] {
            let error = of(name).unwrap_err().to_string();
            assert!(
                error.contains(&format!("variant \"{name}\", expected aes-128-gcm,")),
                "{error}"
            );
        }
        assert!(Primitive::of(&Scenario::new(Operation::Primitive)).is_err());
        assert!(Primitive::of(&Scenario::new(Operation::Transfer)).is_err());
    }
}
