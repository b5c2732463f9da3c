// Decoding reviews of policies and shares.
import { expect, test } from 'vitest';
import { decodeReview, type DecodedReview } from '../../../../src/admission/decode/decode-review.ts';
import type { AnyReview } from '../../../../src/policy/terms/review.ts';
import { policyObject, reviewJson, shareObject, type Json } from '../../../support/reviews.ts';

function decodeRequest(
  object: Json,
  changes: Json = {},
  endpoint: 'validate' | 'mutate' = 'validate',
): DecodedReview {
  return decodeReview(Buffer.from(reviewJson(object, changes)), endpoint);
}

function reviewFrom(decoded: DecodedReview): AnyReview {
  if (decoded.kind !== 'review') throw new Error(JSON.stringify(decoded));
  return decoded.review;
}

test('an UPDATE of a policy, which stands in no namespace', () => {
  const policy = policyObject({ match: { names: ['a'] } });
  const review = reviewFrom(
    decodeRequest(policy, { operation: 'UPDATE', oldObject: policyObject(), namespace: '' }),
  );
  expect(review).toMatchObject({
    resource: 'namespacepolicies',
    operation: 'UPDATE',
    name: 'teams',
    namespace: '',
    object: policy,
    oldObject: policyObject(),
  });
});

test('a DELETE of a share, whose name is in the object alone when many are deleted at once', () => {
  const changes = { operation: 'DELETE', name: '', object: null, oldObject: shareObject() };
  const review = reviewFrom(decodeRequest(shareObject(), changes));
  expect(review).toMatchObject({ resource: 'secretshares', name: 'regcred', oldObject: shareObject() });
  expect(review.object).toBeUndefined();
});

test('a policy or share never comes to the mutating hook', () => {
  for (const object of [policyObject(), shareObject()]) {
    expect(decodeRequest(object, {}, 'mutate').kind).toBe('passed');
  }
});
