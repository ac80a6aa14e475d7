# Everything that a person or a machine does with the project. Each target does its own set-up; `make help` lists them.

PYTHON ?= python3
SETUP  := $(PYTHON) scripts/setup.py
PYTEST := .venv/bin/python -m pytest
# Most of the time goes into daemons that start; files run side by side, the tests of one file in order.
PARALLEL := -n 4 --dist loadfile

NODE   := .cache/bin/node

CLIENTS    := mcp2 mcp1 fastmcp4 fastmcp3
CLIENTS_OK := $(CLIENTS:%=.cache/clients/%/.ready)
# The bench's own peers: `make setup` and CI do without them.
BENCH      := robyn pjrpc fastmcp
BENCH_OK   := $(BENCH:%=.cache/bench/%/.ready)
BOLT_OK    := .cache/bench/bolt/.ready
NODE_OK    := .cache/node/.ready
VENV_OK    := .venv/.ready
DOCS_OK    := .cache/docs/.ready
FUZZ_OK    := .cache/fuzz/.ready
WHEELS_OK  := .cache/wheels/.ready
PIPX_OK    := .cache/pipx/.ready
IMAGE_OK   := .cache/image/.ready
AUDIT_OK   := .cache/audit/.ready
COMPILE    := .cache/uv/bin/uv pip compile --quiet --upgrade --universal --generate-hashes --no-annotate \
	--python-version 3.11 --custom-compile-command 'make lock'

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## say what there is to do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- to use -----------------------------------------------------------------------------------------------------------

.PHONY: setup
setup: ## fetch everything that the daemon and its tests need, into .venv and .cache
	@$(MAKE) -s -j2 $(VENV_OK) $(CLIENTS_OK) $(NODE_OK) $(WHEELS_OK) $(PIPX_OK)
	@$(SETUP) redis
	@$(SETUP) postgres
	@$(SETUP) curl
	@$(SETUP) chromium
	@$(SETUP) nspawn

.PHONY: serve
serve: $(VENV_OK) ## serve the example: the address is in the log
	@exec .venv/bin/rpcgw serve -c gateway.yaml.example

.PHONY: test
test: setup ## run every test; needs no network once `make setup` has run
	@$(PYTEST) $(PARALLEL) $(ARGS)

# --- to keep it in order ----------------------------------------------------------------------------------------------

.PHONY: ci
ci: lint types layers audit test bench-short ## what CI runs: lint, types, layers, the audit, every test, the short bench

.PHONY: lint
lint: $(VENV_OK) $(NODE_OK) ## check style and format
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@$(NODE) .cache/node/node_modules/eslint/bin/eslint.js --config tests/clients/node/eslint.config.mjs rpcgw/pages/static

.PHONY: types
types: $(VENV_OK) $(NODE_OK) ## check types
	@.venv/bin/mypy
	@$(NODE) .cache/node/node_modules/typescript/bin/tsc --project tests/clients/node

.PHONY: layers
layers: $(VENV_OK) ## check who imports whom
	@.venv/bin/lint-imports --no-logo

.PHONY: audit
audit: $(VENV_OK) $(AUDIT_OK) ## ask osv.dev whether anything that the daemon is installed with is known to be unsafe
	@.venv/bin/python -m scripts.audit $(ARGS)

.PHONY: format
format: $(VENV_OK) ## put the code into its format
	@.venv/bin/ruff check --fix-only .
	@.venv/bin/ruff format .

.PHONY: contract
contract: setup ## show each clause of docs/contract.md with its tests, and run them
	@.venv/bin/python -m scripts.contract
	@$(PYTEST) tests/contract $(ARGS)

.PHONY: contract-mutants
contract-mutants: setup ## see that each clause's tests turn red when the clause is broken
	@.venv/bin/python -m scripts.contract_mutants $(ARGS)

.PHONY: acceptance
acceptance: setup ## run the tests of docs/acceptance/ and write docs/acceptance.md: what was sent, what came back
	@.venv/bin/python -m scripts.acceptance $(ARGS)

.PHONY: systemd-test
systemd-test: setup $(RELEASE:%=.cache/systems/%/.ready) ## run the units under a booted systemd, as root: this one's, or RELEASE=trixie's
	@SYSTEM=$(RELEASE:%=.cache/systems/%/tree) $(PYTEST) tests/e2e/test_booted_service.py $(ARGS)

.PHONY: image-test
image-test: setup $(IMAGE_OK) ## build the image with podman and run it, on a network of its own: as root, on Debian
	@unshare --net --mount --pid --fork --kill-child --mount-proc $(PYTEST) tests/image/running.py $(ARGS)

.PHONY: kills
kills: setup ## kill a random worker each second for a minute, under load; KILL_SECONDS=600 takes longer
	@KILL_SECONDS=$${KILL_SECONDS:-60} $(PYTEST) tests/e2e/faults/test_kills.py $(ARGS)

.PHONY: ops-report
ops-report: setup ## run the fault tests at full length, about ten minutes, and write their figures into docs/operations.md
	@RPCGW_FLOODS=full KILL_SECONDS=$${KILL_SECONDS:-60} SOAK=$${SOAK:-180} FUZZ_SECONDS=$${FUZZ_SECONDS:-60} \
		.venv/bin/python -m scripts.ops_report $(ARGS)

.PHONY: soak
soak: setup ## open and drop sessions for SECONDS=600: memory and descriptors stay flat
	@SOAK=$(or $(SECONDS),600) $(PYTEST) -s tests/e2e/test_soak.py $(ARGS)

