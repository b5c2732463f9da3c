// What `reeve check` says of the rights of Reeve's accounts, for accounts that may ask about others and for Reeve's own.
import { expect, test } from 'vitest';
import { ownMember } from '../../../src/base/json.ts';
import { KubeError } from '../../../src/base/kube-error.ts';
import { rightsSeen } from '../../../src/check/rights.ts';
import type { KubeClient } from '../../../src/kube/http/client.ts';
import { clientOfPods } from '../../support/reeve-pod-metrics.ts';

const namespace = 'reeve-system';
const own = `system:serviceaccount:${namespace}:reeve-webhook`;

/** Lets the account have all rights but the first ones. May refuse to answer about other users. */
function client(missing: number, answersAboutOthers = true): KubeClient {
  let asked = 0;
  return {
    ...clientOfPods([], new Map()),
    request: async ({ path, body }) => {
      if (path.endsWith('/subjectaccessreviews') && !answersAboutOthers)
        throw new KubeError({ code: 403, reason: 'Forbidden', retryable: false });
      expect(ownMember(ownMember(body, 'spec'), 'resourceAttributes')).toBeDefined();
      asked += 1;
      return await Promise.resolve({ status: { allowed: asked > missing } });
    },
  };
}

test('an account of Reeve is asked about its own rights, because it may not ask about others', async () => {
  expect(await rightsSeen(client(0, false), 'webhook', { namespace, self: own })).toEqual({});
  expect(await rightsSeen(client(0, false), 'webhook', { namespace, self: 'jane' })).toBeUndefined();
});

test.each([
  [1, /lacks [^,]+: apply manifests/],
  [3, /lacks [^,]+, [^,]+, [^,]+: apply manifests/],
  [5, /lacks [^,]+, [^,]+, [^,]+, and 2 more: apply manifests/],
])('at most three of %i missing rights are named, and all become rules', async (count, problem) => {
  const seen = await rightsSeen(client(count), 'webhook', { namespace, self: 'jane' });
  expect(seen?.problems).toEqual([expect.stringMatching(problem)]);
  expect(seen?.lacked).toHaveLength(count);
});
