import { describe, expect, test } from 'vitest';
import { copyOf } from '../../../../src/policy/plan/copy.ts';
import { aShare } from '../../../support/engine.ts';

function copied(target: object, source: object): unknown {
  const share = aShare('s', { source: { namespace: 'src', name: 'x' }, targets: { names: ['*'] }, target });
  const secret = { metadata: {}, data: { a: 'YQ==', b: 'Yg==' }, type: 'example.com/t', ...source };
  const state = copyOf(share, [secret], new Date(0));
  if (state.kind !== 'ready') return state.kind === 'unavailable' ? state.reason : state.kind;
  return state.payload.body;
}

describe('the copy of a Secret', () => {
  const whole = { type: 'example.com/t', data: { a: 'YQ==', b: 'Yg==' } };
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
    ['a copy is immutable if the share says so', { immutable: true }, {}, { ...whole, immutable: true }],
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

  test.each<readonly [string, object, object]>([
    [
      'a value is built from the values of the source',
      { template: { url: 'x://${data.a}:${data["b"]}@h' } },
      { url: 'x://a:b@h' },
    ],
    ['a template without an expression is plain text', { template: { c: '$${x}' } }, { c: '${x}' }],
    [
      'a template stands beside mapped keys',
      { keys: [{ from: 'a', to: 'k' }], template: { c: '${data.a}' } },
      { k: 'a', c: 'a' },
    ],
    ['an empty map of templates changes nothing', { template: {} }, { a: 'a', b: 'b' }],
    [
      'the configuration of a registry has the user name and the password',
      { dockerConfig: { registry: 'r.example.com', usernameKey: 'a', passwordKey: 'b' } },
      {
        '.dockerconfigjson': JSON.stringify({
          auths: { 'r.example.com': { username: 'a', password: 'b', auth: btoa('a:b') } },
        }),
      },
    ],
  ])('%s', (_what, target, values) => {
    const data = Object.fromEntries(Object.entries(values).map(([key, text]) => [key, btoa(String(text))]));
    const type = 'dockerConfig' in target ? 'kubernetes.io/dockerconfigjson' : 'example.com/t';
    expect(copied(target, {})).toEqual({ type, data });
  });

  test.each<readonly [string, object, object, string]>([
    ['the source lacks a key of a template', { template: { c: '${data.canary}' } }, {}, 'TemplateFailed'],
    [
      'an expression has an error that quotes a value',
      { template: { c: '${string(int(data.a))}' } },
      {},
      'TemplateFailed',
    ],
    ['a value names a missing key', { template: { c: '${data[data.a + data.b]}' } }, {}, 'TemplateFailed'],
    ['a value is no text', { template: { c: '${data.a}' } }, { data: { a: '/w==' } }, 'TemplateFailed'],
    [
      'the source lacks the user name',
      { dockerConfig: { registry: 'r', usernameKey: 'u', passwordKey: 'b' } },
      {},
      'KeyMissing',
    ],
    [
      'the password is no text',
      { dockerConfig: { registry: 'r', usernameKey: 'a', passwordKey: 'b' } },
      { data: { a: 'YQ==', b: '/w==' } },
      'TemplateFailed',
    ],
    [
      'the API server would refuse its size',
      {},
      { data: { a: 'YQ=='.repeat(350_000), b: 'YQ=='.repeat(350_000) } },
      'NotStorable',
    ],
    [
      'a value breaks the JSON of a registry',
      { type: 'kubernetes.io/dockerconfigjson', template: { '.dockerconfigjson': '{"auths":"${data.a}"}' } },
      { data: { a: btoa('a"b') } },
      'NotStorable',
    ],
    [
      'a template repeats a long value too often',
      { template: { c: '${data.a}'.repeat(900) } },
      { data: { a: btoa('a'.repeat(700_000)) } },
      'TemplateFailed',
    ],
    [
      'its templates need more work than one review',
      {
        template: Object.fromEntries(
          Array.from({ length: 100 }, (_, index) => [
            `k${index}`,
            '${data.a.split("").map(x, x + "").join("")}',
          ]),
        ),
      },
      { data: { a: btoa('a'.repeat(60_000)) } },
      'TemplateFailed',
    ],
  ])('there is no copy if %s', (_what, target, source, reason) => {
    expect(copied(target, source)).toBe(reason);
  });

  test('a copy has the keys of all sources, unless two of them have one key', () => {
    const share = aShare('s', {
      sources: [
        { namespace: 'src', name: 'x' },
        { namespace: 'src', name: 'y' },
      ],
      targets: { names: ['*'] },
    });
    const one = { metadata: {}, type: 'example.com/t', data: { a: 'YQ==' } };
    const both = copyOf(share, [one, { metadata: {}, type: 'Opaque', data: { b: 'Yg==' } }], new Date(0));
    expect(both).toMatchObject({
      kind: 'ready',
      payload: { body: { type: 'example.com/t', data: { a: 'YQ==', b: 'Yg==' } } },
    });
    expect(copyOf(share, [one, one], new Date(0))).toEqual({
      kind: 'unavailable',
      reason: 'KeyTwice',
      message: 'two sources have the key a',
    });
  });

  test('a copy has the key __proto__ of its source', () => {
    const data = JSON.parse('{"__proto__":"eA=="}') as object;
    expect(JSON.stringify(copied({}, { data }))).toContain('"__proto__":"eA=="');
  });
});
