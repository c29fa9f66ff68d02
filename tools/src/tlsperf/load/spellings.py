"""Names that tools use for cipher suites, certificates, groups and scenarios, and ours for them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tlsperf.contract.record import Scenario


class Suite(NamedTuple):
    """A cipher suite: its IANA name, its protocol, and the signature that it implies in TLS 1.2."""

    iana: str
    protocol: str
    signature: str | None


_CIPHERS: Final = {
    "AES128-GCM-SHA256": "AES_128_GCM_SHA256",
    "AES256-GCM-SHA384": "AES_256_GCM_SHA384",
    "CHACHA20-POLY1305": "CHACHA20_POLY1305_SHA256",
}
OPENSSL_SUITES: Final[dict[str, Suite]] = {
    f"TLS_{cipher}": Suite(f"TLS_{cipher}", "1.3", None) for cipher in _CIPHERS.values()
} | {
    f"ECDHE-{signature}-{short}": Suite(f"TLS_ECDHE_{signature}_WITH_{cipher}", "1.2", signature)
    for signature in ("RSA", "ECDSA")
    for short, cipher in _CIPHERS.items()
}
"""Cipher suites by the names of OpenSSL and BoringSSL."""

RUSTLS_SUITES: Final[dict[str, Suite]] = {
    suite.iana.replace("TLS_", "TLS13_") if suite.protocol == "1.3" else suite.iana: suite
    for suite in OPENSSL_SUITES.values()
}
"""Cipher suites by the names of rustls."""

OPENSSL_API: Final = ("openssl", "boringssl", "aws-lc", "libressl")
"""Libraries that openssl-bench can be linked with."""

BSSL_LINKED: Final = {"awslc": "aws-lc", "bssl": "boringssl", "ossl": "openssl"}
"""Libraries of AWS-LC's benchmark programs by the beginning of the program's name."""

GROUPS: Final = {
    "x25519": "X25519",
    "secp256r1": "secp256r1",
    "p-256": "secp256r1",
    "prime256v1": "secp256r1",
    "secp384r1": "secp384r1",
    "p-384": "secp384r1",
    "x25519mlkem768": "X25519MLKEM768",
    "secp256r1mlkem768": "SecP256r1MLKEM768",
    "mlkem768": "MLKEM768",
}
"""Key exchange groups by their names in lower case."""

GNUTLS_PARTS: Final = {
    "TLS1.2": ("protocol", "1.2"),
    "TLS1.3": ("protocol", "1.3"),
    "ECDSA-SECP256R1-SHA256": ("certificate", "ecdsa-p256"),
    "ECDSA-SECP384R1-SHA384": ("certificate", "ecdsa-p384"),
    "EdDSA-Ed25519": ("certificate", "ed25519"),
    "TLS1.3 AES-128-GCM": ("cipher_suite", "TLS_AES_128_GCM_SHA256"),
    "TLS1.3 AES-256-GCM": ("cipher_suite", "TLS_AES_256_GCM_SHA384"),
    "TLS1.3 AES-128-CCM": ("cipher_suite", "TLS_AES_128_CCM_SHA256"),
    "TLS1.3 CHACHA20-POLY1305": ("cipher_suite", "TLS_CHACHA20_POLY1305_SHA256"),
} | {f"ECDHE-{name.upper()}": ("key_exchange", group) for name, group in GROUPS.items()}
"""Field and value of the parts of GnuTLS' descriptions of a session: `(TLS1.3)-(ECDHE-X25519)-…`.
In TLS 1.2 a cipher alone is no suite.
"""

WOLFCRYPT_WORK: Final = (
    (r"^aes-(128|192|256)-gcm-enc$", r"aes-\1-gcm-seal"),
    (r"^aes-(128|192|256)-gcm-dec$", r"aes-\1-gcm-open"),
    (r"^cha-poly(-enc)?$", "chacha20-poly1305-seal"),
    (r"^cha-poly-dec$", "chacha20-poly1305-open"),
    (r"^(ml-kem \d+|kyber\d+) \d+ ", r"\1 "),
    (r"^(\w+) \[ ?(\w+) ?\] \d+ ", r"\1 \2 "),
    (r"^(ecc|ecdhe|ecdsa) (256|384) ", r"\1 secp\2r1 "),
    (r"^ecdsa secp(256|384|521)r1 ", r"ecdsa p\1 "),
    (r"^(ecc|ecdhe) (?=[a-z])", ""),
    (r"^curve (?=25519|448)", "x"),
    (r"^ed (?=25519|448)", "ed"),
    (r" key gen$", " generate"),
    (r" encap$", " encapsulate"),
    (r" decap$", " decapsulate"),
)
"""Substitutions that make our words of wolfCrypt's, in lower case, one after the other. Before
version 5 a line has no curve, but only the size of the default one.
"""

KEY_TYPES: Final = {
    "rsa": "rsa-2048",
    "rsa2048": "rsa-2048",
    "ecdsa": "ecdsa-p256",
    "ecdsap256": "ecdsa-p256",
    "ecdsap384": "ecdsa-p384",
    "ed25519": "ed25519",
}
"""Certificates by rustls' key types in lower case. Before the size became part of the name, each
type had one key: 2048 bits and P-256 (test-ca/build-a-pki.sh of rustls).
"""

MAKEFILE_SCENARIOS: Final = {
    "latency-fullhs-tls12": Scenario(
        operation="handshake",
        protocol="1.2",
        cipher_suite="TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        certificate="rsa-2048",
        resumption="none",
    ),
    "latency-fullhs-tls13": Scenario(
        operation="handshake",
        protocol="1.3",
        cipher_suite="TLS_AES_256_GCM_SHA384",
        certificate="rsa-2048",
        resumption="none",
    ),
    "latency-resume-tls12": Scenario(
        operation="handshake",
        protocol="1.2",
        cipher_suite="TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        certificate="rsa-2048",
        resumption="session-id",
    ),
    "latency-resume-tls13": Scenario(
        operation="handshake",
        protocol="1.3",
        cipher_suite="TLS_AES_256_GCM_SHA384",
        certificate="rsa-2048",
        resumption="ticket",
    ),
}
"""The scenarios of the target thread-latency of rustls' admin/bench-measure.mk, without side and
threads.
"""


_SIZE: Final = re.compile(r" \(([0-9]{1,18}) bytes?\)")
_DIRECTIONS: Final = {"encrypt": "seal", "decrypt": "open"}


def bssl_speed_primitive(printed: str) -> str:
    """The variant of what `bssl speed` prints: aes-256-gcm-seal-16384 for `EVP-AES-256-GCM encrypt
    (16384 bytes)`.
    """
    size = _SIZE.search(printed)
    words = _SIZE.sub("", printed).lower().split() or [""]
    words[0] = re.sub(r"^(?:evp|aead)-(?=aes|chacha)", "", words[0])
    if "gcm" in words[0] or "poly1305" in words[0]:
        words = [_DIRECTIONS.get(word, word) for word in words]
    return hyphened("-".join([*words, size[1]] if size else words))


def hyphened(text: str) -> str:
    """The text in lower case, with hyphens for all but letters, digits and dots."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")


