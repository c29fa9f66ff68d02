"""rustls' own bench, both versions of its grammar: complete rows, and text of other tools."""

from __future__ import annotations

import pytest

from records import parsed, record, refusal
from tlsperf.load.formats import FOREIGN

OLD = "rustls-bench/2019"
NEW = "rustls-bench/2023"
SUITE13 = "TLS13_AES_256_GCM_SHA384"
RSA12 = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
ECDSA12 = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
TRANSFER = {
    "operation": "transfer",
    "protocol": "1.3",
    "cipher_suite": "TLS_AES_256_GCM_SHA384",
    "certificate": "rsa-2048",
    "authentication": "server",
    "resumption": "none",
    "threads": 1,
    "size": 1 << 20,
}
HANDSHAKE = {
    "operation": "handshake",
    "protocol": "1.3",
    "cipher_suite": "TLS_AES_256_GCM_SHA384",
    "certificate": "rsa-2048",
    "authentication": "server",
    "resumption": "none",
    "threads": 1,
}
NAMES = (
    "TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256, "
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, "
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
)


def command(mode: str, suite: str = SUITE13, *options: str, end: str = "") -> str:
    return f"{' '.join(['./target/release/rustls-bench', *options, mode, suite])}{end}\n"


def bulk(
    suite: str = SUITE13, fragment: str | None = "default", word: str = "bulk", rates: str = "{}.50"
) -> str:
    """A transfer's figures of both sides; without a fragment as of 2019."""
    version = "TLSv1_3" if suite == SUITE13 else "TLSv1_2"
    column = [f"max_fragment_size:{fragment}"] if fragment else []
    return "".join(
        "\t".join([word, version, suite, *column, side, rates.format(number), "MB/s"]) + "\n"
        for number, side in enumerate(("send", "recv"), start=1)
    )


def handshakes(
    suite: str = SUITE13,
    key: str | None = "Rsa2048",
    *,
    word: str = "handshakes",
    how: str = "server-auth\tno-resume",
    rates: str = "{}.50",
) -> str:
    """A handshake's figures of both sides; without a key as of 2019."""
    version = "TLSv1_3" if suite == SUITE13 else "TLSv1_2"
    column = [key] if key else []
    words = [word, version, *column, suite]
    return "".join(
        "\t".join([*words, side, how, rates.format(number), "handshakes/s"]) + "\n"
        for number, side in enumerate(("client", "server"), start=1)
    )


@pytest.mark.parametrize(
    ("format", "fragment", "record_size"),
    [(OLD, None, None), (NEW, "default", None), (NEW, "1024", 1024)],
)
def test_a_transfer_states_itself(
    format: str, fragment: str | None, record_size: int | None
) -> None:
    for before, first in (("", 1), (command("bulk"), 2)):
        found = parsed(format, before + bulk(SUITE13, fragment))
        scenario = {**TRANSFER, "record_size": record_size}
        assert found.rows == [
            record(first, {**scenario, "side": "sender"}, 1.5, "MiB/s"),
            record(first + 1, {**scenario, "side": "receiver"}, 2.5, "MiB/s"),
        ]
        assert found.remarks == []


@pytest.mark.parametrize(
    ("options", "end", "size"),
    [
        (["--plaintext-size", "8192"], "", 8192),
        (["--plaintext-size=8192"], " 16", 8192),
        ([], " 16", 16),
        ([], " 16 32", 16),
    ],
)
def test_the_command_states_the_size_of_a_write(options: list[str], end: str, size: int) -> None:
    found = parsed(NEW, command("bulk", SUITE13, *options, end=end) + bulk())
    assert [row.scenario.size for row in found.rows] == [size, size]


