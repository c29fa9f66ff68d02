//! QUIC's packet protection, by the keys of `rustls::quic`.

use anyhow::{Context, Result};
use tls_harness::library::packets::{LONGEST_NUMBER, PacketKeys, PacketProtection, SAMPLE, TAG};

use crate::api::{self, DirectionalKeys, PacketSuite};

/// What a provider without it lacks, for messages.
pub const NONE: &str = "packet protection for QUIC";

pub struct Protection(DirectionalKeys);

impl Protection {
    pub fn new(suite: PacketSuite, keys: &PacketKeys) -> Self {
        Self(api::packet_keys(suite, keys))
    }
}

impl PacketProtection for Protection {
    fn seal(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        let (payload, tag) = payload
            .split_last_chunk_mut::<TAG>()
            .context("a payload without room for a tag")?;
        let made = api::seal(&*self.0.packet, number, header, payload)?;
        tag.copy_from_slice(made.as_ref());
        Ok(())
    }

    fn open(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        api::open(&*self.0.packet, number, header, payload)
    }

    fn protect(
        &mut self,
        sample: &[u8; SAMPLE],
        first: &mut u8,
        number: &mut [u8; LONGEST_NUMBER],
    ) -> Result<()> {
        Ok(self.0.header.encrypt_in_place(sample, first, number)?)
    }

    fn unprotect(
        &mut self,
        sample: &[u8; SAMPLE],
        first: &mut u8,
        number: &mut [u8; LONGEST_NUMBER],
    ) -> Result<()> {
        Ok(self.0.header.decrypt_in_place(sample, first, number)?)
    }
}
