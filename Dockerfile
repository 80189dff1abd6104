# An image with the executable, and with the programs that health checks call: `docker build -t mailstead .`
# It runs `mailstead dev`; `docker run mailstead serve …` runs the server for production.

FROM oven/bun:1.4.5 AS build
WORKDIR /source
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --ignore-scripts
COPY . .
# The folder of the volume belongs to the user of the image, so that a new volume does, too.
# `/mailpit` is the path of the executable in the image that compose files name in health checks.
RUN bun scripts/build.ts --outfile /image/mailstead && mkdir /image/data /image/links \
    && ln -s /usr/local/bin/mailstead /image/links/mailpit

FROM gcr.io/distroless/base-debian12:nonroot
# One static file, which is the program that its name says.
COPY --from=busybox:1.37.0-musl /bin/busybox /bin/sh
COPY --from=busybox:1.37.0-musl /bin/busybox /bin/wget
COPY --from=busybox:1.37.0-musl /bin/busybox /bin/nc
COPY packaging/curl /bin/curl
COPY --from=build /image/mailstead /usr/local/bin/mailstead
COPY --from=build /image/links/ /
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
WORKDIR /data
VOLUME /data
# Inboxes need no key for the networks of the container (services of a compose file, and its host),
# by these names; set MAILSTEAD_ALLOWED_HOST for any other name.
ENV MAILSTEAD_HOST=0.0.0.0 \
    MAILSTEAD_URL=http://localhost:8025 \
    MAILSTEAD_KEYLESS_PEER=attached \
    MAILSTEAD_ALLOWED_HOST=localhost,127.0.0.1,host.docker.internal,mailstead,mailpit,mailhog,mailcatcher,mailer,mail,smtp
EXPOSE 1025 8025
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["mailstead", "readyz"]
ENTRYPOINT ["mailstead"]
CMD ["dev"]
