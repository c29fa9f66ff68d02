//! The certificates of the project: for each type of key a root, an intermediate and two leaves,
//! made by `examples/certificates.rs` and valid until 2049.

pub mod set_up;

use crate::scenario::Certificate;

/// The host name in every server's certificate.
pub const HOST_NAME: &str = "server.example";

/// Who a peer is: its chain (leaf, then intermediate) and the key of the leaf, as PEM.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    pub chain: &'static str,
    pub key: &'static str,
}

/// Who a server is to clients that ask for a name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    pub identity: Identity,
}

/// Server, client and the root that both are to be verified with.
#[derive(Clone, Copy, Debug)]
pub struct Authority {
    pub root: &'static str,
    pub server: Identity,
    pub client: Identity,
}

/// What a server signs in a handshake of TLS 1.3 (RFC 8446, 4.4.3), with some hash of SHA-384.
pub const SIGNED: &[u8] = concat!(
    "                                                                ",
    "TLS 1.3, server CertificateVerify\0",
    "0123456789abcdef0123456789abcdef0123456789abcdef",
)
.as_bytes();

macro_rules! authority {
    ($folder:literal) => {
        Authority {
            root: include_str!(concat!("../certificates/", $folder, "/root.pem")),
            server: Identity {
                chain: include_str!(concat!("../certificates/", $folder, "/server.pem")),
                key: include_str!(concat!("../certificates/", $folder, "/server.key")),
            },
            client: Identity {
                chain: include_str!(concat!("../certificates/", $folder, "/client.pem")),
                key: include_str!(concat!("../certificates/", $folder, "/client.key")),
            },
        }
    };
}

/// The certificates with this type of key.
pub fn authority(certificate: Certificate) -> Authority {
    match certificate {
        Certificate::Rsa2048 => authority!("rsa-2048"),
        Certificate::Rsa4096 => authority!("rsa-4096"),
        Certificate::EcdsaP256 => authority!("ecdsa-p256"),
        Certificate::EcdsaP384 => authority!("ecdsa-p384"),
        Certificate::Ed25519 => authority!("ed25519"),
    }
}

/// A signature of `SIGNED` with the server's key, as `primitive::Signature` has it, made by
/// `examples/certificates.rs`; absent for the types of key that are no primitive.
pub fn signature(certificate: Certificate) -> Option<&'static [u8]> {
    Some(match certificate {
        Certificate::Rsa2048 => include_bytes!("../certificates/rsa-2048/server.sig"),
        Certificate::EcdsaP256 => include_bytes!("../certificates/ecdsa-p256/server.sig"),
        _ => return None,
    })
}
