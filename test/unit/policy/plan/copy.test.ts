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
    ['a copy has the type and the keys of its source', {}, {}, whole],
    [
      'a copy has the type that the share names',
      { type: 'example.com/u' },
      {},
      { ...whole, type: 'example.com/u' },
    ],
    [
      'a copy has the keys that the share names, by their new names',
      { keys: [{ from: 'b', to: 'c' }] },
      {},
      { ...whole, data: { c: 'Yg==' } },
    ],
    [
      'a copy can have one key of the source under two names',
      {
        keys: [
          { from: 'b', to: 'c' },
          { from: 'b', to: 'd' },
        ],
      },
      {},
      { ...whole, data: { c: 'Yg==', d: 'Yg==' } },
    ],
    ['a copy is immutable if the share says so', { immutable: true }, {}, { ...whole, isImmutable: true }],
    ['an immutable source does not make the copy immutable', {}, { immutable: true }, whole],
    ['a copy of a source without a type is Opaque', {}, { type: undefined }, { ...whole, type: 'Opaque' }],
    ['a copy of an empty source is empty', {}, { data: undefined }, { ...whole, data: {} }],
    [
      'there is no copy if the source lacks a key that the share names',
      { keys: [{ from: 'toString', to: 'x' }] },
      {},
      'KeyMissing',
    ],
    ['there is no copy that lacks a key of its type', { type: 'kubernetes.io/tls' }, {}, 'KeyMissing'],
    [
      'there is no copy with other keys than those of the type of its source',
      { keys: [{ from: 'a', to: 'b' }] },
      { type: 'kubernetes.io/ssh-auth' },
      'KeyMissing',
    ],
    [
      'there is no copy of a service account token',
      { type: 'Opaque' },
      { type: 'kubernetes.io/service-account-token' },
      'SourceTypeForbidden',
    ],
    [
      'there is no copy of a bootstrap token',
      {},
      { type: 'bootstrap.kubernetes.io/token' },
      'SourceTypeForbidden',
    ],
    ['there is no copy of a Helm release', {}, { type: 'helm.sh/release.v1' }, 'SourceTypeForbidden'],
    [
      'there is no copy of a copy',
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

  test('a copy has the key __proto__ of its source', () => {
    const data = JSON.parse('{"__proto__":"eA=="}') as object;
    expect(JSON.stringify(copied({}, { data }))).toContain('"__proto__":"eA=="');
  });
});
