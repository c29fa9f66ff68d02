"""The foreign formats, with real outputs and with damaged ones."""

from __future__ import annotations

import pytest

from grammars import RUN, Document
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.names import scenario_name
from tlsperf.contract.variant import parse_variant
from tlsperf.load.check_rows import check_rows
from tlsperf.load.formats import FOREIGN, detect
from tlsperf.load.rows import Parsed, ParsedRow, RawInput

MISSES = """\
env LD_LIBRARY_PATH=../openssl ./bench handshake-resume TLS_AES_256_GCM_SHA384
negotiated TLSv1.3 with TLS_AES_256_GCM_SHA384
connects: 0, connects-good: 0, accepts: 32769, accepts-good: 32769
sessions: 20479, hits: 20479, misses: 12289
handshakes\tclient\t3419.3\thandshakes/s
handshakes\tserver\t3071.68\thandshakes/s
"""
BULK = """\
env LD_LIBRARY_PATH=../openssl ./bench bulk ECDHE-RSA-AES128-GCM-SHA256 1048576
negotiated TLSv1.2 with ECDHE-RSA-AES128-GCM-SHA256
send: 6512.01 MB/s
recv: 7236.13 MB/s
"""
RUSTLS = (
    "target/release/examples/bench handshake TLS13_AES_256_GCM_SHA384\n"
    "handshakes\tTLSv1_3\tRsa\tTLS13_AES_256_GCM_SHA384\tclient\tserver-auth\tno-resume\t4695.01\t"
    "handshake/s\n"
    "handshakes\tTLSv1_3\tRsa\tTLS13_AES_256_GCM_SHA384\tserver\tserver-auth\tno-resume\t1364.94\t"
    "handshake/s\n"
)
SPEED = "type              2 bytes\nAES-256-GCM      13570.29k\n"
MEMORY = "env /usr/bin/time -f %M ./bench memory {} 1000\n83300\n"


def read(text: str, name: str = "output_1") -> Parsed:
    return Document(detect(text.encode(), name, name).name, text, name).parsed()


def figure(row: ParsedRow) -> tuple[str, float, str | None]:
    return scenario_name(row.scenario), row.value, row.note


def test_handshakes_that_did_not_resume_do_not_count() -> None:
    rows = read(MISSES + BULK).rows
    note = "12,289 of 32,768 handshakes were full ones"
    assert [figure(row) for row in rows] == [
        ("TLS 1.3 resumed handshake, session id, client", 3419.3, note),
        ("TLS 1.3 resumed handshake, session id, server", 3071.68, note),
        ("TLS 1.2 transfer, AES-128-GCM, sending", 6512.01, None),
        ("TLS 1.2 transfer, AES-128-GCM, receiving", 7236.13, None),
    ]
    assert [row.valid for row in rows] == [False, False, True, True]


@pytest.mark.parametrize(
    ("statistics", "implementation", "note"),
    [
        ("accepts: 410, accepts-good: 410|hits: 409", "openssl-3.6.1", None),
        ("accepts: 410, accepts-good: 410|hits: 0", "openssl-3.6.1", "409 of 409 handshakes did"),
        ("accepts: 410, accepts-good: 410|hits: 9", "openssl-3.6.1", "400 of 409 handshakes did"),
        ("accepts: 0, accepts-good: 0|hits: 0", "openssl-3.6.1", "OpenSSL counted no handshake"),
        ("accepts: 0, accepts-good: 0|hits: 0", "boringssl-30cd935", None),
    ],
)
def test_resumptions_without_hits_do_not_count(
    statistics: str, implementation: str, note: str | None
) -> None:
    accepts, hits = statistics.split("|")
    text = MISSES.replace("accepts: 32769, accepts-good: 32769", accepts)
    text = text.replace("hits: 20479, misses: 12289", f"{hits}, misses: 0")
    source = RawInput(text.encode(), "raw/output_1", RUN, implementation, 1)
    notes = {row.note for row in FOREIGN["openssl-bench/2023"].parse([source]).rows}
    assert [(found or "")[: len(note or "")] for found in notes] == [note or ""]
    assert (None in notes) == (note is None)


