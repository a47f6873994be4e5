# One image for every process of Omnia Memory; the argument says which (see deploy/entrypoint).
#   docker build --tag omnia-memory .
#   docker run --env-file .env omnia-memory migrate
#   docker run --env-file .env --publish 8000:8000 omnia-memory web

FROM python:3.12-slim AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
COPY requirements.txt /
RUN pip install --only-binary :all: --requirement /requirements.txt \
    && pip uninstall --yes pip
WORKDIR /app
COPY . .
RUN python manage.py collectstatic --no-input \
    && python -m compileall -q . && chmod -R a+rX .

FROM python:3.12-slim
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
COPY --from=builder /opt/venv /opt/venv
COPY --from=builder /app /app
WORKDIR /app
# A number, so that Kubernetes can see it is not root.
USER 10001:10001
EXPOSE 8000 8001
# Of the web process; start the others with --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ.get('PORT', '8000')}/healthz\", timeout=2)"]
ENTRYPOINT ["/app/deploy/entrypoint"]
CMD ["web"]
