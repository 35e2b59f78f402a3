# Builds the program, then puts it alone into a small image.
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends libsqlite3-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
RUN swift build -c release --static-swift-stdlib --toolset Scripts/release.json --product doubloon \
  && cp .build/release/doubloon /build/doubloon

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libsqlite3-0 libstdc++6 && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home doubloon && install -d -o doubloon /data
COPY --from=build /build/doubloon /usr/local/bin/doubloon
USER doubloon
VOLUME /data
EXPOSE 9000
# Other machines can reach the container, so the admin token is random and printed at the start.
ENTRYPOINT ["doubloon"]
CMD ["dev", "--host", "0.0.0.0", "--data", "/data"]
