// Which npm script runs each project of vitest.config.ts, so that no test is left out and `npm test` stays quick.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';
import { workersFor } from '../support/cluster-workers.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const projects = (config.test?.projects ?? []) as readonly { readonly test: { readonly name: string } }[];
const names = projects.map(({ test: { name } }) => name);

/** Returns the projects that a script runs. A name that begins with `!` leaves a project out. */
function projectsOf(script: string): readonly string[] {
  const given = [...(scripts[script] ?? '').matchAll(/--project '?(!?[\w-]+)/g)].map(([, name = '']) => name);
  const isLeftOut = (name: string): boolean => given.includes(`!${name}`);
  return given.some((name) => name.startsWith('!')) ? names.filter((name) => !isLeftOut(name)) : given;
}

test('npm test runs no project that builds a program or needs a control plane', () => {
  expect(projectsOf('test')).toEqual(['quick', 'local', 'sandbox']);
});

test('npm run test:mine runs the projects of npm test', () => {
  expect(projectsOf('test:mine')).toEqual(projectsOf('test'));
});

test('each project runs once in continuous integration', () => {
  const run = readFileSync('.ci/run', 'utf8');
  const called = [...run.matchAll(/\btests npm (?:run --silent )?([\w:]+)/g)].map(
    ([, script = '']) => script,
  );
  expect(called[0]).toBe('test');
  expect(called.flatMap(projectsOf).sort()).toEqual([...names].sort());
});

test.each([
  [1, 2],
  [2, 4],
  [4, 8],
  [64, 8],
])('a machine with %d cores runs %d test files at once', (cores, workers) => {
  expect(workersFor(cores)).toBe(workers);
});
