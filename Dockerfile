# The image of Reeve: the compiled program and its production dependencies, for a numeric user and a read-only root.

FROM node:24-bookworm-slim AS build
WORKDIR /reeve
COPY package.json package-lock.json .npmrc ./
# No install script of a package runs.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN node_modules/.bin/tsc -p tsconfig.build.json
# `reeve up` is for a workstation; without it, the image has no sandbox that could serve a fake API.
RUN rm -r dist/sandbox dist/cli/demo dist/cli/up.js
RUN npm ci --ignore-scripts --omit=dev

FROM node:24-bookworm-slim
# The program needs no package manager, and an intruder must not find one.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
    /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-*
WORKDIR /reeve
COPY --from=build /reeve/package.json ./
COPY --from=build /reeve/node_modules ./node_modules
COPY --from=build /reeve/dist ./dist
# The program applies these webhook configurations once it is ready.
COPY manifests/webhooks ./manifests/webhooks
ENV NODE_ENV=production REEVE_HOST=0.0.0.0
# A numeric user, so that Kubernetes can verify that it is not root (runAsNonRoot).
USER 65532:65532
EXPOSE 8443 8081
# The program writes nothing to disk. The flags disable features of Node that it does not use.
ENTRYPOINT ["node", "--disable-proto=delete", "--disallow-code-generation-from-strings", "--no-addons", "dist/main.js"]
CMD ["run"]
