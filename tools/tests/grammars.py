"""Documents of each foreign format, made by printing known figures in its grammar."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy, composite

from tlsperf.contract.record import Scenario
from tlsperf.contract.run import HostFacts, Implementation, RawFile, Run, Tool
from tlsperf.load.formats import FOREIGN
from tlsperf.load.rows import Parsed, RawInput
from tlsperf.load.spellings import OPENSSL_SUITES, RUSTLS_SUITES

RUN = Run(
    id="2026-01-01-test",
    date=date(2026, 1, 1),
    host_id="a-host",
    host=HostFacts(id="a-host", cpu="a cpu", architecture="x86_64"),
    tool=Tool(name="a tool"),
    implementations=[
        Implementation(id="openssl-3.6.1", library="openssl", version="3.6.1"),
        Implementation(id="rustls-0.23.37-aws-lc-rs", library="rustls", version="0.23.37"),
        Implementation(id="boringssl-30cd935", library="boringssl", version="30cd935"),
    ],
    files=[RawFile(path="raw/x", sha256="0" * 64, bytes=0, format="published")],
)


@dataclass
class Document:
    """A file's text and the figures it holds."""

    format: str
    text: str = ""
    name: str = "output_1"
    figures: list[tuple[Scenario, str, float, str]] = field(default_factory=list)
    """(scenario, statistic, value, unit)"""
    remarks: list[str] = field(default_factory=list)
    implementation: str = "openssl-3.6.1"

    def line(self, *words: str, separator: str = "\t") -> None:
        self.text += separator.join(words) + "\n"

    def parsed(self, data: bytes | None = None) -> Parsed:
        """What the format's module makes of it, or of other bytes in its place."""
        given = self.text.encode() if data is None else data
        source = RawInput(given, f"raw/{self.name}", RUN, self.implementation, 1)
        return FOREIGN[self.format].parse([source])


def found(parsed: Parsed) -> list[tuple[Scenario, str, float, str]]:
    return [(r.scenario, r.statistic, r.value, r.unit) for r in parsed.rows]


_positive = st.floats(min_value=0.01, max_value=9e6, allow_nan=False)
_general = _positive.map(lambda value: f"{value:g}")
_fixed = _positive.map(lambda value: f"{value:.2f}")
_MODES = {"handshake": "none", "handshake-resume": "session-id", "handshake-ticket": "ticket"}
_CERTIFICATES = {"RSA": "rsa-2048", "ECDSA": "ecdsa-p256"}


def _rates(
    draw: DrawFn, numbers: SearchStrategy[str], print_: Callable[[float], str]
) -> tuple[list[list[str]], int]:
    """The words of both sides' rates: of one thread, or of several with total and mean."""
    threads = draw(st.integers(1, 4))
    sides = [[draw(numbers) for _ in range(threads)] for _ in range(2)]
    if threads == 1 and draw(st.booleans()):
        return sides, 1
    printed = []
    for rates in sides:
        total = sum(map(float, rates))
        words = ["threads", str(threads), *rates]
        printed.append([*words, "total", print_(total), "per-thread", print_(total / threads)])
    return printed, threads


def _rate(words: list[str]) -> float:
    return float(words[0] if len(words) == 1 else words[words.index("total") + 1])


@composite
def openssl_2023(draw: DrawFn) -> Document:
    document = Document("openssl-bench/2023")
    suites = draw(st.lists(st.sampled_from(list(OPENSSL_SUITES)), min_size=1, unique=True))
    for name in suites:
        suite = OPENSSL_SUITES[name]
        ecdsa = suite.signature == "ECDSA" or (not suite.signature and draw(st.booleans()))
        echo = ["env", draw(st.sampled_from(["LD_LIBRARY_PATH=../openssl", "A=b"])), "./bench"]
        flag = ["--ecdsa"] if ecdsa else draw(st.sampled_from([[], ["--rsa"]]))
        mode = draw(st.sampled_from(["bulk", *_MODES]))
        size = draw(st.sampled_from([16, 8192, 1 << 20]))
        end = [str(size)] if mode == "bulk" else []
        document.line(*echo, *flag, mode, name, *end, separator=" ")
        group = None
        if mode != "handshake":
            kx = draw(st.sampled_from([None, "(null)", "x25519", "X25519MLKEM768"]))
            version = f"TLSv{suite.protocol}"
            tail = ["kx", kx] if kx else []
            document.line("negotiated", version, "with", name, *tail, separator=" ")
            groups = {"x25519": "X25519", "X25519MLKEM768": "X25519MLKEM768"}
            if mode == "bulk" or suite.protocol == "1.3":  # no keys in a TLS 1.2 resumption
                group = groups.get(kx or "")
        if mode in ("handshake-resume", "handshake-ticket"):
            document.line("connects: 0, connects-good: 0, accepts: 9, accepts-good: 9")
            document.line("sessions: 1, hits: 8, misses: 0")
        sides = (
            [("send:", "sender"), ("recv:", "receiver")]
            if mode == "bulk"
            else draw(st.permutations([("client", "client"), ("server", "server")]))
        )
        for word, side in sides:
            rate = draw(_general)
            if mode == "bulk":
                document.line(word, rate, "MB/s", separator=" ")
            else:
                document.line("handshakes", word, rate, "handshakes/s")
            scenario = Scenario.model_validate(
                {
                    "operation": "transfer" if mode == "bulk" else "handshake",
                    "protocol": suite.protocol,
                    "cipher_suite": suite.iana,
                    "key_exchange": group,
                    "certificate": _CERTIFICATES["ECDSA" if ecdsa else "RSA"],
                    "authentication": "server",
                    "resumption": _MODES.get(mode, "none"),
                    "side": side,
                    "threads": 1,
                    "size": size if mode == "bulk" else None,
                }
            )
            unit = "MiB/s" if mode == "bulk" else "handshakes/s"
            document.figures.append((scenario, "value", float(rate), unit))
    return document


