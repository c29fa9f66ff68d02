//! The cryptography of a library, which the primitives measure: an adapter implements
//! `Cryptography`.

use anyhow::Result;

use crate::scenario::Certificate;
pub use crate::scenario::primitive::{Cipher, Group};

/// Bytes of a nonce.
pub const NONCE: usize = 12;

/// Bytes of the tag, which follows the ciphertext.
pub const TAG: usize = 16;

pub trait Cryptography: Sync {
    /// Sets up a key.
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>>;

    /// Parses a PEM private key; its public half verifies.
    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>>;

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>>;
}

/// An AEAD cipher with its key.
pub trait Aead {
    /// Encrypts all but the last `TAG` bytes of `record` in place, and writes the tag there.
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()>;

    /// Decrypts in place what `seal` encrypted.
    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()>;
}

/// A key pair that signs and verifies in the scheme that TLS 1.3 has for its type: RSA-PSS (salt as
/// long as the hash) and ECDSA P-256 with SHA-256, ECDSA P-384 with SHA-384, Ed25519, or ML-DSA.
pub trait Signature {
    /// Hashes and signs; returns the length of the signature (for ECDSA: in DER).
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize>;

    /// Hashes and verifies.
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()>;
}

/// A key exchange as TLS uses it: each key is used once, and the peer's messages are bytes.
pub trait KeyExchange {
    /// Makes a key pair and writes its public key to `share`.
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>>;

    /// Answers a peer's public key: writes the answer and the secret, whose buffers are as long as
    /// the group defines. With a Diffie-Hellman group this makes a key pair and agrees with it.
    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        self.generate(answer)?.agree(share, secret)
    }
}

pub trait PrivateKey {
    /// Writes the secret that the peer's answer yields (ML-KEM: decapsulates). Called once.
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()>;
}