@pytest.mark.parametrize(
    ("suite", "options", "certificate"),
    [
        (RSA12, [], "rsa-2048"),
        (ECDSA12, [], None),
        (SUITE13, [], "rsa-2048"),
        (SUITE13, ["--key-type", "ecdsa-p256"], "ecdsa-p256"),
        (SUITE13, ["--key-type", "Ed25519"], "ed25519"),
        (SUITE13, ["--key-type", "unknown"], None),
        (ECDSA12, ["--key-type", "ecdsa-p384"], "ecdsa-p384"),
    ],
)
def test_the_certificate_of_a_transfer_is_the_commands(
    suite: str, options: list[str], certificate: str | None
) -> None:
    found = parsed(NEW, command("bulk", suite, *options) + bulk(suite))
    assert [row.scenario.certificate for row in found.rows] == [certificate] * 2


def test_threads_and_unbuffered_programs_are_other_scenarios() -> None:
    for text, fields, unit, sides in (
        (bulk(SUITE13, "default", "bulk-unbuffered"), TRANSFER, "MiB/s", ("sender", "receiver")),
        (
            handshakes(word="handshakes-unbuffered"),
            HANDSHAKE,
            "handshakes/s",
            ("client", "server"),
        ),
    ):
        shared = {**fields, "variant": "unbuffered"}
        assert parsed(NEW, text).rows == [
            record(line, {**shared, "side": side}, line + 0.5, unit)
            for line, side in enumerate(sides, start=1)
        ]
        rates = "threads\t2\t3.00\t4.00\ttotal\t7.00\tper-thread\t3.50"
        threads = text.replace("\t1.50\t", f"\t{rates}\t")
        rows = parsed(NEW, threads).rows
        assert rows[0] == record(
            1,
            {**shared, "threads": 2, "side": sides[0]},
            7,
            unit,
            f"the output stops before the {sides[1]}'s figure",
        )


@pytest.mark.parametrize(
    ("how", "authentication", "resumption"),
    [
        ("server-auth\tno-resume", "server", "none"),
        ("mutual\tsessionid", "mutual", "session-id"),
        ("server-auth\ttickets", "server", "ticket"),
    ],
)
@pytest.mark.parametrize("format", [OLD, NEW])
def test_a_handshake_states_itself(
    format: str, how: str, authentication: str, resumption: str
) -> None:
    key, certificate = (None, None) if format == OLD else ("EcdsaP384", "ecdsa-p384")
    shared = {
        **HANDSHAKE,
        "certificate": certificate,
        "authentication": authentication,
        "resumption": resumption,
    }
    for before, first in (("", 1), (command("handshake-ticket"), 2)):
        found = parsed(format, before + handshakes(SUITE13, key, how=how))
        assert found.rows == [
            record(first, {**shared, "side": "client"}, 1.5, "handshakes/s"),
            record(first + 1, {**shared, "side": "server"}, 2.5, "handshakes/s"),
        ]
        assert found.remarks == []


@pytest.mark.parametrize(
    ("suite", "certificate"), [(RSA12, "rsa-2048"), (ECDSA12, "ecdsa-p256"), (SUITE13, None)]
)
def test_a_handshake_of_2019_has_the_key_of_its_cipher_suite(
    suite: str, certificate: str | None
) -> None:
    found = parsed(OLD, handshakes(suite, None))
    assert [row.scenario.certificate for row in found.rows] == [certificate] * 2


@pytest.mark.parametrize(
    ("suite", "key", "certificate"),
    [
        (SUITE13, "Rsa", "rsa-2048"),
        (SUITE13, "EcdsaP256", "ecdsa-p256"),
        (RSA12, "Rsa2048", "rsa-2048"),
        (ECDSA12, "Ecdsa", "ecdsa-p256"),
        (ECDSA12, "Ed25519", "ed25519"),
    ],
)
def test_a_handshake_of_2023_states_its_key(suite: str, key: str, certificate: str) -> None:
    found = parsed(NEW, handshakes(suite, key))
    assert [row.scenario.certificate for row in found.rows] == [certificate] * 2


