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

test('an UPDATE of a policy, which is cluster-scoped, is decoded', () => {
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

test('a DELETE of a share by deletecollection is decoded with the name from the old object', () => {
  const changes = { operation: 'DELETE', name: '', object: null, oldObject: shareObject() };
  const review = reviewFrom(decodeRequest(shareObject(), changes));
  expect(review).toMatchObject({ resource: 'secretshares', name: 'regcred', oldObject: shareObject() });
  expect(review.object).toBeUndefined();
});

test('the mutating endpoint passes policies and shares', () => {
  for (const object of [policyObject(), shareObject()]) {
    expect(decodeRequest(object, {}, 'mutate').kind).toBe('passed');
  }
});
