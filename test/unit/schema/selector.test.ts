import { compileSelector } from '../../../src/schema/selector.ts';
import { expect, test } from 'vitest';

const inProd = { key: 'env', operator: 'In', values: ['prod', 'stage'] } as const;
const notDev = { key: 'env', operator: 'NotIn', values: ['dev'] } as const;
const hasTeam = { key: 'team', operator: 'Exists' } as const;
const noTeam = { key: 'team', operator: 'DoesNotExist' } as const;

test.for([
  [{}, {}, true],
  [{ matchLabels: { a: 'b' } }, { a: 'b', c: 'd' }, true],
  [{ matchLabels: { a: 'b' } }, { a: 'c' }, false],
  [{ matchLabels: { a: 'b', c: 'd' } }, { a: 'b' }, false],
  [{ matchLabels: { a: '' } }, {}, false],
  [{ matchExpressions: [inProd] }, { env: 'stage' }, true],
  [{ matchExpressions: [inProd] }, {}, false],
  [{ matchExpressions: [notDev] }, {}, true],
  [{ matchExpressions: [notDev] }, { env: 'dev' }, false],
  [{ matchExpressions: [hasTeam] }, { team: '' }, true],
  [{ matchExpressions: [hasTeam] }, {}, false],
  [{ matchExpressions: [noTeam] }, {}, true],
  [{ matchExpressions: [noTeam] }, { team: 'a' }, false],
  [{ matchLabels: { a: 'b' }, matchExpressions: [hasTeam] }, { a: 'b' }, false],
  [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, {}, false],
  [{ matchExpressions: [{ key: 'toString', operator: 'DoesNotExist' }] }, {}, true],
] as const)('%j on %j: %s', ([selector, labels, matches]) => {
  expect(compileSelector(selector).matches(labels)).toBe(matches);
});

test('it returns the keys that a selector reads, and the requirements for a match', () => {
  expect(compileSelector({ matchExpressions: [notDev, hasTeam] })).toMatchObject({
    keys: new Set(['env', 'team']),
    needs: { kind: 'key', key: 'team' },
  });
  expect(compileSelector({ matchLabels: { a: 'b' }, matchExpressions: [hasTeam] }).needs).toEqual({
    kind: 'pairs',
    key: 'a',
    values: ['b'],
  });
  expect(compileSelector({ matchExpressions: [notDev, noTeam] }).needs).toBeUndefined();
});
