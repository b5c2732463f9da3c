// The answer to a review depends on the request and the policies, and not on how fast the clock moves meanwhile.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Deadline } from '../../src/base/clock.ts';
import { judgeReview } from '../../src/admission/judge-review.ts';
import { LongDecisions } from '../../src/admission/long-decisions.ts';
import type { Endpoint } from '../../src/admission/ports.ts';
import type { AnyReview } from '../../src/policy/terms/review.ts';
import {
  aNamespace,
  aPolicy,
  aProviderReview,
  aReview,
  aSnapshot,
  knownNamespace,
  providerObject,
  testInstall,
} from '../support/engine.ts';
import { propertyRuns } from '../support/property-runs.ts';

const timeoutMs = 5000;
/** Some of these policies cost more. */
const evaluationUnits = 200_000;

/** An expression that costs about five units for the square of the size. */
const square = fc
  .integer({ min: 1, max: 120 })
  .map((size) => `lists.range(${size}).all(x, lists.range(${size}).all(y, x + y >= 0))`);

const spec = fc.record(
  {
    validationActions: fc.constantFrom<('Deny' | 'Warn')[]>(['Deny'], ['Warn']),
    match: square.map((expression) => ({ names: ['*'], matchConditions: [{ name: 'c', expression }] })),
    validations: fc
      .array(square, { maxLength: 4 })
      .map((all) => all.map((expression, index) => ({ name: `v${index}`, expression, message: 'no' }))),
    namespaces: fc.constantFrom(
      { required: { labels: { team: { pattern: '(a|b)*c' } } } },
      { defaults: { labels: { env: "${namespaceObject.metadata.name + '-env'}" } } },
    ),
  },
  { requiredKeys: ['validations'] },
);

type Asked = readonly [Endpoint, AnyReview];

function askedOf(object: { readonly spec: object }): readonly Asked[] {
  const namespace = aReview({ object: aNamespace({ name: 'n', labels: { team: 'aac' } }) });
  const bad = aReview({ object: aNamespace({ name: 'm' }) });
  const policy = aProviderReview({
    resource: 'namespacepolicies',
    object: { ...providerObject('NamespacePolicy', 'p', object.spec) },
  });
  return [
    ['mutate', namespace],
    ['validate', namespace],
    ['validate', bad],
    ['validate', policy],
  ];
}

test('the same requests get the same answers whatever the speed of the clock, until their timeout ends', async () => {
  const namespaces = ['a', 'b'].map((name) => knownNamespace(name));
  await fc.assert(
    fc.asyncProperty(
      fc.array(spec, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat({ max: 800 }), { minLength: 1, maxLength: 5 }),
      async (specs, speeds) => {
        const policies = specs.map((each, index) => aPolicy(`p${index}`, each));
        const snapshot = aSnapshot(policies, namespaces);
        for (const [endpoint, review] of askedOf({ spec: specs[0] ?? {} })) {
          const answerAt = async (speedOf: (read: number) => number) => {
            let [time, reads] = [0, 0];
            const clock = { now: () => new Date(0), monotonic: () => (time += speedOf((reads += 1))) };
            const deadline = new Deadline(clock, timeoutMs);
            const answer = await judgeReview(
              endpoint,
              review,
              snapshot,
              {
                namespaces: { find: () => Promise.resolve(undefined) },
                access: { mayDo: () => Promise.resolve('yes') },
                clock,
                longDecisions: new LongDecisions(clock),
                evaluationUnits,
                install: testInstall,
              },
              deadline,
            );
            // The decision about a policy leaves a part of its time to ask for rights.
            return { answer, isLate: time >= deadline.at * 0.7 };
          };
          const { answer: expected } = await answerAt(() => 0);
          const { answer, isLate } = await answerAt((read) => speeds[read % speeds.length] ?? 0);
          if (isLate && JSON.stringify(answer) !== JSON.stringify(expected))
            expect(JSON.stringify(answer)).toMatch(
              /short of processor time|the timeout of this request expired/,
            );
          else expect(answer).toEqual(expected);
          expect(JSON.stringify(expected)).not.toMatch(/processor time|timeout/);
        }
      },
    ),
    { numRuns: propertyRuns(50) },
  );
});