def test_a_figure_without_its_other_side_does_not_count() -> None:
    text = BULK.replace("recv: 7236.13 MB/s\n", "") + MISSES.replace(
        "hits: 20479, misses: 12289", "hits: 32768, misses: 0"
    )
    notes = [row.note for row in read(text).rows]
    assert notes == ["the output stops before the receiver's figure", None, None]


def test_an_interrupted_last_line_is_remarked_and_no_figure() -> None:
    parsed = read(BULK[:-4])
    assert [figure(row)[1:] for row in parsed.rows] == [
        (6512.01, "the output stops before the receiver's figure")
    ]
    assert [(r.line, r.message) for r in parsed.remarks] == [
        (4, "the output was interrupted at 'recv: 7236.13 M'")
    ]


def test_the_same_command_twice() -> None:
    rows = read(BULK + BULK).rows
    assert [row.note for row in rows] == [
        None,
        None,
        "repeats line 3; one file must hold one round",
        "repeats line 4; one file must hold one round",
    ]
    check_rows(rows)


def test_a_unit_of_another_measurement() -> None:
    rows = read(RUSTLS.replace("1364.94\thandshake/s", "1364.94\tMB/s")).rows
    assert rows[1].note == "printed as MB/s, which is no unit of a handshake"
    check_rows(rows)


def test_another_suite_was_negotiated() -> None:
    line = "negotiated TLSv1.2 with ECDHE-RSA-AES256-GCM-SHA384"
    rows = read(BULK.replace("negotiated TLSv1.2 with ECDHE-RSA-AES128-GCM-SHA256", line)).rows
    note = "negotiated ECDHE-RSA-AES256-GCM-SHA384, not ECDHE-RSA-AES128-GCM-SHA256 as asked for"
    assert {row.note for row in rows} == {note}


def test_boringssl_has_no_stateful_resumption_for_tls13() -> None:
    text = (
        "env LD_LIBRARY_PATH=../boringssl ./bench handshake-resume TLS_AES_256_GCM_SHA384\n"
        "!!! BoringSSL does not support stateful resumption for TLS1.3\n"
        "env LD_LIBRARY_PATH=../boringssl ./bench handshake-ticket TLS_AES_256_GCM_SHA384\n"
        "connects: 0, connects-good: 0, accepts: 0, accepts-good: 0\n"
        "sessions: 0, hits: 0, misses: 0\n"
        "handshake-ticket\tserver\tTLSv1/SSLv3\tTLS_AES_256_GCM_SHA384\t5687.32\thandshakes/s\n"
        "handshake-ticket\tclient\tTLSv1/SSLv3\tTLS_AES_256_GCM_SHA384\t4648.41\thandshakes/s\n"
    )
    source = RawInput(text.encode(), "raw/output_1", RUN, "boringssl-30cd935", 1)
    parsed = FOREIGN["openssl-bench/2024"].parse([source])
    assert parsed.remarks == []
    assert [figure(row) for row in parsed.rows] == [
        ("TLS 1.3 resumed handshake, ticket, server", 5687.32, None),
        ("TLS 1.3 resumed handshake, ticket, client", 4648.41, None),
    ]


def test_a_command_without_figures() -> None:
    command = "env LD_LIBRARY_PATH=../openssl ./bench handshake ECDHE-RSA-AES256-GCM-SHA384\n"
    parsed = read(command + BULK + "make: *** [Makefile:42: measure] Error 1\n")
    assert [(r.line, r.message) for r in parsed.remarks] == [
        (1, "handshake ECDHE-RSA-AES256-GCM-SHA384: no figures follow the command"),
        (6, "make failed: make: *** [Makefile:42: measure] Error 1"),
    ]


