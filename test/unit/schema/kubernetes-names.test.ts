// Which texts Kubernetes takes as the value of a label and as the name of a namespace.
import { expect, test } from 'vitest';
import { isLabelValue, isNamespaceName } from '../../../src/base/kubernetes-names.ts';

test.each([
  ['', true, false],
  ['a', true, true],
  ['team-a', true, true],
  ['9', true, true],
  ['Team_a.b', true, false],
  ['a.b', true, false],
  ['-a', false, false],
  ['a-', false, false],
  ['a\n', false, false],
  ['\u0430', false, false],
  ['a b', false, false],
  ['a'.repeat(63), true, true],
  ['a'.repeat(64), false, false],
  [`a${'-'.repeat(100_000)}`, false, false],
])('%j: as a label value %s, as a namespace %s', (text, asLabelValue, asNamespace) => {
  expect([isLabelValue(text), isNamespaceName(text)]).toEqual([asLabelValue, asNamespace]);
});
