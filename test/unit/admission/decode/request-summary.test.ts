// Tests the summary of a request: short, printable, and free of control characters.
import { expect, test } from 'vitest';
import { summaryOf } from '../../../../src/admission/decode/decode-envelope.ts';

test.each([
  ['alice', 'alice'],
  ['a\u001b[31m\r\nb\u202e', 'a\uFFFD[31m\uFFFD\uFFFDb\uFFFD'],
  ['a'.repeat(253), 'a'.repeat(253)],
  ['a'.repeat(254), `${'a'.repeat(252)}…`],
  ['😀'.repeat(254), `${'😀'.repeat(252)}…`],
  [5, ''],
  [undefined, ''],
])('a name of %j is shown as %j', (given, shown) => {
  const { name, namespace, user } = summaryOf('uid', {
    name: given,
    namespace: given,
    userInfo: { username: given },
  });
  expect([name, namespace, user]).toEqual([shown, shown, shown]);
});

test.each([
  ['secrets', undefined, 'secrets'],
  ['namespaces', 'status', 'namespaces/status'],
  ['namespacepolicies', undefined, 'namespacepolicies'],
  ['secretshares', 'status', 'secretshares/status'],
  ['secretshares', 'x'.repeat(9), 'secretshares'],
  ['pods', undefined, 'other'],
])('the resource %s with subresource %s is shown as %s', (resource, subResource, shown) => {
  expect(summaryOf('uid', { resource: { resource }, subResource }).resource).toBe(shown);
});
