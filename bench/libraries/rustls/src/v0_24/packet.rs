//! QUIC's packet protection, by the keys of `rustls::quic`.

use anyhow::{Context, Result};
use rustls::{
    crypto::{
        CryptoProvider,
        cipher::{AeadKey, Iv},
    },
    quic::{DirectionalKeys, Side, Suite, Version},
};
use tls_harness::{
    scenario::CipherSuite,
    workloads::quic_packet::{LONGEST_NUMBER, PacketKeys, PacketProtection, SAMPLE, TAG},
};

use crate::vocabulary::is_suite;

/// What a provider without it lacks, for messages.
pub const NONE: &str = "packet protection for QUIC";

/// The cipher suite, if the provider has packet protection with it.
pub fn suite(provider: &CryptoProvider, wanted: CipherSuite) -> Option<Suite> {
    let mut suites = provider.tls13_cipher_suites.iter();
    let suite = suites.find(|suite| is_suite(&suite.common, wanted))?;
    Suite::try_from(*suite).ok()
}

pub struct Protection(DirectionalKeys);

impl Protection {
    pub fn new(suite: Suite, keys: &PacketKeys) -> Self {
        Self(match keys {
            PacketKeys::Initial(id) => suite.keys(id, Side::Client, Version::V1).local,
            PacketKeys::Given { key, iv, header } => DirectionalKeys {
                header: suite.quic.header_protection_key(AeadKey::from(*header)),
                packet: suite.quic.packet_key(AeadKey::from(*key), Iv::from(*iv)),
            },
        })
    }
}

impl PacketProtection for Protection {
    fn seal(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        let (payload, tag) = payload
            .split_last_chunk_mut::<TAG>()
            .context("a payload without room for a tag")?;
        let made = self
            .0
            .packet
            .encrypt_in_place(number, header, payload, None)?;
        tag.copy_from_slice(made.as_ref());
        Ok(())
    }

    fn open(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        self.0
            .packet
            .decrypt_in_place(number, header, payload, None)?;
        Ok(())
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
