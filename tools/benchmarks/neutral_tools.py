"""How neutral.py builds the tools: with the libraries that our programs are linked with."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tlsperf.contract.errors import UserError
from tlsperf.contract.run import Implementation

ROOT: Final = Path(__file__).parents[2]
CERTIFICATES: Final = ROOT / "bench" / "harness" / "certificates"


class Subject(NamedTuple):
    """A program of ours and what it reports of itself."""

    program: Path
    described: Implementation

    def linked(self, pattern: str) -> Path:
        """The newest file that Cargo built before the program: what it was linked with."""
        made = self.program.stat().st_mtime
        files = self.program.parent.glob(f"build/{pattern}")
        before = [file for file in files if file.stat().st_mtime <= made]
        if not before:
            folder = self.program.parent / "build" / pattern
            raise UserError(f"{folder}: no such file, expected the library of {self.program.name}")
        return max(before, key=lambda file: file.stat().st_mtime)


def run(*command: str | Path, cwd: Path = ROOT, **settings: Any) -> str:
    """What a command printed, with standard error unless it printed JSON."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, **settings)
    except OSError as error:
        raise UserError(f"{words[0]}: {error.strerror}, expected an installed program") from None
    if done.returncode:
        said = (done.stderr or done.stdout)[-2000:]
        raise UserError(f"{shlex.join(words)}: exit code {done.returncode}\n{said}")
    printed: str = done.stdout
    return printed if printed.startswith("{") else printed + str(done.stderr)


@cache
def package(name: str, version: str, workspace: str = "bench") -> Path:
    """The folder of a Cargo package that a workspace has locked."""
    command = ("cargo", "metadata", "--format-version=1", "--locked", "--quiet")
    for it in json.loads(run(*command, cwd=ROOT / workspace))["packages"]:
        if it["name"] == name and it["source"] and version in it["version"]:
            return Path(it["manifest_path"]).parent
    raise UserError(f"{workspace}/Cargo.lock: no {name} {version}, expected what the program has")


def compiled(name: str, folder: Path, *words: str | Path, compiler: str = "c++") -> Path:
    run(compiler, "-O2", "-w", *words, "-lpthread", "-ldl", "-lm", "-o", folder / name)
    return folder / name


def openssl(subject: Subject, folder: Path, checkout: Path) -> Path:
    """The program of the package's source, linked with the libraries of ours."""
    library = subject.linked("openssl-sys-*/out/**/lib*/libcrypto.a").parent
    source = package("openssl-src", subject.described.version) / "openssl"
    shutil.copytree(source, folder, dirs_exist_ok=True)
    if not (words := subject.described.configure):
        raise UserError(f"{subject.program}: it does not say how OpenSSL was configured")
    run("perl", "./Configure", *words.split(), cwd=folder)
    run("make", "-s", "build_generated", cwd=folder)
    for file in library.glob("lib*.a"):
        shutil.copy(file, folder)
    jobs = f"-j{os.cpu_count()}"
    run("make", "-s", jobs, "-o", "libcrypto.a", "-o", "libssl.a", "apps/openssl", cwd=folder)
    return folder / "apps" / "openssl"


def bssl_bench(subject: Subject, folder: Path, checkout: Path) -> Path:
    flags, libraries = linked(subject)
    source = Path(flags[0].removeprefix("-I")).parent
    google = source / "third_party" / "benchmark"
    files = [*source.glob("bench/*.cc"), *google.glob("src/*.cc")]
    files.remove(google / "src" / "benchmark_main.cc")
    flags += [f"-I{source}", f"-I{google}/include", "-std=c++17"]
    flags += ["-DNDEBUG", "-DHAVE_STD_REGEX", "-DBENCHMARK_STATIC_DEFINE"]
    return compiled("bssl_bench", folder, *flags, *files, *libraries)


def tls_bench(subject: Subject, folder: Path, checkout: Path) -> Path:
    library = subject.linked("tls-wolfssl-*/out/wolfssl/src/.libs/libwolfssl.a")
    tree = library.parents[2]
    main = tree / "examples" / "benchmark" / "tls_bench.c"
    return compiled("tls_bench", folder, f"-I{tree}", main, library, compiler="cc")


def gnutls_cli(subject: Subject, folder: Path, checkout: Path) -> Path:
    found = shutil.which("gnutls-cli")
    if not found:
        raise UserError("gnutls-cli is missing: apt-get install gnutls-bin")
    version = run(found, "--version").split()[1]
    if version != subject.described.version:
        raise UserError(f"{found}: is of {version}, expected {subject.described.version}")
    return Path(found)


