// The test run: everything under test/, with a last line that counts the tests.
import { defineConfig } from 'vitest/config';

// oxlint-disable-next-line import/no-default-export -- vitest reads its configuration from the default export
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/support/counting-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
