"""Many items are worked on in several processes, as few are in one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tlsperf.contract.errors import UserError
from tlsperf.load.damage import damage, leave_out, readable
from tlsperf.publish.processes import MANY, each


def sizes(folder: Path) -> Callable[[str], int]:
    """Of a file of the folder: its size. A link beside it is left out, if it leads nowhere."""
    leave_out(f"{folder}/own")

    def size(name: str) -> int:
        list(readable(Path.read_bytes, [folder / f"{name}.link"]))
        if name == "0":
            raise UserError("no zero")
        return len((folder / name).read_bytes())

    return size


@pytest.mark.parametrize("count", [MANY - 1, MANY + 1])
def test_what_cannot_be_made_or_is_left_out_is_known_and_the_rest_is_made(
    tmp_path: Path, count: int
) -> None:
    names = [str(number) for number in range(count)]
    for name in names[:-1]:
        (tmp_path / name).write_text(name)
        (tmp_path / f"{name}.link").write_text("")
    with damage() as left_out:
        made = dict(each(sizes, tmp_path, names))
    last = f"{tmp_path}/{names[-1]}"
    missing = f"{last}: No such file or directory"
    assert made == {**dict.fromkeys(names, 1), "0": "no zero", names[-1]: missing}
    assert left_out == [f"{tmp_path}/own", f"{last}.link: No such file or directory"]
