"""`python -m tlsperf` is `tlsperf`."""

from __future__ import annotations

from tlsperf.cli import main

main()
