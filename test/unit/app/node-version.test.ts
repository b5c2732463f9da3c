// The check of the Node version: only an older Node than required is a problem.
import { expect, it } from 'vitest';
import { nodeVersionProblem } from '../../../src/app/shipped-files.ts';

it.each([
  ['24.17.0', undefined],
  ['24.17.1', undefined],
  ['24.100.0', undefined],
  ['25.0.0', undefined],
  ['24.9.9', 'Node >=24.17.0 is required, and this is Node 24.9.9'],
  ['20.20.2', 'Node >=24.17.0 is required, and this is Node 20.20.2'],
])('Node %s: %s', (running, problem) => {
  expect(nodeVersionProblem(running, '>=24.17.0')).toBe(problem);
});

it('package.json names the required version', () => {
  expect(nodeVersionProblem('1.0.0')).toMatch(/^Node >=\d+\.\d+\.\d+ is required, and this is Node 1\.0\.0$/);
  expect(nodeVersionProblem(process.versions.node)).toBeUndefined();
});