@composite
def openssl_2024(draw: DrawFn) -> Document:
    document = Document("openssl-bench/2024")
    boringssl = draw(st.booleans())
    for name in draw(st.lists(st.sampled_from(list(OPENSSL_SUITES)), min_size=1, unique=True)):
        suite = OPENSSL_SUITES[name]
        ecdsa = suite.signature == "ECDSA" or (not suite.signature and draw(st.booleans()))
        mode = draw(st.sampled_from(["bulk", *_MODES]))
        flag = ["--ecdsa"] if ecdsa else []
        end = ["1048576"] if mode == "bulk" else []
        document.line("env", "./bench", *flag, mode, name, *end, separator=" ")
        if mode in ("handshake-resume", "handshake-ticket"):
            document.line("connects: 9, connects-good: 9, accepts: 9, accepts-good: 9")
            document.line("sessions: 1, hits: 8, misses: 0")
        version = "TLSv1/SSLv3" if boringssl else f"TLSv{suite.protocol}"
        word = "handshakes" if mode == "handshake" else mode
        sides = [("send", "sender"), ("recv", "receiver")]
        if mode != "bulk":
            sides = [("server", "server"), ("client", "client")]
        unit = "MB/s" if mode == "bulk" else "handshakes/s"
        rates, threads = _rates(draw, _general, "{:g}".format)
        for (printed, side), rate in zip(sides, rates, strict=True):
            document.line(word, printed, version, name, *rate, unit)
            scenario = Scenario.model_validate(
                {
                    "operation": "transfer" if mode == "bulk" else "handshake",
                    "protocol": suite.protocol,
                    "cipher_suite": suite.iana,
                    "certificate": _CERTIFICATES["ECDSA" if ecdsa else "RSA"],
                    "authentication": "server",
                    "resumption": _MODES.get(mode, "none"),
                    "side": side,
                    "threads": threads,
                    "size": 1 << 20 if mode == "bulk" else None,
                }
            )
            shown = "MiB/s" if mode == "bulk" else "handshakes/s"
            document.figures.append((scenario, "value", _rate(rate), shown))
    return document


