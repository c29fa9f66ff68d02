"""Work on many reports or runs, in as many processes as there are processors."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeVar

from tlsperf.contract.errors import UserError, message_of
from tlsperf.load.damage import damage, leave_out

Item = TypeVar("Item")
Made = TypeVar("Made")

MANY: Final = 4
"""With at least this many items, several processes work; starting one takes a second."""


Work = Callable[[Path], Callable[[Item], Made]]
"""Of a folder: the function that makes something of an item, which may raise UserError. A process
calls it once for all its items.
"""


def each(
    work: Work[Item, Made], folder: Path, items: Sequence[Item]
) -> Iterator[tuple[Item, Made | str]]:
    """What `work` makes of each item, in their order; a text says why it made nothing."""
    if len(items) < MANY:
        if items:
            _begin(work, folder)
        yield from zip(items, map(_received, map(_made, items)), strict=True)
        return
    count = min(len(items), len(os.sched_getaffinity(0)))
    context = get_context("spawn")
    with ProcessPoolExecutor(
        count, mp_context=context, initializer=_begin, initargs=(work, folder)
    ) as processes:
        with _interrupts_held_back():
            for _ in range(count):
                processes.submit(int)  # starts a process
        try:
            yield from zip(items, map(_received, processes.map(_made, items)), strict=True)
        except BaseException:
            processes.shutdown(wait=False, cancel_futures=True)
            raise


_begun: list[tuple[Callable[[Any], Any], list[str]]] = []
"""The function of this process, and what was left out when it began."""


def _begin(work: Work[Any, Any], folder: Path) -> None:
    gc.disable()  # little memory is freed before the end, and collection takes 10% of the time
    with damage() as left_out:
        _begun[:] = [(work(folder), left_out)]


def _made(item: Any) -> tuple[Any, list[str]]:
    """What the function makes of an item, and what was left out so far."""
    [(function, before)] = _begun
    with damage() as left_out:
        try:
            made = function(item)
        except (UserError, OSError) as error:
            made = message_of(error)
    return made, before + left_out


def _received(answer: tuple[Any, list[str]]) -> Any:
    """What a process made; what it left out is left out by the command."""
    made, left_out = answer
    for line in left_out:
        leave_out(line)
    return made


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delays Ctrl-C until the end of the block; a process started in the block never gets it.

    The mask is for that process. It is not enough here: if a thread of numpy gets the signal,
    Python still runs the handler in the main thread.
    """
    held: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if held and callable(handler):
        handler(signal.SIGINT, None)
