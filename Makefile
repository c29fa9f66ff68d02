# `make help` lists the targets, in the order of this file.
#
# Checks have three tiers, by what they cost: `make check test` on each change (.ci/run), `make nightly`
# for everything over all data, and `make release-checks` every week and before a release.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
PYTHON := $(VENV)/bin/python
TLSPERF := $(VENV)/bin/tlsperf
RELEASE := bench/target/release
PYTEST := ../$(PYTHON) -m pytest --numprocesses 2
SITE := PYTHONPATH=tools/src python3 -m tlsperf.site

# npm installs a Zola if the host has none.
ZOLA := $(if $(shell command -v zola 2>/dev/null),,node_modules/.installed)

SUITE ?= quick
SUITES := $(sort $(patsubst bench/suites/%.toml,%,$(wildcard bench/suites/[a-z]*.toml)))
PORT ?= 1111
MUTANTS ?=
RUN ?= $(shell date -u +%F)-$(SUITE)-$(shell date -u +%H%M)
ADDRESS :=

.PHONY: help help-all
help-all: ALL := yes
help-all: help
help:
	@awk -F ':.*## ' '/^##@ Parts/ && !"$(ALL)" \
	    { print "\nmake help-all lists parts of the checks, and what workflows and bench hosts run too"; exit } \
	  /^##@ / { print (groups++ ? "\n" : "") substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Measure, read and publish

.PHONY: report
report: bench/suites/$(SUITE).toml doctor-report libraries $(VENV)/.tools $(ZOLA) ## measure this host, make a page of it in public/ (SUITE=standard to publish)
	$(RELEASE)/tlsbench run --suite bench/suites/$(SUITE).toml --out data/runs/$(RUN)
	$(TLSPERF) new --quiet $(RUN)
	$(TLSPERF) render --quiet $(RUN)
	$(SITE) build
	@echo "report: public/perf/$(RUN)/index.html   (make serve shows it; its prose: content/perf/$(RUN)/index.md)"

# A mistake in its name or its text is told before libraries are built for minutes.
.PHONY: suite
suite: bench/suites/$(SUITE).toml tlsbench
	@$(RELEASE)/tlsbench list --suite $(SUITE) >/dev/null
bench/suites/$(SUITE).toml:
	@[ -f $@ ] || { echo "SUITE=$(SUITE): found no $@; near: $$(python3 -c \
	  'import difflib, sys; print(*difflib.get_close_matches(sys.argv[1], sys.argv[2:]) or ["none"], sep=", ")' \
	  "$(SUITE)" $(SUITES)); expected one of" $(SUITES) >&2; exit 1; }

.PHONY: serve
serve: doctor-site $(ZOLA) $(VENV)/.tools ## show the site at http://127.0.0.1:1111 (PORT=1111), anew when a file changes
	@$(SITE) serve --port $(PORT) --help >/dev/null # a wrong port is told before pages are built
	-@$(TLSPERF) build
	@$(SITE) serve --port $(PORT)

# What is wrong with some reports does not keep the others from being built; make ends with an error then.
.PHONY: site
site: doctor-site $(ZOLA) $(VENV)/.tools ## build public/, with downloads and the pages over all reports
	@built=0; $(TLSPERF) build || { built=$$?; ((built == 1)) || exit $$built; }; \
	$(SITE) build $(ADDRESS) && exit $$built

.PHONY: built
built: $(VENV)/.tools # downloads and pages over all reports, beside what git holds
	@$(TLSPERF) build

.PHONY: tools
tools: $(VENV)/.tools ## set up tlsperf in .venv/bin
	@version=$$($(TLSPERF) --version); echo "$(TLSPERF): $$version; completion: $(TLSPERF) completions bash|zsh|fish"

# Of the whole workspace: by itself, it would be built a second time with other features of its packages.
.PHONY: tlsbench
tlsbench: ## build tlsbench alone: `tlsbench compare` builds libraries itself
	cd bench && ../scripts/briefly cargo build --release --locked --workspace --bin tlsbench

