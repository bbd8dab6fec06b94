# The image of a release: the program and CA certificates, without a shell. goreleaser builds it
# from the programs of the release; docs/headless.md describes its use.
FROM gcr.io/distroless/static-debian12:nonroot
ARG TARGETPLATFORM
COPY ${TARGETPLATFORM}/xcsh-ls /usr/bin/xcsh-ls
COPY LICENSE THIRD_PARTY_NOTICES.txt /usr/share/doc/xcsh-ls/
# Works with a read-only root file system: sessions go to the volume, other files to /tmp.
ENV PI_CODING_AGENT_DIR=/agent
VOLUME /agent
USER nonroot:nonroot
WORKDIR /work
ENTRYPOINT ["/usr/bin/xcsh-ls"]
