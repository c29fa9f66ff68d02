//! Published test vectors of the authenticated ciphers, and published generators of the curves.

use crate::library::primitives::{Cipher, Group};

/// A test vector, as hexadecimal digits.
pub struct Vector {
    pub key: &'static str,
    pub nonce: &'static str,
    pub additional: &'static str,
    pub plaintext: &'static str,
    /// The ciphertext, followed by the tag.
    pub sealed: &'static str,
}

/// Test cases 4 and 16 of the GCM specification (McGrew and Viega 2005, appendix B), and the test
/// vector of RFC 8439, 2.8.2.
pub fn vector(cipher: Cipher) -> Vector {
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

/// The generator of a curve, as a peer sends it.
pub struct Generator {
    /// Hexadecimal digits.
    pub point: &'static str,
    /// Where a share has the coordinate that is the secret.
    pub coordinate: usize,
    /// Whether keys that are no points of the curve are rejected: X25519 accepts every key.
    pub is_checked: bool,
}

/// RFC 7748, 4.1, and NIST SP 800-186, 3.2.1.3 and 3.2.1.4 (as uncompressed points: SEC 1, 2.3.3).
/// `None`: ML-KEM has none.
pub fn generator(group: Group) -> Option<Generator> {
    match group {
        Group::X25519 => Some(Generator {
            point: "0900000000000000000000000000000000000000000000000000000000000000",
            coordinate: 0,
            is_checked: false,
        }),
        Group::Secp256r1 => Some(Generator {
            point: "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
                    4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
            coordinate: 1,
            is_checked: true,
        }),
        Group::Secp384r1 => Some(Generator {
            point: "04aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a38\
                    5502f25dbf55296c3a545e3872760ab7\
                    3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c0\
                    0a60b1ce1d7e819d7a431d7c90ea0e5f",
            coordinate: 1,
            is_checked: true,
        }),
        Group::MlKem768 => None,
    }
}