.PHONY: libraries
libraries: $(VENV)/.build suite $(if $(shell grep -sE '"tls-(aws-lc|s2n-tls|gnutls|wolfssl)"' bench/suites/$(SUITE).toml),more-libraries) ## build tlsbench and the libraries of a suite (SUITE=quick)
	cd bench && ../scripts/briefly cargo build --release --locked --workspace

# Each has its own workspace: in one workspace, Cargo would build a shared dependency of two libraries
# with the features of both. LIBRARY=wolfssl builds or tests only that library.
define in_each_library
@libraries='$(LIBRARY)'; libraries=$${libraries:-$$(scripts/libraries id own)}; \
for library in $$libraries; do \
  [ -f bench/libraries/$$library/library.toml ] || { echo "LIBRARY=$$library: found no" \
    "bench/libraries/$$library/library.toml, expected one of" $$(scripts/libraries id) >&2; exit 1; }; \
  echo "$$library: $(1)"; (cd bench/libraries/$$library && ../../../scripts/briefly $(1)) || exit 1; done
endef

# The GnuTLS that its adapter is linked with.
build/gnutls/built: scripts/build-gnutls
	$<

.PHONY: more-libraries
more-libraries: doctor-more-libraries $(VENV)/.build $(if $(filter-out gnutls,$(LIBRARY)),,build/gnutls/built) ## build libraries with workspaces of their own (LIBRARY=wolfssl: one)
	$(call in_each_library,cargo build --release --locked --target-dir ../../target)

.PHONY: render
render: $(VENV)/.tools ## write tables, charts and front matter of every report
	$(TLSPERF) render

DOCTORS := $(addprefix doctor-,tools report site setup test check more-libraries nightly)
.PHONY: doctor $(DOCTORS)
doctor: ## list what this machine lacks, and how to install it
	@scripts/doctor $(DOCTORS:doctor-%=%)
$(DOCTORS): doctor-%:
	@scripts/doctor --quiet $*

.PHONY: clean
clean: ## remove everything that was built or installed here
	rm -rf $(VENV) node_modules public build bench/target bench/.cargo/config.toml
	git clean -fdXq content data static # what `tlsperf build` made

##@ Change this repository

.PHONY: setup
setup: doctor-setup $(VENV)/.dev $(VENV)/.build node_modules/.installed chromium valgrind strace ## install what tests need: then `pytest` and `cargo test` work

.PHONY: quick
quick: $(VENV)/.dev node_modules/.installed ## format what differs from HEAD (SINCE=origin/main), test what it can break
	@$(PYTHON) tools/automation/quick.py $(SINCE)

.PHONY: check check-bench check-tools check-compare check-words check-data
check: doctor-check check-bench check-tools check-compare check-words zizmor check-data ## check format, lint, types, words, workflows, changed data and reports
check-bench: $(VENV)/.build
	cd bench && cargo fmt --all --check
	cd bench && cargo clippy --locked --workspace --all-targets -- -D warnings
check-tools: $(VENV)/.dev
	$(VENV)/bin/ruff format --check tools scripts/libraries
	$(VENV)/bin/ruff check tools scripts/libraries
	cd tools && ../$(VENV)/bin/mypy
	cd tools && ../$(VENV)/bin/lint-imports --no-cache
check-compare: node_modules/.installed
	node_modules/.bin/biome ci static/compare
	node_modules/.bin/tsc
check-words: $(VENV)/.dev
	$(VENV)/bin/typos
check-data: $(VENV)/.dev
	$(PYTHON) -m tlsperf.publish.schema --check
	$(PYTHON) -m tlsperf.publish.style --check
	$(PYTHON) -m tlsperf.publish.maintainers --check
	$(TLSPERF) validate --changed
	$(TLSPERF) render --check --changed

.PHONY: zizmor
zizmor: $(VENV)/.dev build/workflows/instructions.yml
	$(VENV)/bin/zizmor --offline --quiet --persona pedantic .github/workflows .github/dependabot.yml action.yml build/workflows

.PHONY: test
test: doctor-test setup test-bench test-tools test-suites rehearse ## run the tests that a change can break