def test_a_figure_of_another_suite_than_requested_does_not_count() -> None:
    note = f"measured {RSA12}, not {SUITE13} as asked for"
    for format, fragment, key in ((OLD, None, None), (NEW, "default", "Rsa2048")):
        rows = parsed(format, command("bulk") + bulk(RSA12, fragment)).rows
        rows += parsed(format, command("handshake") + handshakes(RSA12, key)).rows
        assert [row.note for row in rows] == [note] * 4
    lower = command("bulk", SUITE13.lower()) + bulk()
    assert [row.note for row in parsed(NEW, lower).rows] == [None, None]


def repeats(*options: str) -> list[str | None]:
    """The variants of two pairs of one command; of a second command when none has been given."""
    before = command("bulk", SUITE13, *options)
    rows = parsed(NEW, before + bulk() + bulk(rates="{}.75")).rows
    return [row.scenario.variant if row.valid else row.note for row in rows]


def test_a_command_runs_once_for_each_key_unless_it_names_one() -> None:
    assert repeats() == [None, None, "repeat-2", "repeat-2"]
    repeated = "repeats line {}; one file must hold one round"
    assert repeats("--key-type", "rsa2048") == [
        None,
        None,
        repeated.format(2),
        repeated.format(3),
    ]
    alone = parsed(NEW, bulk() + bulk()).rows
    assert [row.scenario.variant for row in alone] == [None, None, "repeat-2", "repeat-2"]
    assert all(row.valid for row in alone)
    one_key = command("bulk", SUITE13, "--key-type", "rsa2048")
    twice = parsed(NEW, command("bulk") + bulk() + one_key + bulk(RSA12) + bulk(RSA12)).rows
    assert [row.valid for row in twice] == [True] * 2 + [False] * 4


VERSION = "found version 'TLSv1_2' with TLS13_AES_256_GCM_SHA384, expected TLSv1_3"
OF_2019 = {
    "bulk": "bulk VERSION SUITE (send|recv) RATE MB/s",
    "handshakes": "handshakes VERSION SUITE SIDE AUTH RESUMPTION RATE handshake/s",
}
OF_2023 = {
    "bulk": "bulk VERSION SUITE max_fragment_size:(default|N) (send|recv) RATE MB/s",
    "handshakes": "handshakes VERSION KEY SUITE SIDE AUTH RESUMPTION RATE handshakes/s",
}
SIDES = "… (send|recv) RATE MB/s"
ROLES = "… (client|server) (server-auth|mutual) (no-resume|sessionid|tickets) RATE handshakes/s"
FRAGMENT = "max_fragment_size:default"


@pytest.mark.parametrize(
    ("format", "line", "said"),
    [
        (OLD, f"bulk TLSv1_3 {SUITE13} send 1.00", OF_2019["bulk"]),
        (OLD, f"bulk TLSv1_3 {SUITE13} client 1.00 MB/s", SIDES),
        (NEW, f"bulk TLSv1_3 {SUITE13} {FRAGMENT} send 1.00", OF_2023["bulk"]),
        (NEW, f"bulk TLSv1_3 {SUITE13} {FRAGMENT} client 1.00 MB/s", SIDES),
        (
            OLD,
            f"handshakes TLSv1_3 {SUITE13} client mutual tickets 1.00",
            OF_2019["handshakes"],
        ),
        (
            NEW,
            f"handshakes TLSv1_3 Rsa {SUITE13} client mutual tickets 1.00",
            OF_2023["handshakes"],
        ),
        (OLD, f"handshakes TLSv1_3 {SUITE13} send mutual tickets 1.00 handshake/s", ROLES),
        (OLD, f"handshakes TLSv1_3 {SUITE13} client none tickets 1.00 handshake/s", ROLES),
        (OLD, f"handshakes TLSv1_3 {SUITE13} client mutual ticket 1.00 handshake/s", ROLES),
        (NEW, f"handshakes TLSv1_3 Rsa {SUITE13} send mutual tickets 1.00 handshake/s", ROLES),
    ],
)
def test_a_line_that_is_no_figure_is_named(format: str, line: str, said: str) -> None:
    assert refusal(format, f"{line}\n") == f":1: found {line}, expected {said}"


