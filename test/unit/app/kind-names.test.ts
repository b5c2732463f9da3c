// Under which name objects are kept: what the API server told last, and the usual one until it has.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { ServedKind } from '../../../src/kube/object-writer.ts';
import { namesOfKinds } from '../../../src/app/served-kinds.ts';

const octopus = { apiVersion: 'example.com/v1', kind: 'Octopus' };

test('an answer is used as soon as it arrives, until the next one arrives', async () => {
  let answer: () => Promise<ServedKind | undefined> = () =>
    Promise.resolve({ plural: 'octopodes', namespaced: true });
  const nameOf = namesOfKinds([octopus], { find: () => answer() });
  await setImmediate();
  expect(nameOf(octopus)).toBe('octopodes');
  answer = () => Promise.reject(new KubeError({ code: 503, reason: 'ServiceUnavailable', retryable: true }));
  nameOf(octopus);
  await setImmediate();
  expect(nameOf(octopus)).toBe('octopodes');
  answer = () => Promise.resolve(undefined);
  nameOf(octopus);
  await setImmediate();
  expect(nameOf(octopus)).toBe('octopuses');
});
