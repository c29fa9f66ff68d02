//! QUIC's packet protection, by the keys of `rustls::quic`.

use anyhow::{Context, Result};
use rustls::{
    Side, SupportedCipherSuite, Tls13CipherSuite,
    crypto::cipher::{AeadKey, Iv},
    quic::{Algorithm, DirectionalKeys, Keys, Version},
};
use tls_harness::{
    scenario::CipherSuite,
    workloads::quic_packet::{LONGEST_NUMBER, PacketKeys, PacketProtection, SAMPLE, TAG},
};

use crate::vocabulary::is_suite;

/// What a provider without it lacks, for messages.
pub const NONE: &str = "packet protection for QUIC";

/// The cipher suite, if the provider has packet protection with it.
pub fn suite(
    suites: &[SupportedCipherSuite],
    wanted: CipherSuite,
) -> Option<(&'static Tls13CipherSuite, &'static dyn Algorithm)> {
    match suites.iter().find(|suite| is_suite(suite, wanted))? {
        SupportedCipherSuite::Tls13(suite) => Some((*suite, suite.quic?)),
        SupportedCipherSuite::Tls12(_) => None,
    }
}

pub struct Protection(DirectionalKeys);

impl Protection {
    pub fn new(
        (suite, quic): (&'static Tls13CipherSuite, &'static dyn Algorithm),
        keys: &PacketKeys,
    ) -> Self {
        Self(match keys {
            PacketKeys::Initial(id) => {
                Keys::initial(Version::V1, suite, quic, id, Side::Client).local
            }
            PacketKeys::Given { key, iv, header } => DirectionalKeys {
                header: quic.header_protection_key(AeadKey::from(*header)),
                packet: quic.packet_key(AeadKey::from(*key), Iv::from(*iv)),
            },
        })
    }
}

impl PacketProtection for Protection {
    fn seal(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        let (payload, tag) = payload
            .split_last_chunk_mut::<TAG>()
            .context("a payload without room for a tag")?;
        let made = self.0.packet.encrypt_in_place(number, header, payload)?;
        tag.copy_from_slice(made.as_ref());
        Ok(())
    }

    fn open(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        self.0.packet.decrypt_in_place(number, header, payload)?;
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
