// The test run: everything under test/, with a last line that counts the tests.
import { clusterWorkers } from './test/support/cluster-workers.ts';
import { configDefaults, defineConfig } from 'vitest/config';

const onACluster = 'test/e2e/**/*.test.ts';

/** On a real control plane and on the sandbox, one after the other. */
const onBoth = 'test/contract/**/*.test.ts';

/** Alone on the machine: it is about a pace. */
const pace = 'test/e2e/zero-failures.test.ts';

/** Reads the report of what has run beside all others. */
const soak = 'test/soak/soak.test.ts';

/**
 * Those of them that ask for nothing that only a real cluster has (an etcd, workloads, an audit log), and are quick: they
 * must take less than a minute, so that a machine without Go tests both moments as well.
 */
const onTheSandbox = [
  'admission-owners',
  'contents',
  'contents-lifecycle',
  'fuse',
  'readme',
  'role-bindings',
  'secret-share-limits',
  'secret-shares',
  'steering',
  'up-on-cluster',
].map((name) => `test/e2e/${name}.test.ts`);

/** The golden cases need to know: one expected.yaml is rewritten for many tests. */
const isUpdating = process.argv.some((word) => word === '-u' || word === '--update');

declare module 'vitest' {
  interface ProvidedContext {
    readonly isUpdating: boolean;
  }
}

// oxlint-disable-next-line import/no-default-export -- vitest reads its configuration from the default export
export default defineConfig({
  test: {
    maxWorkers: clusterWorkers,
    provide: { isUpdating },
    reporters: ['default', './test/support/counting-reporter.ts'],
    projects: [
      {
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, onACluster, onBoth, soak],
          // They share nothing that one could leave behind for the next, and most are over before a process has begun.
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'sandbox',
          include: onTheSandbox,
          globalSetup: './test/support/sandboxes.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'cluster',
          include: [onACluster, onBoth],
          exclude: [...configDefaults.exclude, pace],
          globalSetup: [
            './test/support/control-plane.ts',
            './test/support/contract-certificates.ts',
            './test/support/contract-client.ts',
          ],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'pace',
          include: [pace],
          globalSetup: './test/support/own-planes.ts',
          sequence: { groupOrder: 1 },
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'soak',
          include: [soak],
          globalSetup: './test/soak/in-the-background.ts',
          // It begins with the others, and nobody waits for it before they are done.
          sequence: { groupOrder: 2 },
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