.PHONY: test-bench
test-bench: $(VENV)/.build valgrind strace
	cd bench && cargo test --locked --workspace

.PHONY: test-tools
test-tools: $(VENV)/.dev node_modules/.installed chromium
	cd tools && $(PYTEST)

.PHONY: generate
generate: render ## write all generated files that git holds
	$(TLSPERF) validate
	$(PYTHON) -m tlsperf.publish.schema
	$(PYTHON) -m tlsperf.publish.style
	$(PYTHON) -m tlsperf.publish.maintainers
	$(PYTHON) tools/tests/project.py

.PHONY: nightly
nightly: doctor-test doctor-nightly audit test-released test-committed test-costly test-fuzz test-suites-all rehearse-all test-libraries test-matrix test-servers workflows page-trends ## test all data, in the build that measures; takes hours (--keep-going)

.PHONY: release-checks
release-checks: mutants-tools mutants-bench check-pictures ## mutants that tests must notice, pictures of pages; takes hours

##@ Parts of the checks

.PHONY: test-released
test-released: libraries valgrind strace ## run the tests of bench/ that cost much too, in the build that measures
	cd bench && cargo test --release --locked --workspace -- --include-ignored

.PHONY: test-libraries
test-libraries: libraries more-libraries $(VENV)/.dev ## run `test` and `check` for the libraries with workspaces of their own (LIBRARY=wolfssl: for one)
	$(call in_each_library,cargo fmt --check)
	$(call in_each_library,cargo clippy --release --locked --all-targets --target-dir ../../target -- -D warnings)
	$(call in_each_library,cargo test --release --locked --target-dir ../../target)
	$(if $(LIBRARY),,$(PYTHON) tools/automation/suites.py --programs $(RELEASE) compression early-data gnutls layouts libraries post-quantum post-quantum-memory sockets)

.PHONY: test-servers
test-servers: tlsbench ## measure nginx and HAProxy of the host once, into build/servers (needs nginx, haproxy and libssl-dev)
	scripts/system-openssl
	rm -rf build/servers
	CI=1 $(RELEASE)/tlsbench run --suite servers --rounds 1 --out build/servers
	! grep -A3 failed-blocks build/servers/run.toml

.PHONY: test-matrix
test-matrix: libraries ## test the conformance of the oldest and newest version of each library
	$(RELEASE)/tlsbench test --suite bench/suites/history.toml

.PHONY: test-committed
test-committed: $(VENV)/.dev node_modules/.installed chromium built ## check all committed data, reports and pages
	$(TLSPERF) validate
	$(TLSPERF) render --check
	cd tools && $(PYTEST) --committed

.PHONY: test-costly
test-costly: setup $(BENCHSTAT)-$(BENCHSTAT_VERSION) ## run all tests of tools/, with those that cost much
	cd tools && $(PYTEST) --nightly

.PHONY: test-fuzz
test-fuzz: $(VENV)/.dev ## try each property of formats and statistics with thousands of examples
	cd tools && $(PYTEST) --hypothesis-profile=nightly -m hypothesis

.PHONY: page-trends
page-trends: $(VENV)/.dev node_modules/.installed chromium ## print weight, words and length of each kind of page, now, a week and a month ago
	$(PYTHON) tools/benchmarks/page_trends.py

.PHONY: test-suites-all
test-suites-all: libraries $(VENV)/.dev ## run every suite in a shortened form, and render it
	$(PYTHON) tools/automation/suites.py --all --programs $(RELEASE)

.PHONY: test-suites
test-suites: programs $(VENV)/.dev ## run a suite in a shortened form, and render it
	$(PYTHON) tools/automation/suites.py

.PHONY: programs
programs: $(VENV)/.build
	cd bench && ../scripts/briefly cargo build --locked --workspace

.PHONY: rehearse rehearse-all
rehearse: programs $(VENV)/.dev $(ZOLA) ## run the steps of bench.yml here, in scratch clones
	$(PYTHON) tools/automation/rehearse.py
rehearse-all: libraries $(VENV)/.dev $(ZOLA) ## run them with an unfit host and a fork too, and those of action.yml
	$(PYTHON) tools/automation/rehearse.py --all --programs $(RELEASE)
	$(PYTHON) tools/automation/rehearse_action.py

