"""Names that tools use for cipher suites, certificates, groups and scenarios, and ours for them."""

from __future__ import annotations

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
