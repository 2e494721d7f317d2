# One program and what its tools call. The data folder is the container's own: what must last is in PostgreSQL.
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --locked --release --bin everloop

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home everloop \
    && install --directory --owner everloop /workspace
COPY --from=build /source/target/release/everloop /usr/local/bin/everloop
USER everloop
WORKDIR /workspace
EXPOSE 7717
ENTRYPOINT ["everloop"]
