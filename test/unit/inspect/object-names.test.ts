import { describe, expect, test } from 'vitest';
import { providerNamed } from '../../../src/inspect/input/object-names.ts';

describe('the name of a policy, share or binding', () => {
  test.each([
    ['policy/team', undefined, 'NamespacePolicy/team'],
    ['NamespacePolicy/team', undefined, 'NamespacePolicy/team'],
    ['nspol/team', 'ignored', 'NamespacePolicy/team'],
    ['namespacepolicies/Team.a', undefined, 'NamespacePolicy/Team.a'],
    ['share/regcred', undefined, 'SecretShare/regcred'],
    ['sshare/regcred', undefined, 'SecretShare/regcred'],
    ['binding/no-egress', undefined, 'ClusterSecurityIntentBinding/no-egress'],
    ['binding/no-egress', 'shop', 'SecurityIntentBinding/shop/no-egress'],
    ['csib/no-egress', 'shop', 'ClusterSecurityIntentBinding/no-egress'],
    ['sib/no-egress', 'shop', 'SecurityIntentBinding/shop/no-egress'],
    ['SecurityIntentBinding/shop/no-egress', undefined, 'SecurityIntentBinding/shop/no-egress'],
    ['binding/shop/no-egress', 'other', 'SecurityIntentBinding/shop/no-egress'],
  ])('%s with namespace %s is %s', (text, namespace, id) => {
    expect(providerNamed(text, namespace)).toEqual({ ok: true, id });
  });

  test.each([
    '',
    'team',
    '/team',
    'policy/',
    'policy/a b',
    'policy/x/y',
    'sint/a',
    'sib/Shop/a',
    'sib/shop/a/b',
    'constructor/a',
  ])('the name of a policy, share or binding is not %j', (text) => {
    expect(providerNamed(text, undefined).ok).toBe(false);
  });
});
