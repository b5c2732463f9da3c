// `reeve test --watch` runs again after a change of a suite or of a file that a suite names, until a signal ends it.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCommand } from '../../../src/cli/commands.ts';
import { isOfSuites } from '../../../src/cli/commands/test-watch.ts';
import { ioOf } from '../../support/run-command.ts';
import { ReeveProcess } from '../../support/serve-process.ts';
import { SuiteFolder } from '../../support/suite-folder.ts';
import { until } from '../../support/until.ts';

const policy = (pattern: string): string =>
  `apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: { name: a }\nspec: { namespaces: { name: { pattern: '${pattern}' } } }\n`;
const suite = (policies: string, names: readonly string[]): string => {
  const tests = names.map(
    (name) =>
      `  - name: ${name}\n    request: { create: { apiVersion: v1, kind: Namespace, metadata: { name: ${name} } } }\n    expect: { verdict: allowed }\n`,
  );
  return `apiVersion: cli.reeve.dev/v1\nkind: Suite\npolicies: [${policies}]\ntests:\n${tests.join('')}`;
};

/** Runs the command in this process. `next` waits for the results of one more run. */
class Watching implements AsyncDisposable {
  readonly #printed = { stdout: '', stderr: '' };
  readonly #stop = Promise.withResolvers<() => void>();
  readonly #ended: Promise<number>;
  readonly #seen = { stdout: 0, stderr: 0 };

  constructor(path: string) {
    this.#ended = this.#run(path);
  }

  async #run(path: string): Promise<number> {
    const command = await readCommand(['test', '--watch', path], {});
    if (command.kind !== 'test') throw new Error(JSON.stringify(command));
    const onSignal = (listener: (signal: 'SIGINT') => void) => this.#stop.resolve(() => listener('SIGINT'));
    return await command.run(ioOf(this.#printed, { onSignal }));
  }

  /** A run that reads a file before it is whole prints something else, and another run follows. */
  async next(stream: 'stdout' | 'stderr', wanted: string): Promise<void> {
    await until(
      () => Promise.resolve(this.#printed[stream].slice(this.#seen[stream]).includes(wanted)),
      () => JSON.stringify(this.#printed),
    );
    this.#seen[stream] = this.#printed[stream].length;
  }

  async stop(): Promise<number> {
    (await this.#stop.promise)();
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

test('each change is followed by a run, and a signal ends the command with 0', async () => {
  using folder = new SuiteFolder();
  folder.write('policies/a.yaml', policy('^a'));
  folder.write('suites/a.yaml', suite('../policies', ['a-1']));
  const suites = join(folder.path, 'suites');
  await using watching = new Watching(suites);
  await watching.next('stdout', '1 test in 1 suite: 1 passed\n');
  folder.write('suites/a.yaml', suite('../policies', ['a-1', 'a-2']));
  await watching.next('stdout', '2 tests in 1 suite: 2 passed\n');
  folder.write('policies/a.yaml', policy('^b'));
  await watching.next('stdout', '2 tests in 1 suite: 0 passed, 2 failed\n');
  writeFileSync(join(folder.path, 'new.yaml'), policy('-1$'));
  renameSync(join(folder.path, 'new.yaml'), join(folder.path, 'policies/a.yaml'));
  await watching.next('stdout', '2 tests in 1 suite: 1 passed, 1 failed\n');
  mkdirSync(join(suites, 'more'));
  await watching.next('stdout', '2 tests in 1 suite: 1 passed, 1 failed\n');
  folder.write('suites/more/b.yaml', suite('../../policies', ['b-1']));
  await watching.next('stdout', '3 tests in 2 suites: 2 passed, 1 failed\n');
  rmSync(join(suites, 'a.yaml'));
  await watching.next('stdout', '1 test in 1 suite: 1 passed\n');
  folder.write('suites/more/b.yaml', '# cli.reeve.dev\n{');
  await watching.next('stderr', 'b.yaml:2:2: invalid YAML');
  folder.write('suites/more/b.yaml', suite('../../policies', ['c-1']));
  await watching.next('stdout', '1 test in 1 suite: 1 passed\n');
  expect(await watching.stop()).toBe(0);
});

test('the process ends with 0 after SIGINT', async () => {
  using folder = new SuiteFolder();
  folder.write('a.yaml', suite('policy.yaml', ['a-1']));
  folder.write('policy.yaml', policy('^a'));
  const reeve = new ReeveProcess(['test', '--watch', folder.path]);
  await until(
    () => Promise.resolve(reeve.stderr.includes('Ctrl-C ends the command')),
    () => reeve.stderr,
  );
  reeve.kill('SIGINT');
  expect((await reeve.ended()).code).toBe(0);
});

test('without a folder to watch, the command exits with 3', async () => {
  using folder = new SuiteFolder();
  const path = join(folder.path, 'no/where/a.yaml');
  const { code, stderr } = await new ReeveProcess(['test', '--watch', path]).ended();
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: `${path} cannot be read: there is no such file or folder\n`,
  });
});

test.for<[event: string, name: string | null, expected: boolean]>([
  ['change', 'team.yaml', true],
  ['change', 'team.YML', true],
  ['rename', 'review.json', true],
  ['rename', 'policies', true],
  ['change', null, true],
  ['change', 'results', false],
  ['change', '.team.yaml.swp', false],
  ['rename', '.#team.yaml', false],
  ['rename', 'team.yaml~', false],
  ['change', 'results.xml', false],
])('%s of %s is a change of suites: %s', ([event, name, expected]) => {
  expect(isOfSuites(event, name)).toBe(expected);
});