_BSSL_BENCH: Final = [
    (re.compile(f"BM_Speed{pattern}"), variant)
    for pattern, variant in (
        (r"AEAD/(open|seal)_(\w+)/InputSize:([0-9]+)", r"\2-\1-\3"),
        (
            r"AEAD/(open|seal)_(\w+)/InputSize:([0-9]+)/IOVecFirst:([0-9]+)/IOVecOthers:([0-9]+)",
            r"\2-\1-\3-iovec-\4-\5",
        ),
        (r"ECDSA(Sign|Verify)/(p[0-9]+)", r"ecdsa-\2-\1"),
        (r"Ed25519(Sign|Verify)", r"ed25519-\1"),
        (r"MLDSA(Sign|Verify)/ml_dsa_([0-9]+)", r"ml-dsa-\2-\1"),
        (r"MLKEM([0-9]+)KeyGenOnly", r"ml-kem-\1-generate"),
        (r"MLKEM([0-9]+)ParseEnca(?:p|cp)", r"ml-kem-\1-encapsulate"),
        (r"MLKEM([0-9]+)Decap(?:Only)?", r"ml-kem-\1-decapsulate"),
    )
]


def bssl_bench_primitive(name: str) -> str:
    """The variant of a benchmark of BoringSSL's `bssl_bench` (bench/*.cc) that does what one of our
    primitives does; other names as they are. RSA differs: PKCS#1 v1.5 there, PSS here.
    """
    for pattern, variant in _BSSL_BENCH:
        if found := pattern.fullmatch(name):
            return found.expand(variant).lower().replace("_", "-")
    return name


PREFIX: Final = (
    r"(?:(?:\[?[\w.-]+@[^$#>]*)?[$#>] ?)*"
    r"(?:(?:(?:/[\w./-]*/)?(?:env|time|sudo|nice|nohup|exec|taskset|numactl|chrt|setarch|stdbuf)"
    r"|-\S*|[0-9%]\S*|x86_64|aarch64|(?!OPENSSL_|EVP_)[A-Za-z_]\w*=\S*) )*"
)
"""What can stand before a program in a line with single spaces: a prompt, and programs and variables
that do not choose what is measured. OPENSSL_CONF, OPENSSL_ia32cap and the like do.
"""

CARGO_LINE: Final = re.compile(
    r"\s*(?:Adding|Blocking|Compiling|Download(?:ing|ed)|Finished|Fresh|Locking|Running|Updating) "
    r"|(?:\$ )?cargo (?:\+\S+ )?(?:bench|build|criterion|run)\b"
)
"""How lines begin that cargo prints, or that show its command."""
