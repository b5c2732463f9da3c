// Tests whose request the Namespace of a claim is: that of the writer of the claim, or of Reeve itself.
import { describe, expect, test } from 'vitest';
import { asClaimant } from '../../../../src/policy/authors/decide-claimed.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { aNamespace, aReview } from '../../../support/engine.ts';

const reconciler = { username: 'system:serviceaccount:reeve-system:reeve-reconciler', groups: [] };
const metadata = { namespace: 'team-shop', name: 'dev', uid: 'u' };
const spec = {
  name: 'shop-dev',
  policy: 'teams',
  labels: { tier: 'team', mesh: 'old' },
  deletionPolicy: 'Delete',
  requester: { username: 'alice' },
};
const claim: KubeObject = { metadata, spec };
const ending: KubeObject = { metadata: { ...metadata, deletionTimestamp: '2026-11-20T00:00:00Z' }, spec };
const annotations = { 'reeve.dev/claim': 'team-shop/dev', 'reeve.dev/claim-uid': 'u' };
const claimed = (labels: Readonly<Record<string, string>>): KubeObject =>
  aNamespace({ name: 'shop-dev', labels, annotations });
const asked = claimed({ tier: 'team', mesh: 'old' });
const around = aNamespace({ name: 'team-shop' });
const snapshotWith = (found: KubeObject | undefined) => ({ namespace: () => found });

describe('the Namespace of a claim', () => {
  test.for<readonly [string, KubeObject, KubeObject | undefined, string | undefined]>([
    ['is created as one of the writer', asked, claim, 'alice'],
    [
      'may have another value, which a policy enforces',
      claimed({ tier: 'team', mesh: 'new' }),
      claim,
      'alice',
    ],
    ['must have each key', claimed({ tier: 'team' }), claim, undefined],
    ['needs a claim', asked, undefined, undefined],
    ['needs a claim that is not being deleted', asked, ending, undefined],
  ])('%s', ([, object, stored, username]) => {
    const review = aReview({ object, requester: reconciler });
    const found = asClaimant(review, stored, snapshotWith(around));
    expect(found.ok ? found.review.requester.username : undefined).toBe(username);
  });

  test.for<readonly [string, KubeObject | undefined, string]>([
    ['is deleted as one of the writer', around, 'alice'],
    [
      'is deleted by Reeve itself where the namespace of the claim is being deleted',
      aNamespace({ name: 'team-shop', deletionTimestamp: '2026-11-20T00:00:00Z' }),
      reconciler.username,
    ],
    ['is deleted by Reeve itself where that namespace is gone', undefined, reconciler.username],
  ])('%s', ([, found, username]) => {
    const review = aReview({ oldObject: asked, operation: 'DELETE', requester: reconciler });
    expect(asClaimant(review, ending, snapshotWith(found))).toMatchObject({
      ok: true,
      review: { requester: { username } },
    });
  });
});
