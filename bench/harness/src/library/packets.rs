//! QUIC's packet protection: an adapter implements `PacketProtection` for a library whose API protects
//! packets.

use anyhow::Result;

/// Bytes of the tag, which follows the ciphertext.
pub const TAG: usize = 16;

/// Bytes of ciphertext from which the mask of a header is made.
pub const SAMPLE: usize = 16;

/// The longest packet number.
pub const LONGEST_NUMBER: usize = 4;

/// From what the keys of one direction are made.
#[derive(Clone, Debug)]
pub enum PacketKeys {
    /// The connection id of a client's first packet, from which Initial secrets are derived (RFC
    /// 9001, 5.2).
    Initial(Vec<u8>),
    /// The keys themselves. No vector needs keys of 16 bytes, which rustls 0.23 does not accept.
    Given {
        key: [u8; 32],
        iv: [u8; 12],
        header: [u8; 32],
    },
}

/// The keys of one direction, which seal and open its packets.
pub trait PacketProtection {
    /// Encrypts all but the last `TAG` bytes of `payload` in place, and writes the tag there.
    fn seal(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()>;

    /// Decrypts in place what `seal` encrypted.
    fn open(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()>;

    /// Masks the first byte of a header, and as many bytes of `number` as it states.
    fn protect(
        &mut self,
        sample: &[u8; SAMPLE],
        first: &mut u8,
        number: &mut [u8; LONGEST_NUMBER],
    ) -> Result<()>;

    /// Removes the mask.
    fn unprotect(
        &mut self,
        sample: &[u8; SAMPLE],
        first: &mut u8,
        number: &mut [u8; LONGEST_NUMBER],
    ) -> Result<()>;
}
