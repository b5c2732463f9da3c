// The test run: its projects, from the quickest to the longest, and a last line that counts the tests.
import { nodeVersionProblem } from './src/app/shipped-files.ts';
import { clusterWorkers } from './test/support/cluster-workers.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { neverBuilds } from './test/cluster/go-program.ts';
import { configDefaults, defineConfig } from 'vitest/config';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}: run npm test, or put node_modules/.bin first in PATH\n`);
  process.exit(1);
}

const onACluster = 'test/e2e/**/*.test.ts';

/** Run on a real control plane and on the sandbox, one after the other. */
const onBoth = 'test/contract/**/*.test.ts';

/** Reeve in Pods, on real nodes. */
const onNodes = 'test/node/**/*.test.ts';

/** Builds the image and runs it. */
const onTheImage = 'test/image/image.test.ts';

/** Needs a process or a port: a quick test does not. */
const withProcessesOrPorts = ['test/**/*.io.test.ts', 'test/http/**/*.test.ts', 'test/samples/**/*.test.ts'];

/** Needs the bundle, Helm, Lua or another program that is built. That takes minutes the first time, so `npm test` leaves it out. */
const withBuiltPrograms = [
  'test/image/*.io.test.ts',
  'test/chart/**/*.test.ts',
  'test/checks/workflows.io.test.ts',
  'test/unit/bench/load.io.test.ts',
  'test/unit/manifests/argocd-health.io.test.ts',
];

/** Minutes each, one after the other: 100 writes a second without a failed one, a soak with faults, and lost webhooks. */
const oneByOne = [
  'test/e2e/zero-failures.test.ts',
  'test/e2e/webhook-outage.test.ts',
  'test/soak/soak.test.ts',
];

/** Start control planes of their own, beside each other. `npm run test:cluster` would take too long with them. */
const onOwnPlanes = [
  'alerts',
  'backup',
  'chart',
  'chart-releases',
  'command-line-page',
  'deleted-definitions',
  'etcd-restore',
  'fan-out',
  'faults',
  'guard-controllers',
  'install',
  'intents-engines',
  'intents-lifecycle',
  'intents-samples',
  'intents-scans',
  'leader-burst',
  'one-identity',
  'recipes',
  'report',
  'secret-names',
  'tracing',
  'uninstall',
].map((name) => `test/e2e/${name}.test.ts`);

/**
 * The e2e files that need nothing which only a real cluster has (an etcd, workloads, an audit log). `npm test` runs them on
 * the sandbox, and `npm run test:cluster` on real control planes.
 */
const onTheSandbox = [
  'admission-owners',
  'config-map-shares',
  'enforced-values',
  'claims',
  'adoption',
  'audit',
  'contents',
  'contents-lifecycle',
  'create-once',
  'fuse',
  'lists',
  'provider-names',
  'readme',
  'replaced-bindings',
  'reconciler-outside',
  'refused-writes',
  'role-bindings',
  'secret-copies',
  'secret-share-limits',
  'secret-shares',
  'service-accounts',
  'steering',
].map((name) => `test/e2e/${name}.test.ts`);

/** Ends a test that hangs: five times what the slowest test needs on a slow machine. No test depends on speed. */
const hangs = 300_000;

/** The golden cases need to know: one expected.yaml is rewritten for many tests. */
const isUpdating = process.argv.some((word) => word === '-u' || word === '--update');

declare module 'vitest' {
  interface ProvidedContext {
    readonly isUpdating: boolean;
  }
}

const quick = {
  test: {
    name: 'quick',
    include: ['test/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      onACluster,
      onBoth,
      onNodes,
      onTheImage,
      ...withProcessesOrPorts,
      ...oneByOne,
    ],
    // Quick tests share nothing that one could leave behind for the next, and most end before a process could start.
    isolate: false,
    setupFiles: [
      './test/support/load-first.ts',
      './test/support/no-io.ts',
      './test/support/seeded-properties.ts',
    ],
    testTimeout: hangs,
  },
};

const local = {
  test: {
    name: 'local',
    include: withProcessesOrPorts,
    exclude: [...configDefaults.exclude, ...withBuiltPrograms],
    isolate: false,
    env: neverBuilds,
    setupFiles: './test/support/load-first.ts',
    testTimeout: hangs,
    hookTimeout: hangs,
  },
};

const built = {
  test: {
    name: 'built',
    include: withBuiltPrograms,
    isolate: false,
    globalSetup: './test/support/helms.ts',
    setupFiles: './test/support/load-first.ts',
    testTimeout: hangs,
    hookTimeout: hangs,
  },
};

const sandbox = {
  test: {
    name: 'sandbox',
    include: onTheSandbox,
    env: neverBuilds,
    // Files without options of their own share one Reeve, which stays in its worker.
    isolate: false,
    globalSetup: './test/support/sandboxes.ts',
    testTimeout: hangs,
    hookTimeout: hangs,
  },
};

const cluster = {
  test: {
    name: 'cluster',
    include: [onACluster, onBoth],
    exclude: [...configDefaults.exclude, ...oneByOne, ...onOwnPlanes],
    globalSetup: [
      './test/support/helms.ts',
      './test/support/control-plane.ts',
      './test/support/contract-certificates.ts',
      './test/support/contract-client.ts',
    ],
    testTimeout: hangs,
    hookTimeout: hangs,
  },
};

const alone = {
  test: {
    name: 'alone',
    include: oneByOne,
    globalSetup: './test/support/own-planes.ts',
    fileParallelism: false,
    sequence: { groupOrder: 1 },
    testTimeout: hangs,
    hookTimeout: 600_000,
  },
};

const ownPlanes = {
  test: {
    name: 'own-planes',
    include: onOwnPlanes,
    globalSetup: [
      './test/support/helms.ts',
      './test/support/engine-kinds.ts',
      './test/support/own-planes.ts',
    ],
    sequence: { groupOrder: 2 },
    testTimeout: hangs,
    hookTimeout: hangs,
  },
};

/** Needs root on Linux, Go, and the packages that test/cluster/node/packages.ts names. */
const node = {
  test: {
    name: 'node',
    include: [onNodes],
    globalSetup: './test/node/support/rig-setup.ts',
    fileParallelism: false,
    sequence: { groupOrder: 3 },
    testTimeout: hangs,
    hookTimeout: 600_000,
  },
};

/** Needs root on Linux, and the packages that test/image/tools.ts names. */
const image = {
  test: {
    name: 'image',
    include: [onTheImage],
    globalSetup: './test/image/setup.ts',
    sequence: { groupOrder: 3 },
    testTimeout: hangs,
    hookTimeout: hangs,
  },
};

// oxlint-disable-next-line import/no-default-export -- vitest reads its configuration from the default export
export default defineConfig({
  test: {
    maxWorkers: clusterWorkers,
    sequence: { sequencer: LongestFirst },
    provide: { isUpdating },
    reporters: ['default', './test/support/counting-reporter.ts'],
    projects: [quick, local, sandbox, built, cluster, alone, ownPlanes, image, node],
  },
});
