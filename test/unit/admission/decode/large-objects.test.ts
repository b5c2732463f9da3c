// Bounds on the number of values: an object that can be created can be changed, and what is too large can be mended.
import { describe, expect, test } from 'vitest';
import { measureJson } from '../../../../src/admission/decode/decode-envelope.ts';
import { decodeReview, type DecodedReview } from '../../../../src/admission/decode/decode-review.ts';
import { namespaceObject, requestFor, reviewOf, type Json } from '../../../support/reviews.ts';

const namespace = namespaceObject('team-a');

function decodeRequest(object: Json, changes: Json = {}): DecodedReview {
  return decodeReview(Buffer.from(JSON.stringify(reviewOf(requestFor(object, changes)))), 'validate');
}

describe('an object with very many values', () => {
  const large = (count: number): Json => ({
    ...namespace,
    spec: { list: Array.from({ length: count }, () => 1) },
  });
  const problemOf = (decoded: DecodedReview): string | undefined =>
    decoded.kind === 'malformed' ? `${decoded.problem.path} ${decoded.problem.text}` : undefined;
  const created = (count: number) => problemOf(decodeRequest(large(count)));
  const updated = (from: number, to: number) =>
    problemOf(decodeRequest(large(to), { operation: 'UPDATE', oldObject: large(from) }));
  const deleted = (count: number) =>
    problemOf(decodeRequest(large(0), { operation: 'DELETE', object: null, oldObject: large(count) }));
  const tooLarge = expect.stringMatching(/request\.object.*at most 150000 values/) as string;

  test.each([90_000, 149_000, 151_000, 200_000])(
    'an update to %i values is refused only where their creation is refused',
    (count) => {
      const creation = created(count);
      expect(creation).toEqual(count > 150_000 ? tooLarge : undefined);
      // It grows from a small object to this one, as its creation would.
      expect(updated(1, count)).toEqual(creation);
    },
  );

  test('an object that is too large already can be changed, made smaller and deleted', () => {
    expect(updated(200_000, 200_000)).toBeUndefined();
    expect(updated(200_000, 200_010)).toBeUndefined();
    expect(updated(200_000, 160_000)).toBeUndefined();
    expect(deleted(200_000)).toBeUndefined();
    expect(updated(200_000, 201_000)).toEqual(tooLarge);
  });

  test('a review that no API server sends is not parsed', () => {
    expect(updated(300_000, 300_000)).toMatch(/the review.*at most 450000 values/);
    const changes = (count: number): Json => ({ operation: 'UPDATE', oldObject: large(count) });
    const body = JSON.stringify(reviewOf(requestFor(large(100_000), changes(300_000))));
    const most = 300_000 + 450_000 - measureJson(Buffer.from(body)).values;
    expect([updated(most, 100_000), typeof updated(most + 1, 100_000)]).toEqual([undefined, 'string']);
  });
});
