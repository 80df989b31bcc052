# syntax=docker/dockerfile:1

# A program with flows in a container. As it stands, the program is the example `desk` of flow-server:
#
#     docker build --tag typed-flows-desk .
#
# For a program of your own, copy this file and `.dockerignore` into its workspace, and set the arguments of the build.
# Crates that it depends on by path have to be in the same folder.
#
#     docker build --build-arg PACKAGE=claims --build-arg KIND=bin --build-arg NAME=claims --build-arg FEATURES= .
#
# `docs/deployment.md` says how to run it.

# Both images have to be of the same Debian: a program needs the C library that it was linked with, or a newer one.
ARG DEBIAN=bookworm

# This image has a C compiler, which SQLite and the TLS of Postgres need.
FROM rust:1.95-${DEBIAN} AS build
ARG PACKAGE=typed-flows-server
# `example` or `bin`.
ARG KIND=example
ARG NAME=desk
# `postgres`, `blobs` and `otel` of flow-server include `program`, which `desk` needs.
ARG FEATURES=postgres,blobs,otel
WORKDIR /source
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    set -eu; \
    cargo build --locked --release --package "$PACKAGE" "--$KIND" "$NAME" --features "$FEATURES"; \
    case "$KIND" in \
        example) built="target/release/examples/$NAME" ;; \
        *) built="target/release/$NAME" ;; \
    esac; \
    cp "$built" /usr/local/bin/program

FROM debian:${DEBIAN}-slim
# The certificates are those that a connection to Postgres by TLS trusts.
RUN set -eu; \
    apt-get update; \
    apt-get install --yes --no-install-recommends ca-certificates; \
    rm -rf /var/lib/apt/lists/*; \
    groupadd --gid 10001 flows; \
    useradd --uid 10001 --gid flows --no-create-home --home-dir /data --shell /usr/sbin/nologin flows; \
    install --directory --owner=flows --group=flows --mode=0700 /data
COPY --from=build /usr/local/bin/program /usr/local/bin/program
USER 10001:10001
# Without `--store`, the store is `runs.db` in this folder.
WORKDIR /data
VOLUME /data
EXPOSE 7878
# `serve` and `worker` drain when they get it.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/program"]
# Other machines can reach this address. Without tokens, `serve` refuses to listen there.
CMD ["serve", "--listen", "0.0.0.0:7878", "--tokens", "/run/secrets/tokens"]
