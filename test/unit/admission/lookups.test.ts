// Rights are asked for all at once, each question once.
import { expect, test } from 'vitest';
import { Deadline } from '../../../src/base/clock.ts';
import type { AccessReviewer } from '../../../src/admission/ports.ts';
import { askRights } from '../../../src/admission/judge-review.ts';
import { rightKey, type Right } from '../../../src/policy/terms/review.ts';

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

test('the other right of a right is asked for only where the first one is missing', async () => {
  const base = { group: 'reeve.dev', resource: 'a', effect: 'a', rule: 'authors', path: 'spec' } as const;
  const withOther = (verb: string): Right => ({ ...base, verb, instead: { ...base, verb: `${verb}-other` } });
  const asked: string[] = [];
  const reviewer: AccessReviewer = {
    mayDo: (_requester, { verb }) => {
      asked.push(verb);
      return verb === 'lost'
        ? Promise.reject(new Error('no answer'))
        : Promise.resolve(verb === 'had' ? 'yes' : 'no');
    },
  };
  const clock = { now: () => new Date(), monotonic: () => 0 };
  const rights = ['had', 'missing', 'lost'].map(withOther);
  const answers = await askRights({ username: 'a', groups: [] }, rights, reviewer, new Deadline(clock, 1000));
  expect(asked).toEqual(['had', 'missing', 'lost', 'missing-other', 'lost-other']);
  expect([...(answers?.values() ?? [])]).toEqual(['yes', 'no', 'unknown', 'no', 'no']);
});