def _rustls(draw: DrawFn, document: Document, with_keys: bool) -> Document:
    for name in draw(st.lists(st.sampled_from(list(RUSTLS_SUITES)), min_size=1, unique=True)):
        suite = RUSTLS_SUITES[name]
        version = f"TLSv{suite.protocol.replace('.', '_')}"
        mode = draw(st.sampled_from(["bulk", *_MODES]))
        program = draw(
            st.sampled_from(["target/release/examples/bench", "./target/release/rustls-bench"])
        )
        document.line(program, mode, name, separator=" ")
        unbuffered = with_keys and draw(st.booleans())
        suffix = "-unbuffered" if unbuffered else ""
        rates, threads = _rates(draw, _fixed, "{:.2f}".format)
        common = {
            "protocol": suite.protocol,
            "cipher_suite": suite.iana,
            "threads": threads,
            "variant": "unbuffered" if unbuffered else None,
        }
        if mode == "bulk":
            fragment = draw(st.sampled_from([None, 512])) if with_keys else None
            column = [f"max_fragment_size:{fragment or 'default'}"] if with_keys else []
            for (word, side), rate in zip(
                [("send", "sender"), ("recv", "receiver")], rates, strict=True
            ):
                document.line("bulk" + suffix, version, name, *column, word, *rate, "MB/s")
                scenario = Scenario.model_validate(
                    {
                        **common,
                        "operation": "transfer",
                        "certificate": None if suite.signature == "ECDSA" else "rsa-2048",
                        "authentication": "server",
                        "resumption": "none",
                        "side": side,
                        "size": 1 << 20,
                        "record_size": fragment,
                    }
                )
                document.figures.append((scenario, "value", _rate(rate), "MiB/s"))
            continue
        resumption, word = draw(
            st.sampled_from(
                [("none", "no-resume"), ("session-id", "sessionid"), ("ticket", "tickets")]
            )
        )
        mutual = draw(st.booleans())
        keys = {
            "RSA": {"Rsa": "rsa-2048", "Rsa2048": "rsa-2048"},
            "ECDSA": {
                "Ecdsa": "ecdsa-p256",
                "EcdsaP256": "ecdsa-p256",
                "EcdsaP384": "ecdsa-p384",
                "Ed25519": "ed25519",
            },
            None: {"Ed25519": "ed25519", "Rsa2048": "rsa-2048"},
        }[suite.signature]
        key = draw(st.sampled_from(list(keys)))
        certificate = keys[key]
        if not with_keys:
            certificate = _CERTIFICATES[suite.signature] if suite.signature else None  # type: ignore[assignment]
        unit = "handshakes/s" if with_keys and draw(st.booleans()) else "handshake/s"
        for side, rate in zip(["client", "server"], rates, strict=True):
            document.line(
                "handshakes" + suffix,
                version,
                *([key] if with_keys else []),
                name,
                side,
                "mutual" if mutual else "server-auth",
                word,
                *rate,
                unit,
            )
            scenario = Scenario.model_validate(
                {
                    **common,
                    "operation": "handshake",
                    "certificate": certificate,
                    "authentication": "mutual" if mutual else "server",
                    "resumption": resumption,
                    "side": side,
                }
            )
            document.figures.append((scenario, "value", _rate(rate), "handshakes/s"))
    return document


@composite
def rustls_2019(draw: DrawFn) -> Document:
    return _rustls(draw, Document("rustls-bench/2019"), with_keys=False)


@composite
def rustls_2023(draw: DrawFn) -> Document:
    return _rustls(draw, Document("rustls-bench/2023"), with_keys=True)


@composite
def bench_memory(draw: DrawFn) -> Document:
    document = Document("bench-memory")
    suites = draw(st.sampled_from([OPENSSL_SUITES, RUSTLS_SUITES]))
    sessions = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=5, unique=True))
    name = draw(st.sampled_from(list(suites)))
    for count in sessions:
        document.line(
            *("/usr/bin/env", "time", "-f", "%M", "./bench", "memory", name, str(count)),
            separator=" ",
        )
        kibibytes = draw(st.integers(1, 10**9))
        document.line(str(kibibytes))
        scenario = Scenario.model_validate(
            {
                "operation": "memory",
                "protocol": suites[name].protocol,
                "cipher_suite": suites[name].iana,
                "variant": f"sessions-{count}",
            }
        )
        document.figures.append((scenario, "value", kibibytes * 1024.0, "bytes"))
    return document