def test_memory_without_standard_error() -> None:
    echo = "env LD_LIBRARY_PATH=../openssl /usr/bin/time -f %M ./bench memory "
    text = f"{echo}ECDHE-RSA-AES256-GCM-SHA384 100\n{echo}ECDHE-RSA-AES256-GCM-SHA384 1000\n83300\n"
    parsed = read(text)
    name = "TLS 1.2 memory, sessions-1000"
    assert [figure(row)[:2] for row in parsed.rows] == [(name, 83300 * 1024)]
    assert "standard error" in parsed.remarks[0].message


def test_a_memory_figure_at_the_end_of_the_file_may_be_cut_off() -> None:
    echo = "env ./bench memory TLS_AES_256_GCM_SHA384 100\n"
    assert read(f"{echo}1554").rows[0].note == (
        "the file ends within this line, so digits may be missing"
    )


def test_rustls_runs_a_transfer_for_each_key_type() -> None:
    pair = "".join(
        f"bulk\tTLSv1_2\tTLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256\t"
        f"max_fragment_size:default\t{side}\t{{}}.00\tMB/s\n"
        for side in ("send", "recv")
    )
    command = "target/release/examples/bench {}bulk TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256\n"
    rows = read(command.format("") + pair.format(1, 2) + pair.format(3, 4)).rows
    name = "TLS 1.2 transfer, CHACHA20-POLY1305, {}"
    assert [figure(row) for row in rows] == [
        (name.format("sending"), 1, None),
        (name.format("receiving"), 2, None),
        (name.format("repeat-2, sending"), 3, None),
        (name.format("repeat-2, receiving"), 4, None),
    ]
    one_key = command.format("--key-type rsa2048 ") + pair.format(1, 2) + pair.format(3, 4)
    assert [row.valid for row in read(one_key).rows] == [True, True, False, False]


def test_make_compiles_first_and_several_threads_share_one_echo() -> None:
    text = (
        "cargo build --release -p rustls-bench --features aws-lc-rs\n"
        "    Finished `release` profile [optimized] target(s) in 0.10s\n"
        "for t in 1 2 ; do \\\n"
        "  ./target/release/rustls-bench --threads $t handshake TLS13_AES_256_GCM_SHA384 ; \\\n"
        "done\n"
    )
    for side in ("client", "server"):
        text += (
            f"handshakes\tTLSv1_3\tRsa2048\tTLS13_AES_256_GCM_SHA384\t{side}\tserver-auth\t"
            "no-resume\tthreads\t2\t100.00\t102.00\ttotal\t202.00\tper-thread\t101.00\t"
            "handshakes/s\n"
        )
    parsed = read(text)
    assert [figure(row) for row in parsed.rows] == [
        ("TLS 1.3 full handshake, RSA-2048, 2 threads, client", 202, None),
        ("TLS 1.3 full handshake, RSA-2048, 2 threads, server", 202, None),
    ]
    with pytest.raises(FormatError, match="total 302"):
        read(text.replace("total\t202", "total\t302"))


def test_the_command_gives_the_key_type_of_openssl_bench() -> None:
    figures = "".join(
        f"handshakes\t{side}\tTLSv1.3\tTLS_AES_256_GCM_SHA384\t5\thandshakes/s\n"
        for side in ("server", "client")
    )
    command = "env ./bench {}handshake TLS_AES_256_GCM_SHA384\n"
    certificates = {
        text: {row.scenario.certificate for row in read(text + figures).rows}
        for text in (command.format(""), command.format("--ecdsa "), "")
    }
    assert list(certificates.values()) == [{"rsa-2048"}, {"ecdsa-p256"}, {None}]


def test_latencies_of_all_threads_are_one_distribution() -> None:
    sources = [
        RawInput(
            "".join(f"1795230099.5\t{thread * 50 + i}.5\n" for i in range(50)).encode(),
            f"raw/latency-resume-tls13-server-{thread}-latency.tsv",
            RUN,
            "openssl-3.6.1",
        )
        for thread in range(2)
    ]
    rows = FOREIGN["bench-latency"].parse(sources).rows
    assert {row.statistic: row.value for row in rows} == {
        "p5": 4.5,
        "p50": 49.5,
        "p90": 89.5,
        "p99": 98.5,
        "p99.9": 99.5,
        "max": 99.5,
    }
    name = "TLS 1.3 resumed handshake, ticket, 2 threads, server"
    assert {scenario_name(row.scenario) for row in rows} == {name}


