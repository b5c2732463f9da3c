import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  compareProviders,
  kindOfProvider,
  kubectlName,
  nameOfProvider,
  namespaceOfProvider,
  parseProviderId,
  providerId,
  providerKinds,
  providerRef,
  shortName,
  shownName,
  shownProvider,
  useOf,
  type ProviderId,
} from '../../../../src/policy/terms/provider-id.ts';

const policy = providerId('NamespacePolicy', 'team');
const share = providerId('SecretShare', 'regcred');
const ofCluster = providerId('ClusterSecurityIntentBinding', 'no-egress');
const ofTenant = providerId('SecurityIntentBinding', 'no-egress', 'shop');

describe('each way to name a provider, by kind', () => {
  test.for([
    [policy, 'NamespacePolicy/team', 'NamespacePolicy team', 'team', 'x team', undefined],
    [share, 'SecretShare/regcred', 'SecretShare regcred', 'regcred', 'x regcred', undefined],
    [
      ofCluster,
      'ClusterSecurityIntentBinding/no-egress',
      'ClusterSecurityIntentBinding no-egress',
      'ClusterSecurityIntentBinding/no-egress',
      'x no-egress',
      undefined,
    ],
    [
      ofTenant,
      'SecurityIntentBinding/shop/no-egress',
      'SecurityIntentBinding shop/no-egress',
      'SecurityIntentBinding/shop/no-egress',
      'x no-egress -n shop',
      'shop',
    ],
  ] as const)('%s', ([id, text, shown, short, command, namespace]) => {
    expect(id).toBe(text);
    expect(parseProviderId(text)).toBe(id);
    expect(shownProvider(id)).toBe(shown);
    expect(shortName(id)).toBe(short);
    expect(kubectlName('x', id)).toBe(command);
    expect(namespaceOfProvider(id)).toBe(namespace);
  });
});

it('the object and the right to use a binding of a namespace have the namespace', () => {
  expect(providerRef(ofTenant)).toEqual({
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'SecurityIntentBinding',
    name: 'no-egress',
    namespace: 'shop',
  });
  expect(useOf(ofTenant)).toMatchObject({
    resource: 'securityintentbindings',
    name: 'no-egress',
    namespace: 'shop',
  });
  expect(useOf(ofCluster)).not.toHaveProperty('namespace');
});

describe('a forged owner annotation names no provider', () => {
  const long = 'a'.repeat(64);
  test.for([
    undefined,
    '',
    '/',
    'NamespacePolicy',
    'NamespacePolicy/',
    'NamespacePolicy//team',
    'NamespacePolicy/team/',
    'NamespacePolicy/shop/team',
    `NamespacePolicy/${long}`,
    'namespacepolicy/team',
    'ConfigMap/team',
    '__proto__/team',
    'constructor/team',
    'SecretShare/a b',
    'ClusterSecurityIntentBinding/shop/no-egress',
    'SecurityIntentBinding/no-egress',
    'SecurityIntentBinding//no-egress',
    'SecurityIntentBinding/shop/',
    'SecurityIntentBinding/shop/a/b',
    'SecurityIntentBinding/shop/no-egress/',
    'SecurityIntentBinding/shop/no-egress/x/y/z',
    'SecurityIntentBinding/Shop/no-egress',
    'SecurityIntentBinding/../no-egress',
    'SecurityIntentBinding/kube.system/no-egress',
    `SecurityIntentBinding/${long}/no-egress`,
    `SecurityIntentBinding/shop/${long}`,
    'SecurityIntentBinding/shop/no-egress\n',
    'securityintentbinding/shop/no-egress',
  ])('%j', (text) => {
    expect(parseProviderId(text)).toBeUndefined();
  });
});

it('an id is read as what it was built from', () => {
  const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?$/);
  const namespace = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
  fc.assert(
    fc.property(fc.constantFrom(...providerKinds), name, namespace, (kind, named, inNamespace) => {
      const id = providerId(kind, named, inNamespace);
      expect(parseProviderId(id)).toBe(id);
      expect(kindOfProvider(id)).toBe(kind);
      expect(nameOfProvider(id)).toBe(named);
      expect(namespaceOfProvider(id)).toBe(kind === 'SecurityIntentBinding' ? inNamespace : undefined);
    }),
  );
});

it('any text is either no id or exactly that id', () => {
  const part = fc.constantFrom(...providerKinds, 'shop', 'a.b', 'A', '', '/', '-', '\u0000', 'é');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const text = parts.join('/');
      expect([undefined, text]).toContain(parseProviderId(text));
    }),
  );
});

it('policies come first, then shares, bindings of the cluster and bindings of a namespace, each by name', () => {
  const ids: readonly ProviderId[] = [
    providerId('SecurityIntentBinding', 'z', 'a'),
    providerId('SecurityIntentBinding', 'a', 'b'),
    providerId('ClusterSecurityIntentBinding', 'a'),
    providerId('SecretShare', 'a'),
    providerId('NamespacePolicy', 'b'),
    providerId('NamespacePolicy', 'a'),
  ];
  expect(ids.toSorted(compareProviders)).toEqual([
    'NamespacePolicy/a',
    'NamespacePolicy/b',
    'SecretShare/a',
    'ClusterSecurityIntentBinding/a',
    'SecurityIntentBinding/a/z',
    'SecurityIntentBinding/b/a',
  ]);
  expect(compareProviders(policy, policy)).toBe(0);
});

test('a policy is named after its kind, and a binding by its id', () => {
  expect(shownName('apps')).toBe('policy apps');
  expect(shownName('registry', 'share')).toBe('share registry');
  expect(shownName('SecurityIntentBinding/shop/web')).toBe('SecurityIntentBinding shop/web');
});
