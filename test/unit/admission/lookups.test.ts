// Rights are asked for all at once, each question once.
import { expect, test } from 'vitest';
import { Deadline } from '../../../src/admission/http/deadline.ts';
import { askRights } from '../../../src/admission/lookups.ts';
import { rightKey, type Right } from '../../../src/policy/terms/verdict.ts';

test('a right that several rules need is asked for once', async () => {
  const asked: string[] = [];
  const right: Right = {
    verb: 'use',
    group: 'reeve.dev',
    resource: 'secretshares',
    name: 's',
    effect: 'a',
    rule: 'steering',
    path: 'metadata',
  };
  const reviewer = {
    mayDo: (_requester: unknown, { effect }: Right) => {
      asked.push(effect);
      return Promise.resolve('yes' as const);
    },
  };
  const clock = { now: () => new Date(), monotonic: () => 0 };
  const rights = [right, { ...right, effect: 'b' }];
  const answers = await askRights({ username: 'a', groups: [] }, rights, reviewer, new Deadline(clock, 1000));
  expect(asked).toHaveLength(1);
  expect(answers).toEqual(new Map([[rightKey(right), 'yes']]));
});
