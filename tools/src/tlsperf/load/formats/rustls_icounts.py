"""`icounts.csv` of rustls' ci-bench (`rustls-icounts`): instructions counted by callgrind.

    handshake_no_resume_ring_1.2_rsa_aes_server,11327015
    handshake_tickets_aws_lc_rs_1.3_ecdsap256_chacha_client,4331424
    transfer_no_resume_ring_1.3_rsa_aes_server,8775780

A count of resumed handshakes is of 30 (`RESUMED_HANDSHAKE_RUNS`, since August 2023), one of a
transfer is of 10 MiB (since November 2023): the frame has instructions per handshake and per MiB.
Names without a provider are from before November 2023: their transfers are left out, because some
are of 1 MiB. The group is that of the provider's defaults, which the file does not say.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    Remark,
    each_line,
    file_by_file,
    only,
    row_of,
    scenario_errors,
)

_LINE: Final = re.compile(
    r"(handshake|transfer)_(no_resume|session_id|tickets)_(?:(ring|aws_lc_rs)_)?(1\.[23])_"
    r"(?:(rsa|ecdsa|ecdsap256|ecdsap384)_(aes|chacha)|no_crypto)_(server|client),([0-9]{1,18})"
)
_RESUMPTIONS: Final = {"no_resume": "none", "session_id": "session-id", "tickets": "ticket"}
_CERTIFICATES: Final = {
    "rsa": "rsa-2048",
    "ecdsa": "ecdsa-p256",  # until January 2024, when P-384 came
    "ecdsap256": "ecdsa-p256",
    "ecdsap384": "ecdsa-p384",
}
_CIPHERS: Final = {"aes": "AES_128_GCM_SHA256", "chacha": "CHACHA20_POLY1305_SHA256"}
_TRANSFER_SIDES: Final = {"server": "sender", "client": "receiver"}
_RESUMED: Final = 30
"""Number of handshakes in one count of resumed handshakes."""
_MEBIBYTES: Final = 10
"""Size of one transfer."""
_OLD_TRANSFER: Final = "a transfer of 1 or of 10 MiB, which names without a provider do not say"


def parse(source: RawInput) -> Parsed:
    """One row for each line."""
    parsed = Parsed()
    seen: dict[Scenario, int] = {}

    def read(number: int, line: str, last: bool) -> None:
        found = _LINE.fullmatch(line.strip())
        if last or not found:
            # The last line may have lost digits if it has no line end.
            expected = "NAME,COUNT of rustls' ci-bench"
            raise FormatError(source.name, number, repr(line), expected)
        operation, resumption, provider, protocol, key, cipher, side, count = found.groups()
        _check_provider(source, number, provider)
        if operation == "transfer" and provider is None and key is not None:
            if all(remark.message != _OLD_TRANSFER for remark in parsed.remarks):
                parsed.remarks.append(Remark(source.name, number, _OLD_TRANSFER))
            return
        signature = f"TLS_ECDHE_{(key or '')[:5].upper()}_WITH_" if protocol == "1.2" else "TLS_"
        suite = f"{signature}{_CIPHERS[cipher]}" if cipher else None
        with scenario_errors(source.name, number):
            scenario = Scenario.model_validate(
                {
                    "operation": operation,
                    "protocol": protocol,
                    "cipher_suite": suite,
                    "certificate": _CERTIFICATES[key] if key else None,
                    "authentication": "server",
                    "resumption": _RESUMPTIONS[resumption],
                    "side": _TRANSFER_SIDES[side] if operation == "transfer" else side,
                    "variant": None if key else "no-crypto",
                }
            )
        first = seen.setdefault(scenario, number)
        if first != number:
            found_ = f"a second count of {line.partition(',')[0]}, after line {first}"
            raise FormatError(source.name, number, found_, "each benchmark once")
        unit, runs = "instructions/handshake", 1 if resumption == "no_resume" else _RESUMED
        if operation == "transfer":
            unit, runs = "instructions/MiB", _MEBIBYTES
        value = int(count) / runs
        parsed.rows.append(row_of(source, number, scenario, "instructions", value, unit))

    each_line(source, parsed.remarks, read)
    return parsed


def _check_provider(source: RawInput, number: int, provider: str | None) -> None:
    """Raises FormatError for a benchmark of another provider than the implementation's."""
    identifier = source.implementation
    own = next((p for p in ("aws-lc-rs", "ring") if f"-{p}" in identifier), None)
    if provider and own != provider.replace("_", "-"):
        name = provider.replace("_", "-")
        expected = (
            f"benchmarks of {own}, the provider of {identifier}"
            if own
            else f"an --implementation with its provider, such as {identifier}-{name}"
        )
        raise FormatError(source.name, number, f"a benchmark of {name}", expected)


FORMATS: Final = (
    Format(
        "rustls-icounts",
        "rustls' ci-bench",
        lambda text, name: _LINE.match(text) is not None,
        file_by_file(parse),
        libraries=only("rustls"),
    ),
)
