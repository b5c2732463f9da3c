// Checks the texts of problems and of their paths.
import { expect, test } from 'vitest';
import { renderPath, renderProblem, type Path } from '../../../src/base/problem.ts';

test.each<readonly [Path, string]>([
  [['spec', 'match', 'names', 0], 'spec.match.names[0]'],
  [['labels', 'cost-center'], 'labels.cost-center'],
  [['labels', 'pod-security.kubernetes.io/enforce'], 'labels["pod-security.kubernetes.io/enforce"]'],
  [['labels', 'say "hi"'], 'labels["say \\"hi\\""]'],
  [['labels', ''], 'labels[""]'],
  [['labels', 'a\nb'], 'labels["a\uFFFDb"]'],
  [[3, 'a'], '[3].a'],
  [['__proto__'], '__proto__'],
])('the path %j has its text', (path, text) => {
  expect(renderPath(path)).toBe(text);
});

test('renderProblem names the path, what was found and what is accepted', () => {
  const problem = { path: ['spec', 'match', 'names', 0], found: '5', accepted: 'text' };
  expect(renderProblem(problem)).toBe('spec.match.names[0]: found 5; accepted: text');
});

test('renderProblem calls the root "the object"', () => {
  expect(renderProblem({ path: [], found: 'nothing', accepted: 'something' })).toBe(
    'the object: found nothing; accepted: something',
  );
});