def test_primitives_in_the_words_of_each_library() -> None:
    text = (
        "Did 139000 AES-256-GCM (16384 bytes) seal operations in 1004138us (138427.2 ops/sec): "
        "2268.0 MB/s\n"
        "Did 805000 EVP-AES-128-GCM encrypt (16384 bytes) operations in 1000987us "
        "(804206.2 ops/sec): 13176.1 MB/s\n"
        "Did 128000 AEAD-ChaCha20-Poly1305 seal (16384 bytes) operations in 1002238us "
        "(127714.2 ops/sec): 2092.5 MB/s\n"
        "Did 1000 RSA 2048 signing operations in 1000000us (1000.0 ops/sec)\n"
    )
    rows = read(text).rows
    assert [(row.scenario.variant, row.unit) for row in rows] == [
        ("aes-256-gcm-seal-16384", "MiB/s"),
        ("aes-128-gcm-seal-16384", "MiB/s"),
        ("chacha20-poly1305-seal-16384", "MiB/s"),
        ("rsa-2048-signing", "operations/s"),
    ]
    assert rows[0].value == pytest.approx(2268.0e6 / 2**20)
    wrong = read(text.replace("2268.0 MB/s", "226.8 MB/s")).rows[0]
    assert wrong.note == "226.8 MB/s printed where count, size and time give 2268.0"


def test_openssl_speed_as_two_releases_print_it() -> None:
    lines = {
        "3.0.19": "Doing ChaCha20-Poly1305 for 1s on 2 size blocks: 9112680 ChaCha20-Poly1305's "
        "in 0.19s",
        "3.3.2": "Doing AES-256-GCM ops for 3s on 16384 size blocks: 434715 AES-256-GCM ops in "
        "3.00s",
    }
    for version, doing in lines.items():
        text = (
            f"{doing}\n"
            f"version: {version}\n"
            "built on: Fri Apr  3 12:29:32 2026 UTC\n"
            "options: bn(64,64)\n"
            "compiler: gcc -fPIC -pthread -m64\n"
            "CPUINFO: OPENSSL_ia32cap=0xfffa32034f8bffff:0x1a415f46f1bf2ffb\n"
            "The 'numbers' are in 1000s of bytes per second processed.\n"
            "type              2 bytes     31 bytes\n"
            "ChaCha20-Poly1305    95922.95k   238329.41k\n"
        )
        assert [(row.scenario.variant, row.value) for row in read(text).rows] == [
            ("chacha20-poly1305-seal-2", 95922.95 * 1000 / 2**20),
            ("chacha20-poly1305-seal-31", 238329.41 * 1000 / 2**20),
        ]


def variants(text: str) -> dict[str, tuple[float, str]]:
    return {str(r.scenario.variant): (r.value, r.unit) for r in read(text).rows}


KEYS_30 = """\
                  sign    verify    sign/s verify/s
rsa 2048 bits 0.000313s 0.000018s   3200.0  56632.0
                              sign    verify    sign/s verify/s
 256 bits ecdsa (nistp256)   0.0000s   0.0001s  44794.4  13466.7
                              op      op/s
 253 bits ecdh (X25519)   0.0000s  31010.0
 384 bits ecdh (nistp384)   0.0011s    900.1
                              sign    verify    sign/s verify/s
 253 bits EdDSA (Ed25519)   0.0000s   0.0001s  26815.0   9623.8
"""
KEYS_35 = """\
                   sign    verify    encrypt   decrypt   sign/s verify/s  encr./s  decr./s
rsa  2048 bits 0.000450s 0.000013s 0.000014s 0.000454s   2220.3  77590.4  73102.4   2201.3
                               keygen    encaps    decaps keygens/s  encaps/s  decaps/s
                     ML-KEM-768 0.000038s 0.000024s 0.000037s   26315.0   41666.0   27027.0
"""
KEYS_MACHINE = """\
+F2:2:2048:3145.000000:58884.210526
+F4:3:256:40814.285714:14133.333333
+F5:22:253:32084.210526:0.000031
"""


