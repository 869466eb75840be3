# make demo   set up, then train an agent and watch what it learnt; SEED=3 for another seed
# make test   set up, then lint, types and tests, within 10 minutes on two cores
.POSIX:
.PHONY: help demo test lint types tests test-slow clean
PY = .venv/bin/python
INPUTS = pyproject.toml constraints.txt scripts/setup

help:
	@echo "make demo       set up, then train an agent and watch what it learnt"
	@echo "make test       set up, then lint, types and tests"
	@echo "make test-slow  set up, then the tests that learn or compare with other libraries"
	@echo "make clean      remove what was set up"

.venv/ready: $(INPUTS)
	@sh scripts/setup
	@touch $@

.venv/ready-dev: $(INPUTS)
	@sh scripts/setup dev
	@touch .venv/ready $@

.venv/ready-peers: $(INPUTS)
	@sh scripts/setup dev peers
	@touch .venv/ready .venv/ready-dev $@

demo: .venv/ready
	@sh scripts/demo

test: lint types tests

lint: .venv/ready-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types: .venv/ready-dev
	.venv/bin/basedpyright

tests: .venv/ready-dev
	$(PY) -m pytest -n 2 --dist worksteal

test-slow: .venv/ready-peers
	$(PY) -m pytest -m slow

clean:
	rm -rf .venv
