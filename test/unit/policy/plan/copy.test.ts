import { describe, expect, test } from 'vitest';
import { copyOf } from '../../../../src/policy/plan/copy.ts';
import { aShare } from '../../../support/engine.ts';

function copied(target: object, source: object): unknown {
  const share = aShare('s', { source: { namespace: 'src', name: 'x' }, targets: { names: ['*'] }, target });
  const state = copyOf(share, {
    metadata: {},
    data: { a: 'YQ==', b: 'Yg==' },
    type: 'example.com/t',
    ...source,
  });
  if (state.kind !== 'ready') return state.kind === 'unavailable' ? state.reason : state.kind;
  const { facts: _facts, ...payload } = state.payload;
  return payload;
}

describe('the copy of a Secret', () => {
  const whole = { type: 'example.com/t', data: { a: 'YQ==', b: 'Yg==' }, isImmutable: false };
  test.each<readonly [string, object, object, unknown]>([
    ['has type and keys of its source', {}, {}, whole],
    ['has the type of the share', { type: 'example.com/u' }, {}, { ...whole, type: 'example.com/u' }],
    [
      'has the keys of the share by their new names',
      { keys: [{ from: 'b', to: 'c' }] },
      {},
      { ...whole, data: { c: 'Yg==' } },
    ],
    [
      'has one key under two names',
      {
        keys: [
          { from: 'b', to: 'c' },
          { from: 'b', to: 'd' },
        ],
      },
      {},
      { ...whole, data: { c: 'Yg==', d: 'Yg==' } },
    ],
    ['is immutable where the share says so', { immutable: true }, {}, { ...whole, isImmutable: true }],
    ['is not immutable because its source is', {}, { immutable: true }, whole],
    ['is Opaque where its source says nothing', {}, { type: undefined }, { ...whole, type: 'Opaque' }],
    ['may be empty', {}, { data: undefined }, { ...whole, data: {} }],
    [
      'is not made without a key that is asked for',
      { keys: [{ from: 'toString', to: 'x' }] },
      {},
      'KeyMissing',
    ],
    [
      'is not made of a token',
      { type: 'Opaque' },
      { type: 'kubernetes.io/service-account-token' },
      'SourceTypeForbidden',
    ],
    [
      'is not made of a bootstrap token',
      {},
      { type: 'bootstrap.kubernetes.io/token' },
      'SourceTypeForbidden',
    ],
    ['is not made of a release of Helm', {}, { type: 'helm.sh/release.v1' }, 'SourceTypeForbidden'],
    [
      'is not made of a copy',
      {},
      {
        metadata: {
          labels: { 'app.kubernetes.io/managed-by': 'reeve' },
          annotations: { 'reeve.dev/owner': 'SecretShare/x' },
        },
      },
      'SourceNotAllowed',
    ],
  ])('%s', (_what, target, source, expected) => {
    expect(copied(target, source)).toEqual(expected);
  });

  test('keeps a key called __proto__', () => {
    const data = JSON.parse('{"__proto__":"eA=="}') as object;
    expect(JSON.stringify(copied({}, { data }))).toContain('"__proto__":"eA=="');
  });
});