def test_openssl_speed_of_keys_joins_our_primitives() -> None:
    found = variants(KEYS_30)
    assert found == {
        "rsa-2048-sign": (3200.0, "operations/s"),
        "rsa-2048-verify": (56632.0, "operations/s"),
        "ecdsa-p256-sign": (44794.4, "operations/s"),
        "ecdsa-p256-verify": (13466.7, "operations/s"),
        "x25519-agree": (31010.0, "operations/s"),
        "secp384r1-agree": (900.1, "operations/s"),
        "ed25519-sign": (26815.0, "operations/s"),
        "ed25519-verify": (9623.8, "operations/s"),
    }
    (remark,) = read(KEYS_30).remarks
    assert (remark.line, remark.code) == (2, "method")
    assert remark.message.startswith("openssl speed signs a digest, RSA with PKCS #1 v1.5")
    newer = variants(KEYS_35)
    assert newer["rsa-2048-sign"] == (2220.3, "operations/s")
    assert newer["rsa-2048-decrypt"] == (2201.3, "operations/s")
    assert newer["ml-kem-768-encapsulate"] == (41666.0, "operations/s")
    ours = {name for name in found | newer if parse_variant(name).kind == "primitive"}
    assert len(ours) == 5 + 3 + 3


def test_openssl_speed_for_machines_is_read_as_its_table() -> None:
    assert list(variants(KEYS_MACHINE).values()) == [
        (3145.0, "operations/s"),
        (58884.210526, "operations/s"),
        (40814.285714, "operations/s"),
        (14133.333333, "operations/s"),
        (32084.210526, "operations/s"),
    ]
    assert list(variants(KEYS_MACHINE)) == list(variants(KEYS_30))[:5]
    seconds = "+F2:2:2048:0.000318:0.000017\n+F5:22:253:0.000031:32084.210526\n"  # before 3.0
    assert [round(value) for value, _ in variants(seconds).values()] == [3145, 58824, 32258]
    command = "openssl speed -mr -aead -decrypt -evp aes-256-gcm\n"
    progress = "+DT:AES-256-GCM:1:16384\n+R:57372:AES-256-GCM:0.200000\n"
    ciphers = "+H:31:16384\n+F:25:AES-256-GCM:76461663.16:4699914240.00\n"
    assert variants(command + progress + ciphers) == {
        "aes-256-gcm-open-31": (76461663.16 / 2**20, "MiB/s"),
        "aes-256-gcm-open-16384": (4699914240.00 / 2**20, "MiB/s"),
    }
    with pytest.raises(FormatError, match=r"found '\+F9:1', expected \+F:N:NAME"):
        read(ciphers + "+F9:1\n" + ciphers)


CIPHERS_MACHINE = "+H:31:16384\n+F:25:AES-256-GCM:76461663.16:4699914240.00\n"
SLOW_CIPHERS = (
    "type       16 bytes   1024 bytes\nsha256    9000.00     20000.00k\nmd5  1.00k    9.50 \n"
)


@pytest.mark.parametrize(
    "text", [SPEED, SLOW_CIPHERS, KEYS_30, KEYS_35, KEYS_MACHINE, CIPHERS_MACHINE]
)
def test_openssl_speed_cut_anywhere_has_no_figure_that_was_not_printed(text: str) -> None:
    whole = variants(text)
    for cut in range(len(text)):
        try:
            found = variants(text[:cut])
        except UserError:  # before the first figures the format is not known yet
            continue
        assert found.items() <= whole.items(), text[:cut]


