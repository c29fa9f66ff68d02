//! The certificates of the project: for each type of key a root, an intermediate and two leaves,
//! made by `examples/certificates.rs` and valid until 2049.

pub mod set_up;

use crate::scenario::Certificate;

/// The host name in every server's certificate.
pub const HOST_NAME: &str = "server.example";

/// The identity of a peer: its chain (leaf, then intermediate) and the leaf's private key, as PEM.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    pub chain: &'static str,
    pub key: &'static str,
}

/// The identity that a server presents to clients that send its name (SNI).
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    pub identity: Identity,
}

/// The identities of a server and a client, and the root that verifies both.
#[derive(Clone, Copy, Debug)]
pub struct Authority {
    pub root: &'static str,
    pub server: Identity,
    pub client: Identity,
}

/// The content that a TLS 1.3 server signs (RFC 8446, 4.4.3), with a fixed SHA-384 transcript hash.
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

/// The certificates with keys of this type.
pub fn authority(certificate: Certificate) -> Authority {
    match certificate {
        Certificate::Rsa2048 => authority!("rsa-2048"),
        Certificate::Rsa4096 => authority!("rsa-4096"),
        Certificate::EcdsaP256 => authority!("ecdsa-p256"),
        Certificate::EcdsaP384 => authority!("ecdsa-p384"),
        Certificate::Ed25519 => authority!("ed25519"),
        Certificate::MlDsa44 => authority!("ml-dsa-44"),
        Certificate::MlDsa65 => authority!("ml-dsa-65"),
        Certificate::MlDsa87 => authority!("ml-dsa-87"),
    }
}

/// A signature of `SIGNED` with the server's key, in the scheme of `primitives::Signature`, made by
/// `examples/certificates.rs`; `None` for key types that no primitive uses.
pub fn signature(certificate: Certificate) -> Option<&'static [u8]> {
    Some(match certificate {
        Certificate::Rsa2048 => include_bytes!("../certificates/rsa-2048/server.sig"),
        Certificate::EcdsaP256 => include_bytes!("../certificates/ecdsa-p256/server.sig"),
        Certificate::MlDsa44 => include_bytes!("../certificates/ml-dsa-44/server.sig"),
        Certificate::MlDsa65 => include_bytes!("../certificates/ml-dsa-65/server.sig"),
        Certificate::MlDsa87 => include_bytes!("../certificates/ml-dsa-87/server.sig"),
        _ => return None,
    })
}