def linked(subject: Subject) -> tuple[list[str], list[Path]]:
    """Flags and libraries of a program that has OpenSSL's API of the library of ours."""
    if subject.described.library == "openssl":
        ssl = subject.linked("openssl-sys-*/out/**/lib*/libssl.a")
        return [f"-I{ssl.parents[1]}/include"], [ssl, ssl.with_name("libcrypto.a")]
    if subject.described.library == "aws-lc":
        ssl = subject.linked("aws-lc-sys-*/out/build/**/*_ssl.a")
        prefix = ssl.name.removeprefix("lib").removesuffix("_ssl.a")
        flags = [f"-I{ssl.parents[2]}/include", f"-DBORINGSSL_PREFIX={prefix}"]
        return flags, [ssl, ssl.with_name(ssl.name.replace("_ssl", "_crypto"))]
    ssl = subject.linked("boring-sys-*/out/build/**/libssl.a")
    source = package("boring-sys", (subject.described.source or "").split()[-1])
    include = source / "deps" / "boringssl" / "include"
    return [f"-I{include}", "-DBORINGSSL=1"], [ssl, ssl.with_name("libcrypto.a")]


def openssl_bench(subject: Subject, folder: Path, checkout: Path) -> Path:
    flags, libraries = linked(subject)
    text = (checkout / "bench.cc").read_text(encoding="utf-8")
    # BoringSSL has this function no longer; no command here reaches its call.
    text = re.sub(r".*SSL_CTX_set_\w*for_testing.*\n", "", text)
    text = text.replace("../rustls/test-ca", str(CERTIFICATES)).replace("ca.cert", "root.pem")
    text = text.replace("end.fullchain", "server.pem").replace("end.key", "server.key")
    (folder / "bench.cc").write_text(text, encoding="utf-8")
    return compiled("bench", folder, "-O3", *flags, folder / "bench.cc", *libraries)


def bssl_speed(subject: Subject, folder: Path, checkout: Path) -> Path:
    flags, libraries = linked(subject)
    files = [checkout / "tool" / f"{name}.cc" for name in ("speed", "args", "const", "benchmark")]
    flags += [f"-I{checkout}", "-std=c++17"]
    return compiled("awslc_bm", folder, *flags, *files, *libraries)


def rustls_bench(subject: Subject, folder: Path, checkout: Path) -> Path:
    """The bench of a checkout, with rustls and the provider as our program has them."""
    ignored = shutil.ignore_patterns("target", ".git")
    shutil.copytree(checkout, folder, dirs_exist_ok=True, ignore=ignored)
    source = package("rustls", subject.described.version)
    shutil.copytree(source / "src", folder / "rustls" / "src", dirs_exist_ok=True)
    shutil.copy(source / "Cargo.toml", folder / "rustls" / "Cargo.toml")
    for name in ("rustls-webpki", "aws-lc-rs"):
        version = package(name, "").name.removeprefix(f"{name}-")
        run("cargo", "update", "--precise", version, name, cwd=folder)
    wanted = ("--package", "rustls-bench", "--features", "aws-lc-rs")
    run("cargo", "build", "--release", *wanted, cwd=folder)
    return folder / "target" / "release" / "rustls-bench"


def s2n_bench(subject: Subject, folder: Path, checkout: Path) -> Path:
    """The bench of a checkout, with the package of our program."""
    source = package("s2n-tls-sys", subject.described.version, "bench/libraries/s2n-tls")
    ignored = shutil.ignore_patterns("target", "s2n-tls-sys")
    shutil.copytree(checkout / "bindings/rust", folder, dirs_exist_ok=True, ignore=ignored)
    shutil.copytree(
        source, folder / "extended/s2n-tls-sys", ignore=shutil.ignore_patterns("*.orig")
    )
    shutil.copy(source / "Cargo.toml.orig", folder / "extended/s2n-tls-sys/Cargo.toml")
    words = ("bench", "--package", "benchmarks", "--bench", "handshake", "--no-run")
    run("cargo", *words, cwd=folder / "standard")
    found = [it for it in folder.glob("standard/target/release/deps/handshake-*") if not it.suffix]
    newest = max(found, key=lambda file: file.stat().st_mtime)
    return Path(shutil.copy(newest, folder / "handshake"))


BUILDS: Final[Mapping[str, Callable[[Subject, Path, Path], Path]]] = {
    it.__name__: it
    for it in (
        openssl,
        bssl_bench,
        tls_bench,
        gnutls_cli,
        openssl_bench,
        bssl_speed,
        rustls_bench,
        s2n_bench,
    )
}


def built(name: str, subject: Subject, checkout: Path | None) -> Path:
    """The tool's program, built again if ours is newer."""
    folder = ROOT / "build" / "neutral" / f"{name}-{subject.described.library}"
    done = folder / "program.txt"
    if not done.exists() or done.stat().st_mtime < subject.program.stat().st_mtime:
        print(f"{subject.described.id}: building {name}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        done.write_text(str(BUILDS[name](subject, folder, (checkout or ROOT).absolute())))
    return Path(done.read_text())
