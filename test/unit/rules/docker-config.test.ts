import { describe, expect, test } from 'vitest';
import { registriesOf, registryHost, hasRepeatedKey } from '../../../src/rules/secret-docker-config.ts';

test.for([
  ['registry.example.com', 'registry.example.com'],
  ['Registry.Example.com:5000', 'registry.example.com:5000'],
  ['https://index.docker.io/v1/', 'index.docker.io'],
  ['HTTP://localhost:5000', 'localhost:5000'],
  ['gcr.io/project/image', 'gcr.io'],
  ['[::1]:5000', '[::1]:5000'],
  ['*.example.com', '*.example.com'],
  ['', undefined],
  ['user@evil.example', undefined],
  ['registry.example.com:pw@evil.example', undefined],
  ['evil.example\\@registry.example.com', undefined],
  ['evil.example/@registry.example.com', undefined],
  ['ftp://registry.example.com', undefined],
  ['registry.example.com evil.example', undefined],
  ['https:///registry.example.com', undefined],
  ['registry.example.com:', undefined],
  ['registry.example.com?x', undefined],
  ['registry.example.com#x', undefined],
] as const)('the host of %s is %s', ([entry, host]) => {
  expect(registryHost(entry)).toBe(host);
});

describe('registries of a configuration', () => {
  test.for([
    ['{"auths":{"a.example":{},"b.example":{"auth":"x"}}}', false, ['a.example', 'b.example']],
    ['{"auths":null}', false, []],
    ['{}', false, []],
    ['{"AUTHS":{"a.example":{}}}', false, ['a.example']],
    ['{"credHelpers":{"a.example":"x"}}', false, ['a.example']],
    ['{"auths":{"__proto__":{}}}', false, [undefined]],
    ['{"a.example":{}}', true, ['a.example']],
    ['{"auths":[]}', false, undefined],
    ['[]', true, undefined],
    ['null', false, undefined],
    ['{"auths":{}', false, undefined],
    ['{"auths":{},"auths":{}}', false, undefined],
    ['\uFEFF{}', false, undefined],
  ] as const)('%s (legacy %s)', ([text, legacy, hosts]) => {
    expect(registriesOf(Buffer.from(text), legacy)).toEqual(hosts);
  });

  test('bytes that are no UTF-8 are no configuration', () => {
    expect(registriesOf(Buffer.from([0x7b, 0xff, 0x7d]), false)).toBeUndefined();
  });
});

test.for([
  ['{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}]}', false],
  ['{"a":"a","b":"a:"}', false],
  ['{"a":{"x":1,"x":2}}', true],
  ['[{"a":1 , "a"\n:2}]', true],
  ['{"a":1,"\\u0061":2}', true],
  ['{"a\\"":1,"a\\"":2}', true],
  ['{"a":"\\"","b":1}', false],
  ['"x"', false],
  ['{"a":[[{"b":1}],{"b":2}],"b":3}', false],
  ['{"a":[1],"a":[2]}', true],
] as const)('a key is repeated in %s: %s', ([json, repeated]) => {
  expect(hasRepeatedKey(json)).toBe(repeated);
});
