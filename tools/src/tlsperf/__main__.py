"""`python -m tlsperf`: the same as `tlsperf`."""

from tlsperf.cli import main

main()
