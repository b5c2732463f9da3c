// The test run: everything under test/, with a last line that counts the tests.
import { clusterWorkers } from './test/support/cluster-workers.ts';
import { configDefaults, defineConfig } from 'vitest/config';

const onACluster = 'test/e2e/**/*.test.ts';

// oxlint-disable-next-line import/no-default-export -- vitest reads its configuration from the default export
export default defineConfig({
  test: {
    maxWorkers: clusterWorkers,
    reporters: ['default', './test/support/counting-reporter.ts'],
    projects: [
      {
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, onACluster],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'cluster',
          include: [onACluster],
          globalSetup: './test/support/control-plane.ts',
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
