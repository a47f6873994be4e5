# Omnia Memory. `make` lists what there is to do.
.DEFAULT_GOAL := help
.PHONY: help run stop test bench clean environment test-environment
MAKEFLAGS += --no-print-directory

# The first Python that is new enough; PYTHON=... asks for a certain one.
define find_python
for python in $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python3.14); do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; python=; \
done; \
if [ -z "$$python" ]; then \
	echo "Python 3.11 or newer is needed$(if $(PYTHON),; $(PYTHON) is not). On Debian and Ubuntu:" >&2; \
	echo "  sudo apt-get install python3.11 python3.11-venv && PYTHON=python3.11 make $(MAKECMDGOALS)" >&2; \
	exit 1; \
fi
endef

# The checks are the same whatever the operator's shell points to.
check = @printf '\n== %s\n' '$(1)'; env -u DATABASE_URL -u REDIS_URL .venv/bin/$(1)

help: ## what there is to do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

run: environment ## start everything on http://127.0.0.1:8000 (PORT=8001 for another port)
	@exec .venv/bin/python -m omnia.quickstart run

stop: ## stop what `make run` started in this folder
	@$(find_python); "$$python" -m omnia.quickstart stop

test: test-environment ## every check, the tests last; with servers of its own
	$(call check,ruff check .)
	$(call check,ruff format --check .)
	$(call check,mypy .)
	$(call check,lint-imports)
	$(call check,python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run)
	$(call check,python -m pytest -n 2)

bench: environment ## what each operation costs, and how well recall finds; takes minutes
	@exec .venv/bin/python -m bench

clean: ## delete the demo's data, the logs and .venv; refuses while `make run` runs
	@$(find_python); "$$python" -m omnia.quickstart clean
	rm -rf .venv staticfiles .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

environment:
	@$(find_python); "$$python" omnia/quickstart/environment.py requirements.txt requirements-embedded.txt

test-environment:
	@$(find_python); "$$python" omnia/quickstart/environment.py requirements.txt requirements-embedded.txt requirements-dev.txt
