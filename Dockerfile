# Builds the program, then puts it alone into a small image: docker build -t doubloon .
#
# With functions of your own: put your package beside or below this folder's content, and name it and its program.
#   docker build -t mygame --build-arg PACKAGE=Examples/OwnGame --build-arg PRODUCT=OwnGame .
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends libsqlite3-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
ARG PACKAGE=.
ARG PRODUCT=doubloon
# Which commit --version names, as Scripts/release says it: --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=
ENV DOUBLOON_COMMIT=$COMMIT
RUN swift build --package-path "$PACKAGE" --scratch-path .build -c release --static-swift-stdlib --toolset Scripts/release.json \
  --product "$PRODUCT" \
  && install -D -s ".build/release/$PRODUCT" image/usr/bin/doubloon \
  && install -D -m 644 Scripts/packaging/image/doubloon.jsonc image/etc/doubloon/doubloon.jsonc \
  && install -m 644 Examples/rules.json image/etc/doubloon/rules.json

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libpq5 libsqlite3-0 libstdc++6 \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 65532 doubloon && useradd --uid 65532 --gid 65532 --home-dir /data --no-create-home doubloon \
  && install -d -o doubloon -g doubloon /data
COPY --from=build /build/image/ /
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 9000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
  CMD ["/usr/bin/doubloon", "status", "--ready"]
# In production, with /etc/doubloon/doubloon.jsonc. To try things out: docker run -p 9000:9000 doubloon dev --host 0.0.0.0; then
# the admin token is random, and printed at the start.
ENTRYPOINT ["/usr/bin/doubloon"]
CMD ["serve", "--config", "/etc/doubloon/doubloon.jsonc"]
