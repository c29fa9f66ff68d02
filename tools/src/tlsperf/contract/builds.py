"""Which build stands for each library where libraries are compared: like with like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tlsperf.contract.libraries import LIBRARIES
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Implementation

_PROVIDERS: Final = {library.id: library.providers for library in LIBRARIES}


def like_builds(
    implementations: Sequence[Implementation], baseline: Identifier | None
) -> list[Identifier]:
    """One build of each library, all of one class; none if a library has no such build or several.

    The class is the `build` of the baseline: absent for what users get, else tuned, gcc-jemalloc.
    Of providers the first in `library.toml` counts, which users of the library get. The baseline
    stands for its own library, whatever its provider, and also beside other versions.
    """
    of_class = {i.id: i.build for i in implementations}.get(baseline or "")

    def order(build: Implementation) -> tuple[bool, int]:
        known = _PROVIDERS.get(build.library, [])
        place = known.index(build.provider) if build.provider in known else len(known)
        return build.id != baseline, place

    found = []
    for library in dict.fromkeys(i.library for i in implementations):
        builds = [i for i in implementations if i.library == library and i.build == of_class]
        first = min(map(order, builds), default=None)
        chosen = [build.id for build in builds if order(build) == first]
        if len(chosen) != 1:
            return []
        found += chosen
    return found
