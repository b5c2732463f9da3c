// docs/command-line.md is true in the sandbox: its commands run as written and print the output shown.
import { afterAll, beforeAll } from 'vitest';
import { testCommandLinePage } from '../support/command-line-page.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { until } from '../support/until.ts';

let up: ReeveProcess | undefined;
let kubeconfig = '';

beforeAll(async () => {
  const started = new ReeveProcess(['up']);
  up = started;
  await until(
    async () => await Promise.resolve(started.stdout.includes('In force:')),
    () => `the sandbox runs: ${started.stderr}`,
  );
  kubeconfig = /export KUBECONFIG=(\S+)/.exec(started.stdout)?.[1] ?? '';
});
afterAll(async () => await up?.[Symbol.asyncDispose]());

testCommandLinePage(() => kubeconfig);
