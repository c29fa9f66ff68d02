"""New releases become one proposal with the command that measures them."""

from __future__ import annotations

from pathlib import Path

import pytest

from new_versions import (
    LIBRARIES,
    Release,
    compare,
    locked_versions,
    newest_versions,
    pinned_versions,
    proposal,
)

LOCK = """
version = 4
[[package]]
name = "boring-sys"
version = "5.4.0"
[[package]]
name = "openssl-src"
version = "300.6.1+3.6.3"
[[package]]
name = "other"
version = "1.0.0"
[[package]]
name = "rustls"
version = "0.23.40"
"""


SHARED = [name for name, library in LIBRARIES.items() if library["workspace"] == "shared"]


def test_versions_are_read_from_the_lock() -> None:
    assert locked_versions(LOCK, SHARED) == {
        "rustls": "0.23.40",
        "openssl-src": "300.6.1+3.6.3",
        "boring-sys": "5.4.0",
    }
    more = LOCK + '[[package]]\nname = "rustls"\nversion = "0.23.9"\n'
    assert locked_versions(more, ["rustls"]) == {"rustls": "0.23.40"}


def test_every_library_with_releases_is_pinned_in_its_workspace() -> None:
    assert list(pinned_versions()) == list(LIBRARIES)
    assert {"rustls", "openssl-src", "boring-sys", "s2n-tls-sys"} <= LIBRARIES.keys()


def test_a_lock_without_a_library_is_an_error_that_names_it() -> None:
    with pytest.raises(KeyError, match="openssl-src"):
        locked_versions(LOCK.replace("openssl-src", "openssl-source"), SHARED)


def test_a_library_that_watches_a_package_it_does_not_use_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = {"wolfssl-src": LIBRARIES["wolfssl-sys"]}
    monkeypatch.setattr("new_versions.LIBRARIES", wrong)
    expected = (
        r"wolfssl/Cargo\.lock: found no package wolfssl-src, .*libraries/wolfssl/library\.toml"
    )
    with pytest.raises(SystemExit, match=expected):
        pinned_versions()


@pytest.mark.parametrize(
    ("pinned", "newest", "compatible"),
    [
        ("0.23.40", "0.23.46", True),
        ("0.23.40", "0.24.0", False),
        ("5.4.0", "5.5.0", True),
        ("5.4.0", "6.0.0", False),
        ("300.6.1+3.6.3", "300.7.0+3.6.4", True),
        ("300.6.1+3.6.3", "400.0.2+4.0.3", False),
        ("0.0.3", "0.0.4", False),
    ],
)
def test_compatible_versions_follow_the_rule_of_cargo(
    pinned: str, newest: str, compatible: bool
) -> None:
    assert Release("rustls", pinned, newest).compatible is compatible


def test_without_new_releases_there_is_no_proposal() -> None:
    pinned = locked_versions(LOCK, SHARED)
    assert compare(pinned, pinned) == []
    assert proposal([]) == ""


def test_the_proposal_names_versions_and_the_command() -> None:
    pinned = locked_versions(LOCK, SHARED)
    newest = pinned | {"rustls": "0.23.46", "openssl-src": "400.0.2+4.0.3", "boring-sys": "5.5.0"}
    text = proposal(compare(pinned, newest))
    assert text.splitlines()[0] == (
        "# New releases: rustls 0.23.46, OpenSSL 4.0.3, BoringSSL (boring-sys 5.5.0)"
    )
    assert "| openssl-src | 300.6.1+3.6.3 | 400.0.2+4.0.3 |" in text
    assert (
        "    gh workflow run bench.yml -f suite=standard "
        "-f versions='rustls@0.23.46 boring-sys@5.5.0'\n"
    ) in text
    assert "OpenSSL 4.0.3 is not compatible with 300.6.1+3.6.3" in text


def test_a_library_in_a_workspace_of_its_own_is_updated_there() -> None:
    text = proposal([Release("s2n-tls-sys", "0.3.39", "0.3.40")])
    assert text.startswith("# New releases: s2n-tls (s2n-tls-sys 0.3.40)\n")
    assert text.endswith(
        "s2n-tls (s2n-tls-sys 0.3.40): `cargo update` in bench/libraries/s2n-tls.\n"
    )
    assert "gh workflow run" not in text


def test_cargo_resolves_the_requirements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cargo = tmp_path / "cargo"
    cargo.write_text(
        "#!/bin/sh\n"
        '[ "$1 $2 $3" = "generate-lockfile --quiet --manifest-path" ] || exit 1\n'
        'grep -Fqx \'rustls = "*"\' "$4" || exit 1\n'
        f'cat > "$(dirname "$4")/Cargo.lock" <<\'END\'\n{LOCK}\nEND\n'
    )
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert newest_versions(dict.fromkeys(SHARED, "*")) == locked_versions(LOCK, SHARED)