@composite
def bench_latency(draw: DrawFn) -> Document:
    thread = draw(st.sampled_from(["0", "17", "ThreadId(2)"]))
    side = draw(st.sampled_from(["client", "server"]))
    document = Document("bench-latency", name=f"some-run-{side}-{thread}-latency.tsv")
    latencies = draw(st.lists(st.integers(0, 10**12), min_size=1, max_size=60))
    for index, latency in enumerate(latencies):
        document.line(f"{1795230099 + index}.38374996", f"{latency / 1e8:.8f}")
    ordered = sorted(float(f"{latency / 1e8:.8f}") for latency in latencies)
    scenario = Scenario.model_validate(
        {"operation": "handshake", "side": side, "threads": 1, "variant": "some-run"}
    )
    shares = {"p5": 50, "p50": 500, "p90": 900, "p99": 990, "p99.9": 999, "max": 1000}
    for statistic, share in shares.items():
        rank = -(-share * len(ordered) // 1000)  # the smallest rank with that share below it
        document.figures.append((scenario, statistic, ordered[rank - 1], "µs"))
    return document


@composite
def bssl_speed(draw: DrawFn) -> Document:
    document = Document("bssl-speed")
    ciphers = ["AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"]
    rows = [
        (cipher, direction, size)
        for cipher in ciphers
        for direction in ("seal", "open")
        for size in (None, 16, 16384)
    ]
    for cipher, direction, size in draw(st.lists(st.sampled_from(rows), min_size=1, unique=True)):
        count = draw(st.integers(1, 10**9))
        microseconds = draw(st.integers(10**5, 10**7))
        operations = count / microseconds * 1e6
        what = f"{cipher} ({size} bytes) {direction}" if size else f"{cipher} {direction} init"
        line = f"Did {count} {what} operations in {microseconds}us ({operations:.1f} ops/sec)"
        value, unit = float(f"{operations:.1f}"), "operations/s"
        if size:
            megabytes = f"{operations * size / 1e6:.1f}"
            line += f": {megabytes} MB/s"
            value, unit = float(megabytes) * (1e6 / (1 << 20)), "MiB/s"
        document.line(line)
        variant = f"{cipher.lower()}-{direction}-{size or 'init'}"
        scenario = Scenario(operation="primitive", variant=variant)
        document.figures.append((scenario, "value", value, unit))
    return document


@composite
def openssl_speed(draw: DrawFn) -> Document:
    document = Document("openssl-speed")
    command = draw(st.sampled_from(["", " -decrypt"]))
    document.line(f"./apps/openssl speed -aead{command} -evp aes-256-gcm")
    sizes = draw(st.lists(st.integers(1, 65536), min_size=1, max_size=6, unique=True))
    document.line("type     ", *(f"{size} bytes" for size in sizes), separator="  ")
    names = ["AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"]
    for name in draw(st.lists(st.sampled_from(names), min_size=1, unique=True)):
        printed, rates = zip(*(draw(_speed()) for _ in sizes), strict=True)
        document.line(name + "   ", *printed, separator="  ")
        direction = "open" if command else "seal"
        for size, rate in zip(sizes, rates, strict=True):
            scenario = Scenario(operation="primitive", variant=f"{name.lower()}-{direction}-{size}")
            document.figures.append((scenario, "value", rate / (1 << 20), "MiB/s"))
    return document


@composite
def _speed(draw: DrawFn) -> tuple[str, float]:
    """Bytes per second as `openssl speed` prints them: with k above 10,000, else with a space."""
    if draw(st.booleans()):
        value = f"{draw(st.floats(10.01, 9e9)):.2f}"
        return f"{value}k", float(value) * 1000
    value = f"{draw(st.floats(0.01, 10000)):.2f}"
    return f"{value} ", float(value)


_plain = _general.filter(lambda text: "e" not in text)
_SUITES = {
    "1.2": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "1.3": "TLS_AES_256_GCM_SHA384",
}


def _published_report(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("operation", "protocol", "cipher_suite", "certificate", "resumption", "side"),
        *("implementation", "version", "value", "unit"),
        separator=",",
    )
    sides = [("sending", "sender"), ("receiving", "receiver")]
    rows = [(protocol, side) for protocol in _SUITES for side in sides]
    for protocol, (printed, side) in draw(st.lists(st.sampled_from(rows), min_size=1, unique=True)):
        value = draw(_plain)
        cells = ["transfer", protocol, "aes-256-gcm", "rsa-2048", "none", printed]
        document.line(*cells, "OpenSSL", "3.6.1", value, "MB/s", separator=",")
        fields = {
            "operation": "transfer",
            "protocol": protocol,
            "cipher_suite": _SUITES[protocol],
            "certificate": "rsa-2048",
            "resumption": "none",
            "side": side,
        }
        document.figures.append((Scenario.model_validate(fields), "value", float(value), "MiB/s"))
    return document


def _published_side_by_side(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("operation", "protocol", "cipher_suite", "resumption", "side"),
        *("openssl_3.6.1", "rustls_0.23.37", "vs", "unit"),
        separator=",",
    )
    rows = [(protocol, side) for protocol in _SUITES for side in ("client", "server")]
    for protocol, side in draw(st.lists(st.sampled_from(rows), min_size=1, unique=True)):
        values = [draw(_plain), draw(_plain)]
        cells = ["handshake", protocol, _SUITES[protocol], "ticket", side, *values]
        document.line(*cells, "+1%", "handshakes/s", separator=",")
        fields = {
            "operation": "handshake",
            "protocol": protocol,
            "cipher_suite": _SUITES[protocol],
            "resumption": "ticket",
            "side": side,
        }
        scenario = Scenario.model_validate(fields)
        document.figures += [(scenario, "value", float(v), "handshakes/s") for v in values]
    return document


def _published_threads(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("figure", "operation", "protocol", "resumption", "side", "implementation", "version"),
        *("threads", "handshakes_per_second_per_thread"),
        separator=",",
    )
    rows = draw(st.lists(st.integers(1, 110), min_size=1, unique=True))
    lines = []
    for threads in rows:
        value = draw(_plain)
        cells = ["handshake", "1.2", "ticket", "server", "rustls", "0.23.37", str(threads), value]
        lines.append(cells)
        fields = {
            "operation": "handshake",
            "protocol": "1.2",
            "cipher_suite": _SUITES["1.2"],
            "certificate": "rsa-2048",
            "resumption": "ticket",
            "side": "server",
            "threads": threads,
        }
        scenario = Scenario.model_validate(fields)
        document.figures.append((scenario, "value", float(value), "handshakes/s/thread"))
    for figure in ["before"] + ["after"] * draw(st.integers(0, 1)):  # the same points again
        for cells in lines:
            document.line(figure, *cells, separator=",")
    return document


def _published_percentiles(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("figure", "protocol", "resumption", "side", "implementation", "version", "threads"),
        *("samples", "percentile", "latency_ms"),
        separator=",",
    )
    chosen = draw(st.lists(st.sampled_from([5, 50, 90, 99]), min_size=1, unique=True))
    for percentile in chosen:
        microseconds = draw(st.integers(1, 10**7))
        printed = f"{microseconds / 1000:.3f}"
        cells = ["1.3", "none", "server", "BoringSSL", "30cd935", "80", "409600"]
        document.line(
            *("latency-fullhs-tls13-server", *cells, str(percentile), printed), separator=","
        )
        fields = {
            "operation": "handshake",
            "protocol": "1.3",
            "cipher_suite": _SUITES["1.3"],
            "certificate": "rsa-2048",
            "resumption": "none",
            "side": "server",
            "threads": 80,
        }
        scenario = Scenario.model_validate(fields)
        document.figures.append((scenario, f"p{percentile}", float(microseconds), "µs"))
    return document


def _published_key_exchanges(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("operation", "protocol", "certificate", "resumption", "side", "implementation"),
        *("version", "key_exchange", "value", "unit"),
        separator=",",
    )
    groups = {
        "X25519": ("X25519", None),
        "X25519MLKEM768 (shared X25519 setup)": ("X25519MLKEM768", "shared-x25519"),
        "X25519MLKEM768 (separate X25519 setup)": ("X25519MLKEM768", "separate-x25519"),
    }
    for printed in draw(st.lists(st.sampled_from(list(groups)), min_size=1, unique=True)):
        value = draw(_plain)
        cells = ["handshake", "1.3", "ecdsa-p256", "resumed", "client", "rustls", "0.23.37"]
        document.line(*cells, printed, value, "handshakes/s", separator=",")
        fields = {
            "operation": "handshake",
            "protocol": "1.3",
            "key_exchange": groups[printed][0],
            "certificate": "ecdsa-p256",
            "resumption": "resumed",
            "side": "client",
            "variant": groups[printed][1],
        }
        scenario = Scenario.model_validate(fields)
        document.figures.append((scenario, "value", float(value), "handshakes/s"))
    return document


def _published_client_hellos(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("architecture", "implementation", "version", "key_shares", "median_microseconds"),
        separator=",",
    )
    shares = {
        "X25519": "X25519",
        "X25519MLKEM768 + X25519 (separate)": "X25519MLKEM768+X25519-separate",
    }
    for printed in draw(st.lists(st.sampled_from(list(shares)), min_size=1, unique=True)):
        for architecture in ("arm64", "amd64"):
            value = draw(_plain)
            document.line(architecture, "rustls", "0.23.37", printed, value, separator=",")
        fields = {
            "operation": "client-hello",
            "protocol": "1.3",
            "side": "client",
            "variant": shares[printed],
        }
        document.figures.append((Scenario.model_validate(fields), "value", float(value), "µs"))
    return document


@composite
def published(draw: DrawFn) -> Document:
    tables = [
        _published_report,
        _published_side_by_side,
        _published_threads,
        _published_percentiles,
        _published_key_exchanges,
        _published_client_hellos,
    ]
    return draw(st.sampled_from(tables))(draw)


_PERFTOOLS = {
    "RSA signature operation": ("rsasign", "rsa-512-sign-sha1-digest"),
    "EVP_PKEY_new_raw_public_key_ex() call for algorithm ML-KEM-768": (
        "newrawkey",
        "ml-kem-768-new-raw-public-key",
    ),
    "X509_STORE_CTX_get1_issuer() call": ("x509storeissuer", "x509-store-get1-issuer"),
    "SSL/BIO creation call": ("sslnew", "ssl-new"),
    "RAND_bytes() call": ("randbytes", "rand-bytes"),
}


@composite
def openssl_perftools(draw: DrawFn) -> Document:
    document = Document("openssl-perftools")
    figures = st.floats(min_value=0.05, max_value=9e6).map(lambda value: f"{value:.6f}")
    threads = draw(st.sampled_from([None, 1, 16]))
    if draw(st.booleans()):
        options = draw(st.sampled_from(["", "-s", "-s -P -o 4"])) if threads else ""
        if threads:
            command = f"./handshake {options} certs {threads}"
            document.line("LD_LIBRARY_PATH=..", *command.split(), separator=" ")
        average, rate = draw(figures), draw(figures)
        document.line(f"Average time per handshake: {average}us")
        document.line(f"Handshakes per second: {rate}")
        variant = f"both-sides{options.replace(' -', '-').replace(' ', '-')}"
        scenario = Scenario(
            operation="handshake", resumption="none", threads=threads, variant=variant
        )
        document.figures.append((scenario, "value", float(average), "µs"))
        document.figures.append((scenario, "value", float(rate), "handshakes/s"))
    works = st.lists(st.sampled_from(list(_PERFTOOLS)), unique=True)
    for work in draw(works if document.text else works.filter(bool)):
        program, variant = _PERFTOOLS[work]
        own = draw(st.integers(1, 512))
        document.line(f"$ ./{program} {own}")
        average = draw(figures)
        document.line(f"Average time per {work}: {average}us")
        scenario = Scenario(operation="primitive", threads=own, variant=variant)
        document.figures.append((scenario, "value", float(average), "µs"))
    return document


@composite
def tls_perf(draw: DrawFn) -> Document:
    document = Document("tls-perf")
    version = draw(st.sampled_from(["1.2", "1.3", "Any of 1.2 or 1.3"]))
    cipher = draw(st.sampled_from(["default", "ECDHE-RSA-AES128-GCM-SHA256"]))
    tickets = draw(st.sampled_from(["off", "advertise", "on"]))
    document.line("Running TLS benchmark with following settings:")
    document.line("Host:        192.168.100.4 : 443")
    document.line(f"TLS version: {version}")
    document.line(f"Cipher:      {cipher}")
    document.line(f"TLS tickets: {tickets}")
    document.line("Duration:    10\n")
    document.line(
        "TLS hs in progress 252 [382 h/s], TCP open conns 252 [146 hs in progress], Errors 0"
    )
    document.line("( All peers are active, start to gather statistics )")
    document.line("========================================")
    rates = [str(draw(st.integers(1, 10**7))) for _ in range(4)]
    times = [draw(_positive).__format__(".6g") for _ in range(4)]
    if draw(st.booleans()):
        unit, factor = "microseconds", 1.0
        document.line(" TOTAL:                  SECONDS 7; HANDSHAKES 5443")
        maximum, mean, low, minimum = rates
        document.line(
            f" MEASURES (seconds):     MAX h/s {maximum}; AVG h/s {mean}; 95P h/s {low}; "
            f"MIN h/s {minimum}"
        )
    else:
        unit, factor = "ms", 1000.0
        document.line(" TOTAL:           SECONDS 7; HANDSHAKES 5443")
        document.line(
            " HANDSHAKES/sec:  MAX {}; AVG {}; 95P {}; MIN {}".format(*rates),
        )
    document.line(f" LATENCY ({unit}): MIN {{}}; AVG {{}}; 95P {{}}; MAX {{}}".format(*times))
    suite = version == "1.2" and cipher != "default"
    scenario = Scenario.model_validate(
        {
            "operation": "handshake",
            "protocol": version if len(version) == 3 else None,
            "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" if suite else None,
            "resumption": None if tickets == "on" else "none",
            "variant": "tcp-tickets" if tickets == "on" else "tcp",
        }
    )
    document.figures = [
        (scenario, "value", float(rates[1]), "handshakes/s"),
        (scenario, "value", float(times[1]) * factor, "µs"),
        (scenario, "max", float(times[3]) * factor, "µs"),
    ]
    document.remarks = ["tls-perf measures client, network and server together"]
    return document


@composite
def h1load(draw: DrawFn) -> Document:
    document = Document("h1load")
    raw = draw(st.booleans())
    reuse = draw(st.booleans())
    options = f"{'-ll ' if raw else ''}{'--tls-reuse ' if reuse else ''}--tls-ver TLS1.3"
    document.line(f"$ h1load -e -P {options} -c 100 -r 1 https://127.0.0.1:4443/")
    if raw:
        document.line(
            "#_____time conns tot_conn  tot_req      tot_bytes    err thr cps rps Bps bps "
            "ttfb(us) ttlb(us)"
        )
    else:
        document.line(
            "#     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  bps   ttfb"
        )
    rates = draw(st.lists(st.integers(100, 99900).map(lambda n: n // 100 * 100), min_size=1))
    for second, rate in enumerate(rates, start=1):
        totals = [str(second), "100", str(rate), str(rate), "100000", "0"]
        human = f"{rate // 1000}k{rate // 100 % 10}" if rate >= 1000 else f"{rate}."
        ends = (
            ["100", f"{rate}.0", "9.0", "9.0", "9.0", "9.0", "-"]
            if raw
            else [human, "9.0", "1k", "-"]
        )
        document.line(*totals, *ends, separator=" ")
    document.line("#======= Percentiles for time-to-first-byte and time-to-last-byte =======")
    document.line("# use $3:$5 $3:$7 with logscale X")
    document.line("#pctl   tail   invtail   ttfbcnt ttfb(ms)   ttlbcnt ttlb(ms)")
    document.line("50      50     2             81234    5.101     81234    5.101")
    document.line("100     1.1e-14 250000       81234   25.344     81234   25.344")
    scenario = Scenario.model_validate(
        {
            "operation": "handshake",
            "protocol": "1.3",
            "resumption": None if reuse else "none",
            "variant": "tcp-and-request-tls-reuse" if reuse else "tcp-and-request",
        }
    )
    median = sorted(rates)[(len(rates) - 1) // 2]
    document.figures = [(scenario, "value", float(median), "handshakes/s")]
    document.remarks = [
        "h1load measures client, network and server together, and each connection has one HTTP "
        "request"
    ]
    return document


@composite
def rustls_icounts(draw: DrawFn) -> Document:
    document = Document("rustls-icounts", implementation="rustls-0.23.37-aws-lc-rs")
    resumptions = {"no_resume": ("none", 1), "session_id": ("session-id", 30)} | {
        "tickets": ("ticket", 30)
    }
    suites = {
        "1.2_rsa_aes": ("1.2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "rsa-2048"),
        "1.3_rsa_aes": ("1.3", "TLS_AES_128_GCM_SHA256", "rsa-2048"),
        "1.3_ecdsap256_chacha": ("1.3", "TLS_CHACHA20_POLY1305_SHA256", "ecdsa-p256"),
        "1.3_ecdsap384_aes": ("1.3", "TLS_AES_128_GCM_SHA256", "ecdsa-p384"),
        "1.3_no_crypto": ("1.3", None, None),
    }
    names = [
        (operation, resumption, suite, side)
        for operation, kinds in (("handshake", list(resumptions)), ("transfer", ["no_resume"]))
        for resumption in kinds
        for suite in suites
        for side in ("server", "client")
    ]
    chosen = st.lists(st.sampled_from(names), min_size=1, max_size=8, unique=True)
    for operation, resumption, name, side in draw(chosen):
        protocol, suite, certificate = suites[name]
        provider = "" if suite is None else "aws_lc_rs_"
        count = draw(st.integers(1000, 10**12))
        document.line(f"{operation}_{resumption}_{provider}{name}_{side},{count}")
        transfer = operation == "transfer"
        scenario = Scenario.model_validate(
            {
                "operation": operation,
                "protocol": protocol,
                "cipher_suite": suite,
                "certificate": certificate,
                "authentication": "server",
                "resumption": resumptions[resumption][0],
                "side": {"server": "sender", "client": "receiver"}[side] if transfer else side,
                "variant": "no-crypto" if suite is None else None,
            }
        )
        value = count / (10 if transfer else resumptions[resumption][1])
        unit = "instructions/MiB" if transfer else "instructions/handshake"
        document.figures.append((scenario, "value", value, unit))
    return document


_NAMES = st.text("abcXYZ019+_", min_size=1, max_size=12).filter(str.isalnum)


def _named(draw: DrawFn) -> list[tuple[str, Scenario]]:
    """Names that somebody gave to benchmarks, and their scenarios."""
    parts = st.lists(st.lists(_NAMES, min_size=1, max_size=4), min_size=1, max_size=4)
    unique = draw(parts.filter(lambda lists: len({"-".join(n) for n in lists}) == len(lists)))
    separator = draw(st.sampled_from(["/", "::", " "]))
    return [
        (separator.join(n), Scenario(operation="primitive", variant="-".join(n))) for n in unique
    ]


@composite
def criterion_text(draw: DrawFn) -> Document:
    document = Document("criterion/text")
    if draw(st.booleans()):
        document.line("$ cargo bench -p rustls-post-quantum")
        document.line(
            "     Running benches/benchmarks.rs (target/release/deps/benchmarks-f36c8833)"
        )
    for name, scenario in _named(draw):
        unit, factor = draw(
            st.sampled_from([("ps", 1e-6), ("ns", 1e-3), ("µs", 1.0), ("ms", 1e3), ("s", 1e6)])
        )
        figures = [f"{draw(st.integers(1000, 999999)) / 1000:.5g}" for _ in range(3)]
        times = f"time:   [{' '.join(f'{value} {unit}' for value in figures)}]"
        document.line(f"Benchmarking {name}: Warming up for 3.0000 s")
        if len(name) > 23:
            document.line(name)
            document.line(f"{'':24}{times}")
        else:
            document.line(f"{name:24}{times}")
        if draw(st.booleans()):
            document.line(f"{'':24}thrpt:  [39.151 Kelem/s 39.171 Kelem/s 39.188 Kelem/s]")
            document.line(f"{'':17}change:")
            document.line(f"{'':24}time:   [-2.0565% -0.2521% +1.6377%] (p = 0.79 > 0.05)")
            document.line(f"{'':24}thrpt:  [-1.6111% +0.2527% +2.0997%]")
            document.line(f"{'':24}No change in performance detected.")
            document.line("Found 8 outliers among 100 measurements (8.00%)")
            document.line("  6 (6.00%) high mild")
        document.figures.append((scenario, "value", float(figures[1]) * factor, "µs"))
    return document


def _estimate(value: float) -> dict[str, object]:
    interval = {"confidence_level": 0.95, "lower_bound": value, "upper_bound": value}
    return {"confidence_interval": interval, "point_estimate": value, "standard_error": 0.5}


@composite
def criterion_estimates(draw: DrawFn) -> Document:
    number = draw(st.sampled_from(["", "-1", "-12"]))
    document = Document("criterion/estimates", name=f"server-X25519-estimates{number}.json")
    mean, median, slope = draw(_positive), draw(_positive), draw(st.none() | _positive)
    content = {
        "mean": _estimate(mean),
        "median": _estimate(median),
        "median_abs_dev": _estimate(1.0),
        "slope": None if slope is None else _estimate(slope),
        "std_dev": _estimate(1.0),
    }
    document.line(json.dumps(content, separators=(",", ":")))
    scenario = Scenario(operation="primitive", variant="server-X25519")
    typical = mean if slope is None else slope
    document.figures = [
        (scenario, "value", typical * 1e-3, "µs"),
        (scenario, "p50", median * 1e-3, "µs"),
    ]
    return document


@composite
def criterion_messages(draw: DrawFn) -> Document:
    document = Document("criterion/messages")
    for name, scenario in _named(draw):
        typical, median = draw(_positive), draw(_positive)
        message = {
            "reason": "benchmark-complete",
            "id": name,
            "iteration_count": [30, 60],
            "measured_values": [124200.0, 248400.0],
            "unit": "ns",
            "throughput": [],
            "typical": {"estimate": typical, "lower_bound": 1.0, "upper_bound": 2.0, "unit": "ns"},
            "median": {"estimate": median, "lower_bound": 1.0, "upper_bound": 2.0, "unit": "ns"},
            "slope": None,
            "change": None,
        }
        document.line(json.dumps(message))
        document.figures.append((scenario, "value", typical * 1e-3, "µs"))
        document.figures.append((scenario, "p50", median * 1e-3, "µs"))
    document.line(json.dumps({"reason": "group-complete", "group_name": "a", "benchmarks": []}))
    return document


@composite
def bmf(draw: DrawFn) -> Document:
    document = Document("bmf")
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for name, scenario in _named(draw):
        value = draw(_positive)
        latency = {"value": value}
        if draw(st.booleans()):
            latency |= {"lower_value": value / 2, "upper_value": value * 2}
        benchmarks[name] = {"latency": latency}
        document.figures.append((scenario, "value", value * 1e-3, "µs"))
        if draw(st.booleans()):
            rate = draw(_positive)
            benchmarks[name]["throughput"] = {"value": rate}
            document.figures.append((scenario, "value", rate, "operations/s"))
    document.text = json.dumps(benchmarks, indent=draw(st.sampled_from([None, 4]))) + "\n"
    return document


@composite
def hyperfine(draw: DrawFn) -> Document:
    document = Document("hyperfine")
    results = []
    for name, scenario in _named(draw):
        mean, median, maximum = (draw(_positive) for _ in range(3))
        results.append(
            {
                "command": name,
                "mean": mean,
                "stddev": draw(st.none() | _positive),
                "median": median,
                **{"user": 0.1, "system": 0.1, "min": 0.2, "max": maximum},
                "times": [mean, mean],
                "exit_codes": [0, 0],
            }
        )
        for statistic, seconds in (("value", mean), ("p50", median), ("max", maximum)):
            document.figures.append((scenario, statistic, seconds * 1e6, "µs"))
    document.text = json.dumps({"results": results}, indent=2) + "\n"
    document.remarks = ["hyperfine measures a whole process, with its start and its end"]
    return document


GRAMMARS = {
    "openssl-perftools": openssl_perftools(),
    "tls-perf": tls_perf(),
    "h1load": h1load(),
    "rustls-icounts": rustls_icounts(),
    "criterion/text": criterion_text(),
    "criterion/estimates": criterion_estimates(),
    "criterion/messages": criterion_messages(),
    "bmf": bmf(),
    "hyperfine": hyperfine(),
    "openssl-bench/2023": openssl_2023(),
    "openssl-bench/2024": openssl_2024(),
    "rustls-bench/2019": rustls_2019(),
    "rustls-bench/2023": rustls_2023(),
    "bench-memory": bench_memory(),
    "bench-latency": bench_latency(),
    "bssl-speed": bssl_speed(),
    "openssl-speed": openssl_speed(),
    "published": published(),
}