# With the settings in tools/pyproject.toml. Where mutmut works, tests find the repository one folder up.
MUTMUT := ../../$(VENV)/bin/mutmut
.PHONY: mutants-tools
mutants-tools: $(VENV)/.dev ## change the pure cores of tools/ one place at a time: tests must notice 95%; takes hours (MUTANTS='tlsperf.analysis.ratios*')
	rm -rf build/mutants && mkdir -p build/mutants
	cp -rL tools/src tools/tests tools/automation tools/benchmarks tools/pyproject.toml build/mutants
	cd build/mutants && ln -s $(addprefix ../../,bench config.toml content data docs static templates tools) .
	cd build/mutants && $(MUTMUT) run $(MUTANTS)
	cd build/mutants && { $(MUTMUT) results | grep -v ': not checked$$' || true; } && $(MUTMUT) export-cicd-stats
	@$(PYTHON) -c "import json, sys; of = json.load(sys.stdin); noticed = of['killed'] + of['timeout'] + of['segfault']; \
	  tried = noticed + of['survived'] + of['no_tests'] + of['suspicious']; print(f'{noticed} of {tried} mutants noticed'); \
	  sys.exit(noticed < 0.95 * tried)" < build/mutants/mutants/mutmut-cicd-stats.json

BENCHSTAT := build/bin/benchstat
BENCHSTAT_VERSION := v0.0.0-20260908200009-22c9c6c9d4da

ACTIONLINT := build/bin/actionlint
ACTIONLINT_VERSION := v1.7.12

CARGO_MUTANTS := build/bin/cargo-mutants
CARGO_MUTANTS_VERSION := 27.1.0

# With the settings in bench/.cargo/mutants.toml, each package by those of its tests that need no library.
# In a copy, so that no change stays in what git holds. Exit code 3: a mutant that never ended, which
# its tests notice by that.
MUTATE := CARGO_TARGET_DIR=$(CURDIR)/bench/target $(CURDIR)/$(CARGO_MUTANTS) mutants --in-place
.PHONY: mutants-bench
mutants-bench: $(VENV)/.build $(CARGO_MUTANTS)-$(CARGO_MUTANTS_VERSION) valgrind ## change the pure cores of bench/ one place at a time: tests must notice (MUTANTS='--re clock.rs')
	rm -rf build/mutants-bench && mkdir -p build/mutants-bench
	cp -r --parents data/schema $(addprefix bench/,.cargo Cargo.toml Cargo.lock matrix.lock harness libraries runner suites) build/mutants-bench
	cd build/mutants-bench/bench; failed=; \
	$(MUTATE) --package tls-harness --output harness.out $(MUTANTS) --cargo-arg=--lib \
	  $(addprefix --cargo-arg=--test=,charges memory steps transfers) || [ $$? = 3 ] || failed=1; \
	$(MUTATE) --package tlsbench --output runner.out $(MUTANTS) --cargo-arg=--lib || [ $$? = 3 ] || failed=1; \
	[ ! "$$failed" ]

$(CARGO_MUTANTS)-$(CARGO_MUTANTS_VERSION):
	cargo install cargo-mutants --version $(CARGO_MUTANTS_VERSION) --locked --quiet --root build
	touch $@

CARGO_DENY := build/bin/cargo-deny
CARGO_DENY_VERSION := 0.20.2

# Settings: bench/deny.toml, which the workspaces of libraries find too.
.PHONY: audit
audit: $(CARGO_DENY)-$(CARGO_DENY_VERSION) $(VENV)/.audit ## look for known vulnerabilities, other licences and other sources of packages (needs the internet)
	cd bench && $(CURDIR)/$(CARGO_DENY) --locked check
	$(call in_each_library,$(CURDIR)/$(CARGO_DENY) --locked check)
	$(VENV)/bin/pip-audit --strict --disable-pip --require-hashes $(addprefix --requirement ,$(wildcard tools/requirements*.txt))

