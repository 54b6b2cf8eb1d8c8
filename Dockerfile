# muckrake as a server: `docker build -t muckrake .`, or podman; docs/serving.md says how to run it.
# BASE is any image with a Python of 3.11 or newer; a folder `wheels` here takes the place of a network.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
WORKDIR /opt/muckrake
COPY . .
# The locked packages, by their hashes. A root that is read-only keeps no compiled files: they are made here.
RUN HOME=/tmp python3 mr --version && rm -rf wheels && .venv/bin/python -m compileall -q -j 0 .

FROM ${BASE}
RUN install -d -o 10001 -g 10001 -m 700 /var/lib/muckrake
COPY --from=build /opt/muckrake /opt/muckrake
ENV HOME=/tmp XDG_CACHE_HOME=/tmp/cache XDG_STATE_HOME=/var/lib/muckrake/state \
    MUCKRAKE_LEDGER=/var/lib/muckrake/ledger
USER 10001:10001
WORKDIR /tmp
VOLUME /var/lib/muckrake
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=30s --interval=30s --timeout=10s \
    CMD ["/opt/muckrake/.venv/bin/python", "-I", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=5)"]
ENTRYPOINT ["/opt/muckrake/.venv/bin/muckrake"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
