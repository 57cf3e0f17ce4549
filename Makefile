# make prune                          everything, from a bare machine: environment, upstream, prune, checks, summary
# make test                           the tests (sets up what they need)
# make check                          format, lint, types, import contracts, tests
# make prune-tree UPSTREAM=path OUT=path [RULES=...] [REPORTS=path]     any tree
# make case CASE=folder OUT=path      a folder with in/ and facts.yaml
# make fetch [VERSION=...]            download and check a locked release
# make verify-full                    run both trees without a GPU, in an environment of their own (2 GB, once); a
#                                     check that could not run is an error
# make verify-ci                      what CI does: prune, run both trees, plant a sample of 60 wrong prunings
# make peer-tests UPSTREAM=checkout OUT=output                         upstream's CPU tests on a checkout and on its output
# make mutate [SAMPLE="--count 40 --faults 20"]                        plant wrong prunings, count who is caught
# make clean                          remove what was made here
#
# Exit status: that of the tool for 0 (clean) and 1 (findings). Make itself says 2 for everything
# worse; the tool's own status, also 3 (refuted), is in the last line on stderr.

PYTHON ?= python3
RULES ?= rules/cuda_only.yaml
JOBS ?=
VERSION ?=
SAMPLE ?=

VENV := .venv
VERIFY := .venv-verify
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input --quiet install
PRUNE := $(PY) -m pruner
LINTED := pruner tests

space := $(subst ,, )
jobs := $(if $(JOBS),-j $(JOBS))
rules := $(foreach file,$(RULES),--rules "$(file)")

run/prune = $(rules) --output generated --reports reports $(jobs)
run/prune-tree = $(rules) --upstream "$(call given,UPSTREAM)" --output "$(call given,OUT)" \
	--reports "$(or $(REPORTS),$(OUT)-reports)" $(jobs)
run/case = case "$(call given,CASE)" "$(call given,OUT)"
given = $(or $($(1)),$(error needs $(1)=path))
RUNS := prune prune-tree case
RUNNING := import-run names surface arguments layers plain-host

.DEFAULT_GOAL := prune
.PHONY: $(RUNS) env dev-env verify-env verify-full verify-ci peer-tests mutate test check lint fetch clean

# A recipe that fails always makes make say 2, so a recipe cannot report findings (1). Therefore a
# run that is the only goal is started while this file is read, and `make -q`, whose status
# is 1, passes its findings on. With several goals (`make clean prune`) the ordinary recipe below runs.
ifneq (,$(filter $(RUNS),$(MAKECMDGOALS)))
ifeq (1,$(words $(MAKECMDGOALS)))
ifeq (,$(findstring n,$(firstword -$(MAKEFLAGS))))
goal := $(MAKECMDGOALS)
ignored := $(shell { $(MAKE) -s --no-print-directory env && $(PRUNE) $(run/$(goal)); code=$$?; \
	echo "$(goal): exit status $$code"; exit $$code; } 1>&2)
status := $(.SHELLSTATUS)
ifeq (1,$(status))
MAKEFLAGS += -q
endif
endif
endif
endif

ifdef goal
$(goal):
	@exit $(status)
else
$(RUNS): env
	$(PRUNE) $(run/$@)
endif

env: $(VENV)/runtime.stamp
dev-env: $(VENV)/dev.stamp

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "needs Python 3.11 or later; name it: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@echo "setting up $(VENV) (once)" >&2
	$(PYTHON) -m venv $(VENV)

# The second line gives `prune` on the command line of the environment; nothing here needs it.
$(VENV)/runtime.stamp: requirements.txt pyproject.toml | $(PY)
	$(PIP) --require-hashes -r requirements.txt
	$(PIP) --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt pyproject.toml | $(PY)
	$(PIP) --require-hashes -r requirements-dev.txt
	$(PIP) --no-deps --no-build-isolation --no-index -e .
	@touch $@ $(VENV)/runtime.stamp

# An environment of its own: what a server needs, torch's CPU build, nothing of the tool.
verify-env: $(VERIFY)/stamp

$(VERIFY)/stamp: requirements-verify.txt
	$(PYTHON) -m venv $(VERIFY)
	$(VERIFY)/bin/python -m pip --disable-pip-version-check --no-input --quiet install --no-deps --require-hashes \
		-r requirements-verify.txt
	@touch $@

verify-full: env verify-env
	$(PRUNE) verify --behaviour --python $(VERIFY)/bin/python $(addprefix --require ,$(RUNNING)) $(rules) $(if $(UPSTREAM),--upstream "$(UPSTREAM)") $(jobs)

peer-tests: env verify-env
	$(PRUNE) peer-tests --upstream "$(call given,UPSTREAM)" --output "$(call given,OUT)" --python $(VERIFY)/bin/python $(rules) $(jobs)

# One after the other, whatever -j says: they share generated/ and the processors.
verify-ci: env
	$(MAKE) --no-print-directory prune
	$(MAKE) --no-print-directory verify-full
	$(MAKE) --no-print-directory mutate SAMPLE="--count 40 --faults 20"

mutate: dev-env
	$(PY) -m tests.mutation "$$($(PRUNE) fetch)" generated $(RULES) $(SAMPLE)

test: dev-env
	$(PY) -m pytest -q -n 2 --dist loadgroup

lint: dev-env
	$(PY) -m ruff format --check $(LINTED)
	$(PY) -m ruff check $(LINTED)
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

check: lint test

fetch: env
	$(PRUNE) fetch $(VERSION)

clean:
	rm -rf $(VENV) $(VERIFY) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find pruner tests -name __pycache__ -prune -exec rm -rf {} +
	find generated -mindepth 1 ! -name .gitkeep -delete
	find reports -mindepth 1 -maxdepth 1 ! -name README.md ! -name figures -exec rm -rf {} +
