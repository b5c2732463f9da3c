import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { filterOf } from '../../../../src/sandbox/read/read.ts';
import type { Resource } from '../../../../src/sandbox/resource.ts';
import { configMap, configMaps, errorTextOf, namespaces, resourceOf, secrets } from './reading.ts';

function selects(
  parameter: string,
  text: string,
  object: KubeObject,
  resource: Resource = configMaps,
): boolean {
  return filterOf({ resource, query: new URLSearchParams([[parameter, text]]) })(object);
}

function errorOf(parameter: string, text: string, resource: Resource = configMaps): string {
  return errorTextOf(() => filterOf({ resource, query: new URLSearchParams([[parameter, text]]) }));
}

describe('labelSelector', () => {
  const object = configMap('team', 'a', { a: 'x', 'example.com/b': '', in: 'notin' });

  test.each([
    ['', true],
    ['  ', true],
    ['a=x', true],
    ['a==x', true],
    [' a = x , in ', true],
    ['a=y', false],
    ['a!=x', false],
    ['a!=y', true],
    ['c!=y', true],
    ['c=', false],
    ['example.com/b=', true],
    ['example.com/b=,a', true],
    ['a in (x,y)', true],
    ['a in(y, x)', true],
    ['a in ()', false],
    ['example.com/b in (,z)', true],
    ['a notin (x)', false],
    ['c notin (x)', true],
    ['in in (in,notin)', true],
    ['in=notin,a', true],
    ['in', true],
    ['a', true],
    ['c', false],
    ['!c', true],
    ['! a', false],
    ['a,!c,a in (x),in!=x', true],
    ['a,!c,a in (y),in!=x', false],
    ['constructor', false],
    ['!toString', true],
  ])('%s', (text, expected) => {
    expect(selects('labelSelector', text, object)).toBe(expected);
  });

  // The real API server answers 400 to each of these too.
  test.each([
    'a in (b',
    'a in b',
    '=b',
    'a!b',
    '(a',
    'a===b',
    '-a',
    'a=-b',
    'a in (x,y)z',
    '!a=b',
    'a b',
    '!',
    'a in (!)',
    'a=(b)',
    'a in (x=y)',
    'a in (x y)',
    'a=&b',
    'x/y/z',
    'UP.er/a=b',
    'a in (-x)',
  ])('%s is refused', (text) => {
    expect(errorOf('labelSelector', text)).toMatch(/^400 BadRequest: unable to parse requirement: found '/);
  });

  test.each([
    `${'a=b '.repeat(10_000)}${' '.repeat(10_000)}!`,
    `a in (${' ,'.repeat(10_000)}!)`,
    '(a,'.repeat(10_000),
    `${'a.'.repeat(10_000)}!`,
  ])('a very long selector is refused quickly', (text) => {
    expect(errorOf('labelSelector', text)).toMatch(/^400 /);
  });
});

describe('fieldSelector', () => {
  const events = resourceOf('events', 'Event');
  const newEvents = resourceOf('events', 'Event', { group: 'events.k8s.io' });
  const roles = resourceOf('clusterroles', 'ClusterRole', {
    group: 'rbac.authorization.k8s.io',
    isNamespaced: false,
  });
  const event: KubeObject = {
    metadata: { namespace: 'team', name: 'e' },
    involvedObject: { kind: 'Secret', name: 's' },
    regarding: { name: 's' },
    reason: 'Made',
    type: 'Normal',
  };

  test.each([
    ['', configMaps, true],
    ['metadata.name=e', configMaps, true],
    ['metadata.name==e,metadata.namespace=team', configMaps, true],
    ['metadata.name=e,', configMaps, true],
    ['metadata.name=e,metadata.namespace!=team', configMaps, false],
    ['metadata.name=', configMaps, false],
    ['type=Normal', secrets, true],
    ['type!=Opaque', secrets, true],
    ['status.phase=Active', namespaces, false],
    ['status.phase=', namespaces, true],
    ['involvedObject.name=s,involvedObject.kind=Secret,involvedObject.uid=', events, true],
    ['reason=Made,type=Normal', events, true],
    ['reason!=Made', events, false],
    ['regarding.name=s,reason=Made', newEvents, true],
  ])('%s', (text, resource, expected) => {
    expect(selects('fieldSelector', text, event, resource)).toBe(expected);
  });

  test.each([
    ['foo=bar', configMaps, 'field label not supported: foo'],
    ['type!=x', configMaps, 'field label not supported: type'],
    ['=x', configMaps, 'field label not supported: '],
    ['metadata.name =x', configMaps, 'field label not supported: metadata.name '],
    ['rules=x', roles, 'field label not supported: rules'],
    ['involvedObject.name=x', newEvents, 'field label not supported: involvedObject.name'],
    ['source=x', newEvents, 'field label not supported: source'],
    ['metadata.name', configMaps, "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    [
      'metadata.name=a=b',
      configMaps,
      "invalid selector: 'metadata.name=a=b'; can't understand 'metadata.name=a=b'",
    ],
    [
      'metadata.name=a\\b',
      configMaps,
      String.raw`invalid selector: 'metadata.name=a\b'; can't understand 'metadata.name=a\b'`,
    ],
    [
      'metadata.name=a\\',
      configMaps,
      String.raw`invalid selector: 'metadata.name=a\'; can't understand 'metadata.name=a\'`,
    ],
  ])('%s is refused', (text, resource, message) => {
    expect(errorOf('fieldSelector', text, resource)).toBe(`400 BadRequest: ${message}`);
  });
});
