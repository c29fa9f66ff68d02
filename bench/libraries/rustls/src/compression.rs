//! Compression of certificates (RFC 8879): rustls' own zlib where a scenario has it, and none
//! elsewhere.
//!
//! A server keeps compressed certificates in a cache of four, as rustls does by default, so that it
//! compresses its own once.

use rustls::{ClientConfig, ServerConfig};
use tls_harness::library::Setup;

/// Reason for builds without the feature, such as those of other versions.
#[cfg(not(feature = "certificate-compression"))]
pub const NONE: &str = "rustls is built without compression of certificates here";

/// Limits what a client offers, since rustls offers all that it was built with.
#[cfg(feature = "certificate-compression")]
pub fn of_client(config: &mut ClientConfig, setup: &Setup) {
    let zlib = setup
        .compresses
        .then_some(rustls::compress::ZLIB_DECOMPRESSOR);
    config.cert_decompressors = zlib.into_iter().collect();
    config.cert_compressors = Vec::new();
}

/// Limits what a server uses, since rustls uses all that it was built with.
#[cfg(feature = "certificate-compression")]
pub fn of_server(config: &mut ServerConfig, setup: &Setup) {
    let zlib = setup
        .compresses
        .then_some(rustls::compress::ZLIB_COMPRESSOR);
    config.cert_compressors = zlib.into_iter().collect();
    config.cert_decompressors = Vec::new();
}

#[cfg(not(feature = "certificate-compression"))]
pub fn of_client(_: &mut ClientConfig, _: &Setup) {}

#[cfg(not(feature = "certificate-compression"))]
pub fn of_server(_: &mut ServerConfig, _: &Setup) {}