$(CARGO_DENY)-$(CARGO_DENY_VERSION):
	cargo install cargo-deny --version $(CARGO_DENY_VERSION) --locked --quiet --root build
	touch $@

.PHONY: check-pictures
check-pictures: $(VENV)/.dev node_modules/.installed chromium ## compare twelve pages with their pictures
	cd tools && ../$(PYTHON) -m pytest tests/pages/check_pictures.py

.PHONY: pictures
pictures: $(VENV)/.dev node_modules/.installed chromium ## write the twelve pictures anew that `make release-checks` compares with
	cd tools && ../$(PYTHON) -m pytest tests/pages/check_pictures.py --write-pictures

# actionlint does not know `concurrency.queue` yet.
.PHONY: workflows
workflows: $(ACTIONLINT)-$(ACTIONLINT_VERSION) build/workflows/instructions.yml ## check expressions and shell text of .github/workflows and of the workflow in docs/
	$(ACTIONLINT)-$(ACTIONLINT_VERSION) -ignore 'unexpected key "queue"' .github/workflows/*.yml build/workflows/instructions.yml

build/workflows/instructions.yml: docs/pull-requests.md
	mkdir -p build/workflows
	sed -n '/^```yaml/,/^```$$/{//!p}' $< > $@

$(ACTIONLINT)-$(ACTIONLINT_VERSION):
	@command -v go >/dev/null || { echo "actionlint needs Go: go.dev/dl, or apt-get install golang" >&2; exit 1; }
	GOBIN="$$PWD/build/bin" go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	mv $(ACTIONLINT) $@

$(BENCHSTAT)-$(BENCHSTAT_VERSION):
	@command -v go >/dev/null || { echo "benchstat needs Go: go.dev/dl, or apt-get install golang" >&2; exit 1; }
	GOBIN="$$PWD/build/bin" go install golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION)
	mv $(BENCHSTAT) $@

.PHONY: lock
lock: $(VENV)/.audit ## pin the Python packages again after a change of tools/*.in
	for set in requirements requirements-dev requirements-audit requirements-build; do \
	  $(VENV)/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header \
	    --python-version 3.11 --universal tools/$$set.in -o tools/$$set.txt; done

.PHONY: matrix-lock
matrix-lock: libraries ## record the packages of the builds of all suites again
	rm -f bench/matrix.lock
	for suite in $$(grep --files-with-matches '{ library.* version' bench/suites/*.toml); do \
	  $(RELEASE)/tlsbench lock --suite "$$suite"; done

##@ Workflows and bench hosts

# Recipes read the inputs of a workflow as "$$NAME", a variable of the shell: make would expand
# $(NAME).

.PHONY: checked-of-target
checked-of-target: ## take what counts as checked from the branch $TARGET, not from what is proposed to it
	git fetch --quiet --depth 1 origin "$$TARGET"
	git checkout FETCH_HEAD -- data/checked.json

.PHONY: summary
summary: $(VENV)/.tools ## print the changed figures as Markdown (SINCE=origin/main)
	@$(TLSPERF) summary "$$SINCE"

.PHONY: pages
pages: ADDRESS = --base-url "$$BASE_URL"
pages: site ## build the site for $BASE_URL

CARGO_CYCLONEDX := build/bin/cargo-cyclonedx
CARGO_CYCLONEDX_VERSION := 0.5.9

# The sources are those of HEAD. tools/build has what an earlier wheel was made of. What is in each is listed beside
# it (CycloneDX): the packages of the program tlsbench, and those that the wheel is tested with.
.PHONY: release
release: tlsbench $(VENV)/.audit $(CARGO_CYCLONEDX)-$(CARGO_CYCLONEDX_VERSION) ## make the wheel and the archive of a release, in build/release
	rm -rf build/release tools/build && mkdir -p build/release
	$(VENV)/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/release ./tools
	name=tlsbench-$$($(RELEASE)/tlsbench --version | cut -d' ' -f2)-$$(uname -m)-linux; \
	git archive --prefix=$$name/ --output=build/release/$$name.tar --add-file=$(RELEASE)/tlsbench HEAD \
	  bench data/schema LICENSE LICENSE-APACHE LICENSE-ISC LICENSE-MIT; \
	gzip build/release/$$name.tar; \
	$(CARGO_CYCLONEDX) cyclonedx --quiet --manifest-path bench/Cargo.toml --format json --spec-version 1.5 --override-filename sbom; \
	sed "s|file://$$PWD/|file:///|g" bench/runner/sbom.json > build/release/$$name.cdx.json
	rm bench/*/sbom.json bench/libraries/*/sbom.json
	$(VENV)/bin/cyclonedx-py requirements tools/requirements.txt --pyproject tools/pyproject.toml --output-reproducible \
	  --output-file "build/release/$$(basename build/release/*.whl .whl).cdx.json"

$(CARGO_CYCLONEDX)-$(CARGO_CYCLONEDX_VERSION):
	cargo install cargo-cyclonedx --version $(CARGO_CYCLONEDX_VERSION) --locked --quiet --root build
	touch $@

.PHONY: draft
draft: $(VENV)/.tools ## import a packed run and draft its report (ARCHIVE=… SUITE=standard)
	$(TLSPERF) draft $$ARCHIVE --suite "bench/suites/$$SUITE.toml"

.PHONY: night
night: $(VENV)/.build tlsbench valgrind ## count the newest main branch of a library (LIBRARY=rustls), into build/night
	scripts/count-main "$$LIBRARY"

.PHONY: nights
nights: $(VENV)/.tools ## add what is in build/night to the nights of the branch counts, and find steps
	scripts/commit-nights

.PHONY: bench-host
bench-host: ## make this Debian 12 machine a bench host (REPOSITORY=owner/name; run as root)
	scripts/bench-host $(REPOSITORY)

# --- what the targets need ---------------------------------------------------------------------

# Programs of an environment name its folder and its Python. In a checkout that was copied or moved they would run the
# code of the other one, so it is made anew there.
PLACE := realpath -e $(VENV) $(VENV)/bin/python
$(VENV)/.place: $(shell $(PLACE) 2>/dev/null | cmp -s - $(VENV)/.place || echo another-place) | doctor-tools
	python3 -m venv --clear $(VENV)
	@$(PLACE) > $@
.PHONY: another-place
$(VENV)/.tools: tools/requirements.txt tools/pyproject.toml $(VENV)/.place
	$(VENV)/bin/pip install --quiet --require-hashes --requirement tools/requirements.txt
	$(VENV)/bin/pip install --quiet --no-deps --no-build-isolation --editable tools
	touch $@
# Cargo does not see that the scripts configure OpenSSL or BoringSSL otherwise than before.
$(VENV)/.build: tools/requirements-build.txt scripts/cargo-config $(wildcard bench/libraries/openssl/perl bench/libraries/boringssl/cmake) $(VENV)/.place | clang
	$(VENV)/bin/pip install --quiet --require-hashes --requirement tools/requirements-build.txt
	scripts/cargo-config $(VENV) > bench/.cargo.new
	mkdir -p bench/.cargo && mv bench/.cargo.new bench/.cargo/config.toml
	rm -rf bench/target/*/build/{openssl,boring,aws-lc}-sys-*
	touch $@
$(VENV)/.dev: tools/requirements-dev.txt $(VENV)/.tools | doctor-setup
	$(VENV)/bin/pip install --quiet --require-hashes --requirement tools/requirements-dev.txt
	touch $@

$(VENV)/.audit: tools/requirements-audit.txt $(VENV)/.tools
	$(VENV)/bin/pip install --quiet --require-hashes --requirement tools/requirements-audit.txt
	touch $@

# Not `npm ci`: it requires the Zola of all other systems in the lock, and npm leaves those out.
node_modules/.installed: package-lock.json
	npm install --no-save --no-audit --no-fund --loglevel=error
	touch $@

# Other programs that builds and tests need, from Debian packages with the same names.
.PHONY: chromium clang valgrind strace
chromium clang valgrind strace:
	@command -v $@ >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $@ >/dev/null; \
	  else echo "$@ is missing: sudo apt-get install $@" >&2; exit 1; fi; }