@pytest.mark.parametrize(
    ("command", "name", "remark"),
    [
        ("", "aes-256-gcm-seal-16384", "the file has no command"),
        ("openssl speed -evp aes-256-gcm\n", "aes-256-gcm-seal-16384", "measured without -aead"),
        ("openssl speed -aead -evp aes-256-gcm\n", "aes-256-gcm-seal-16384", None),
        ("openssl speed -aead -decrypt -evp aes-256-gcm\n", "aes-256-gcm-open-16384", None),
    ],
)
def test_cipher_rows_of_openssl_speed_join_our_primitives(
    command: str, name: str, remark: str | None
) -> None:
    parsed = read(f"{command}type          16384 bytes\nAES-256-GCM    4744289.01k\n")
    assert [row.scenario.variant for row in parsed.rows] == [name]
    assert [found.code for found in parsed.remarks] == (["method"] if remark else [])
    assert all(found.message.startswith(str(remark)) for found in parsed.remarks)


def test_a_hash_is_neither_sealed_nor_opened() -> None:
    text = "openssl speed sha256\ntype             16 bytes\nsha256          9000.00 \n"
    assert variants(text) == {"sha256-16": (9000 / 2**20, "MiB/s")}


def test_published_points_of_two_charts_are_one_and_agree() -> None:
    header = (
        "figure,operation,protocol,resumption,side,implementation,version,threads,"
        "handshakes_per_second_per_thread\n"
    )
    line = "{},handshake,1.3,ticket,server,OpenSSL,3.6.1,80,{}\n"
    text = header + line.format("before", 600.4) + line.format("after", 600.4)
    assert [figure(row) for row in read(text).rows] == [
        ("TLS 1.3 resumed handshake, ticket, 80 threads, server", 600.4, None)
    ]
    with pytest.raises(FormatError, match=r":3: found 601 where line 2 has 600\.4"):
        read(header + line.format("before", 600.4) + line.format("after", 601))


def test_published_rows_belong_to_the_run_of_their_host() -> None:
    text = (
        "architecture,implementation,version,key_shares,median_microseconds\n"
        "amd64,rustls,0.23.37,X25519,16.05\n"
        "arm64,rustls,0.23.37,X25519,20.82\n"
    )
    assert [row.value for row in read(text).rows] == [16.05]


@pytest.mark.parametrize(
    ("data", "line", "found"),
    [
        (BULK.encode("utf-16"), 1, "UTF-16"),
        (b"\xff" + BULK.encode(), 1, "byte 0xff"),
        (BULK.replace("6512.01", "-6512.01").encode(), 3, "'-6512.01'"),
        (BULK.replace("6512.01", "nan").encode(), 3, "'nan'"),
        (BULK.replace("send: 6512.01 MB/s", "send: 6512.01 GB/s").encode(), 3, "unit 'GB/s'"),
        (BULK.replace("TLSv1.2 with", "TLSv1.3 with").encode(), 2, "TLSv1.3 with"),
        (BULK.replace("AES128", "AES127").encode(), 2, "ECDHE-RSA-AES127"),
        (b"send: 6512.01 MB/s\n", 1, "a figure without a command"),
        (BULK.encode() + b"Segmentation fault\n", 5, "'Segmentation fault'"),
    ],
)
def test_invalid_output_is_rejected_with_its_line(data: bytes, line: int, found: str) -> None:
    with pytest.raises(FormatError) as error:
        Document("openssl-bench/2023").parsed(data)
    assert error.value.line == line
    assert found in error.value.found


def test_formats_are_distinguished() -> None:
    with pytest.raises(UserError, match="no line of a known format"):
        detect(b"hello\n", "a.txt", "a.txt")
    with pytest.raises(UserError, match="could be openssl-bench/2023, rustls-bench/2023; choose"):
        detect((BULK + RUSTLS).encode(), "output_1", "output_1")


def test_a_size_of_nothing_is_rejected_with_its_line() -> None:
    text = "type             0 bytes\naes-256-gcm-seal       76543.21k\n"
    with pytest.raises(FormatError, match=r"output_1:2: found variant 'aes-256-gcm-seal-0'"):
        read(text)