NUMBER = "expected a number like 6496.10"


@pytest.mark.parametrize(
    ("format", "line", "said"),
    [
        (OLD, f"bulk TLSv1_2 {SUITE13} send 1.00 MB/s", VERSION),
        (OLD, f"handshakes TLSv1_2 {SUITE13} client mutual tickets 1.00 handshake/s", VERSION),
        (NEW, f"bulk TLSv1_2 {SUITE13} {FRAGMENT} send 1.00 MB/s", VERSION),
        (NEW, f"handshakes TLSv1_2 Rsa {SUITE13} client mutual tickets 1.00 handshake/s", VERSION),
        (OLD, f"bulk TLSv1_3 {SUITE13} send 1.0 MB/s", f"found '1.0', {NUMBER}"),
        (
            OLD,
            f"handshakes TLSv1_3 {SUITE13} client mutual tickets 1 handshake/s",
            f"found '1', {NUMBER}",
        ),
        (OLD, f"bulk TLSv1_3 {SUITE13} send 1.00 GB/s", "found unit 'GB/s', expected MB/s or"),
        (
            OLD,
            "bulk TLSv1_3 AES send 1.00 MB/s",
            f"found cipher suite 'AES', expected one of {NAMES}",
        ),
        (
            NEW,
            f"bulk TLSv1_3 {SUITE13} max_fragment_size:0 send 1.00 MB/s",
            "found max_fragment_size:0, expected max_fragment_size:(default|N)",
        ),
        (
            NEW,
            f"handshakes TLSv1_3 Dsa {SUITE13} client mutual tickets 1.00 handshake/s",
            "found key 'Dsa', expected Rsa2048, EcdsaP256, EcdsaP384, Ed25519, …",
        ),
        (
            NEW,
            f"handshakes TLSv1_2 Ed25519 {RSA12} client mutual tickets 1.00 handshake/s",
            f"found key Ed25519 with {RSA12}, expected a key of RSA",
        ),
        (
            NEW,
            f"handshakes TLSv1_2 Rsa {ECDSA12} client mutual tickets 1.00 handshake/s",
            f"found key Rsa with {ECDSA12}, expected a key of ECDSA",
        ),
    ],
)
def test_what_a_line_has_wrong_is_named(format: str, line: str, said: str) -> None:
    assert refusal(format, f"{line}\n").startswith(f":1: {said}")


@pytest.mark.parametrize(
    ("mode", "text", "fits"),
    [
        ("bulk", bulk(), True),
        ("handshake", bulk(), False),
        ("bulk", handshakes(), False),
        ("handshake", handshakes(), True),
        ("handshake-resume", handshakes(), True),
        ("handshake-ticket", handshakes(), True),
        ("memory", handshakes(), False),
    ],
)
def test_figures_belong_to_their_command(mode: str, text: str, fits: bool) -> None:
    before = command(mode)
    if fits:
        assert len(parsed(NEW, before + text).rows) == 2
    else:
        line = " ".join(text.split("\n")[0].split())
        assert refusal(NEW, before + text) == f":2: found {line}, expected the figures of {mode}"


@pytest.mark.parametrize("format", [OLD, NEW])
def test_the_versions_are_distinguished_and_measure_rustls(format: str) -> None:
    texts = {
        OLD: [bulk(fragment=None), handshakes(key=None)],
        NEW: [bulk(), handshakes(), bulk(word="bulk-unbuffered")],
    }
    for name, examples in texts.items():
        for text in examples:
            assert FOREIGN[format].detects(f"make\n{text}", "x") is (name == format)
    libraries = FOREIGN[format].libraries
    assert libraries
    assert libraries("") == {"rustls"}
