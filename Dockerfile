# The image of Reeve: Node with its libraries, the bundled program, and nothing else. No shell, no package manager.
#
# `npm run image` builds it. By hand: docker build --build-arg VERSION=0.1.0 --build-arg SOURCE_DATE_EPOCH=0 .

# Node 24.18.0 for all platforms. The build and the image use the same version.
ARG NODE_IMAGE=docker.io/library/node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

# Everything runs on the platform of the build machine, also for an image of another platform.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No install script of a package runs.
RUN npm ci --ignore-scripts
COPY tsconfig.json LICENSE ./
COPY src ./src
COPY build ./build
# `reeve up` is for a workstation; without it, the image has no sandbox that could serve a fake API.
RUN node build/bundle.ts --image
# The compile cache saves a quarter of the start. V8 only accepts it with the flags of the entry point.
RUN node build/compile-cache.ts --disable-proto=delete --disallow-code-generation-from-strings --no-addons --disable-sigusr1
COPY manifests ./manifests

FROM ${NODE_IMAGE} AS node

FROM build AS root
RUN --mount=type=bind,from=node,target=/node node build/root.ts /node /root-of-image

FROM scratch
COPY --from=root /root-of-image /
ARG NODE_IMAGE
# The version of package.json, the address of the repository, and the commit.
ARG VERSION
ARG SOURCE=""
ARG REVISION=""
# https://github.com/opencontainers/image-spec/blob/main/annotations.md
LABEL org.opencontainers.image.title="Reeve" \
    org.opencontainers.image.description="Keeps Kubernetes namespaces, their RBAC and their shared Secrets right." \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.source="${SOURCE}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.base.name="${NODE_IMAGE}"
WORKDIR /reeve
ENV PATH=/usr/local/bin NODE_ENV=production REEVE_HOST=0.0.0.0 NODE_COMPILE_CACHE=/reeve/dist/compiled NODE_COMPILE_CACHE_PORTABLE=1
# A numeric user, so that Kubernetes can verify that it is not root (runAsNonRoot).
USER 65532:65532
EXPOSE 8443 8081
# The program writes nothing to disk. The flags disable features of Node that it does not use, such as the debugger that SIGUSR1 starts.
ENTRYPOINT ["node", "--disable-proto=delete", "--disallow-code-generation-from-strings", "--no-addons", "--disable-sigusr1", "dist/bin/main.cjs"]
CMD ["run"]