.PHONY: fuzz
fuzz: $(VENV_OK) ## fuzz every parser that faces the network, or ARGS="--seconds 300 PARSER ..."
	@$(MAKE) -s $(FUZZ_OK) || echo "fuzz: atheris cannot be had here"
	@PYTHONPATH="$(CURDIR):$$(echo $(CURDIR)/.cache/fuzz/lib/python3*/site-packages)" .venv/bin/python -m scripts.fuzz $(ARGS)

.PHONY: screenshots
screenshots: setup ## take pictures of the pages that the example serves, into .cache/screenshots
	@.venv/bin/python -m scripts.screenshots

.PHONY: conformance
conformance: setup ## run the official MCP conformance suite, against a daemon of its own or URL=http://localhost:...
	@scripts/conformance.sh $(URL)

.PHONY: bench
bench: $(VENV_OK) $(CLIENTS_OK) $(BENCH_OK) $(BOLT_OK) $(NODE_OK) ## measure the daemon beside its peers, into docs/performance.md
	@.venv/bin/python -m bench --write $(ARGS)

.PHONY: bench-short
bench-short: $(VENV_OK) ## see in less than a minute that no call has become much dearer
	@.venv/bin/python -m bench --short --assert $(ARGS)

.PHONY: reference
reference: $(VENV_OK) ## write docs/reference from the code
	@.venv/bin/python -m scripts.reference

.PHONY: docs
docs: reference $(DOCS_OK) ## build the documentation into site; a warning fails it
	@rm -rf .cache/site site && mkdir -p .cache/site
	@cp -r mkdocs.yml docs .cache/site # built in a folder of its own: its builder keeps a .cache beside the configuration
	@cd .cache/site && ../docs/bin/zensical build --strict
	@mv .cache/site/site site

.PHONY: wheel
wheel: $(VENV_OK) ## build the wheel and the source distribution into dist
	@.venv/bin/python -m build --no-isolation --outdir dist .

.PHONY: install
install: wheel ## install it as a systemd service: into /opt/rpcgw, /etc/rpcgw, /etc/systemd/system (or below ROOT=...)
	@$(PYTHON) scripts/install.py $(ROOT)

.PHONY: lock
lock: .cache/uv/.ready .cache/bin/.ready ## renew the lock files from pyproject.toml, requirements/*.in and package.json
	@for name in uv node pipx pytest docs fuzz audit $(CLIENTS) $(BENCH); do \
		$(COMPILE) requirements/$$name.in -o requirements/$$name.lock || exit 1; done
	@$(subst 3.11,3.12,$(COMPILE)) requirements/bolt.in -o requirements/bolt.lock
	@$(COMPILE) pyproject.toml --all-extras --group dev -o requirements/dev.lock
	@$(COMPILE) pyproject.toml --constraints requirements/dev.lock -o requirements/runtime.lock
	@$(COMPILE) pyproject.toml --all-extras --constraints requirements/dev.lock -o requirements/container.lock
	@cd tests/clients/node && $(CURDIR)/.cache/bin/node $(CURDIR)/.cache/bin/npm-cli.js \
		update --package-lock-only --ignore-scripts --no-audit --no-fund

.PHONY: clean
clean: ## remove everything that was fetched or made here
	@rm -rf .venv .cache dist build site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- what is fetched: a stamp in each folder says that it is as its lock wants it -------------------------------------

$(VENV_OK): requirements/dev.lock pyproject.toml
	@echo "setup: .venv"
	@$(SETUP) venv .venv requirements/dev.lock .
	@touch $@

$(CLIENTS_OK): .cache/clients/%/.ready: requirements/%.lock
	@echo "setup: client $*"
	@$(SETUP) venv .cache/clients/$* $<
	@touch $@

$(BENCH_OK): .cache/bench/%/.ready: requirements/%.lock
	@echo "setup: peer $*"
	@$(SETUP) venv .cache/bench/$* $<
	@touch $@

$(BOLT_OK): requirements/bolt.lock
	@echo "setup: peer bolt"
	@mkdir -p $(@D)
	@$(SETUP) other-venv 3.12 .cache/bench/bolt $<
	@test ! -x .cache/bench/bolt/bin/python || touch $@

$(WHEELS_OK): requirements/runtime.lock requirements/pipx.lock requirements/pytest.lock | $(VENV_OK)
	@echo "setup: wheels"
	@$(SETUP) wheels .cache/wheels $^
	@touch $@

$(PIPX_OK): requirements/pipx.lock
	@echo "setup: pipx"
	@$(SETUP) venv .cache/pipx $<
	@touch $@

$(AUDIT_OK): requirements/audit.lock
	@echo "setup: audit"
	@$(SETUP) venv .cache/audit $<
	@touch $@

.cache/systems/%/.ready: requirements/runtime.lock
	@echo "setup: Debian $*"
	@$(SETUP) system .cache/systems/$* $* $<
	@touch $@

$(IMAGE_OK): requirements/container.lock | $(VENV_OK)
	@echo "setup: the image's base and wheels"
	@$(SETUP) image .cache/image $<
	@touch $@

$(DOCS_OK): requirements/docs.lock
	@echo "setup: docs"
	@$(SETUP) venv .cache/docs $<
	@touch $@

$(FUZZ_OK): requirements/fuzz.lock
	@echo "setup: fuzz"
	@$(SETUP) venv .cache/fuzz $<
	@touch $@

.cache/uv/.ready: requirements/uv.lock
	@$(SETUP) venv .cache/uv $<
	@touch $@

.cache/bin/.ready: requirements/node.lock
	@echo "setup: node"
	@$(SETUP) node .cache/clients/node .cache/bin/node
	@touch $@

$(NODE_OK): tests/clients/node/package-lock.json tests/clients/node/package.json .cache/bin/.ready
	@echo "setup: npm clients"
	@$(SETUP) npm .cache/node tests/clients/node .cache/bin/node
	@touch $@
