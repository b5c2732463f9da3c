// Tests the differences between a stored webhook configuration and the wanted one.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import {
  differences,
  differenceText,
  isSealBroken,
  isSealIntact,
  sealed,
} from '../../../src/registration/configuration-drift.ts';

const [bundle, otherBundle] = ['b3Vycw==', 'dGhlaXJz'];
const rule = { apiGroups: [''], resources: ['secrets'], operations: ['CREATE'], scope: 'Namespaced' };
const service = { namespace: 'ours', name: 'front', path: '/validate', port: 443 };
const condition = { name: 'not-reeve', expression: 'true' };
const secrets = {
  name: 'secrets.reeve.dev',
  rules: [rule],
  failurePolicy: 'Fail',
  timeoutSeconds: 5,
  namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }] },
  matchConditions: [condition],
  clientConfig: { service, caBundle: bundle },
};
const roles = { ...secrets, name: 'roles.reeve.dev' };
const metadata = {
  name: 'reeve',
  labels: { ours: 'yes' },
  annotations: { version: '1.0.0' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'ClusterRole', name: 'owner', uid: '1' }],
};
const [theirOwner] = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: '2' }];
const wanted: KubeObject = { kind: 'ValidatingWebhookConfiguration', metadata, webhooks: [secrets, roles] };

const withWebhooks = (...webhooks: readonly object[]): KubeObject => ({ ...wanted, webhooks });
const withMetadata = (changes: object): KubeObject => ({ ...wanted, metadata: { ...metadata, ...changes } });
const changed = (changes: object): KubeObject => withWebhooks({ ...secrets, ...changes }, roles);

describe('the differences', () => {
  it.each<readonly [string, KubeObject | undefined, readonly string[]]>([
    ['nothing', wanted, []],
    ['nothing in another order', withWebhooks(roles, secrets), []],
    [
      'the empty selectors that an API server adds',
      changed({ objectSelector: {}, clientConfig: { caBundle: bundle, service } }),
      [],
    ],
    [
      'what others have added to the metadata',
      withMetadata({ labels: { ours: 'yes', b: 'c' }, annotations: { version: '1.0.0', d: 'e' }, uid: '3' }),
      [],
    ],
    ['the whole object', undefined, ['deleted']],
    ['an empty list', withWebhooks(), ['emptied']],
    ['no list', { ...wanted, webhooks: undefined }, ['emptied']],
    ['a webhook that is not there', withWebhooks(roles), ['secrets.reeve.dev: webhook-removed']],
    ['a webhook of others', withWebhooks(secrets, roles, { ...roles, name: 'x' }), ['x: webhook-added']],
    ['no rules', changed({ rules: [] }), ['secrets.reeve.dev: rules']],
    ['fewer rules', changed({ rules: [{ ...rule, operations: [] }] }), ['secrets.reeve.dev: rules']],
    ['more rules', changed({ rules: [rule, rule] }), ['secrets.reeve.dev: rules']],
    ['a wider rule', changed({ rules: [{ ...rule, resources: ['*'] }] }), ['secrets.reeve.dev: rules']],
    [
      'another selector of namespaces',
      changed({ namespaceSelector: { matchLabels: { a: 'b' } } }),
      ['secrets.reeve.dev: namespaceSelector'],
    ],
    ['no selector', changed({ namespaceSelector: {} }), ['secrets.reeve.dev: namespaceSelector']],
    [
      'a selector of objects',
      changed({ objectSelector: { matchLabels: { a: 'b' } } }),
      ['secrets.reeve.dev: objectSelector'],
    ],
    [
      'a condition more',
      changed({ matchConditions: [condition, { name: 'never', expression: 'false' }] }),
      ['secrets.reeve.dev: matchConditions'],
    ],
    ['no conditions', changed({ matchConditions: undefined }), ['secrets.reeve.dev: matchConditions']],
    ['another failurePolicy', changed({ failurePolicy: 'Ignore' }), ['secrets.reeve.dev: failurePolicy']],
    ['another timeout', changed({ timeoutSeconds: 1 }), ['secrets.reeve.dev: timeoutSeconds']],
    [
      'another service',
      changed({ clientConfig: { service: { ...service, name: 'x' }, caBundle: bundle } }),
      ['secrets.reeve.dev: clientConfig.service'],
    ],
    [
      'an address',
      changed({ clientConfig: { url: 'https://x', caBundle: bundle } }),
      ['secrets.reeve.dev: clientConfig.url, clientConfig.service'],
    ],
    [
      'another authority',
      changed({ clientConfig: { service, caBundle: otherBundle } }),
      ['secrets.reeve.dev: clientConfig.caBundle'],
    ],
    ['no authority', changed({ clientConfig: { service } }), ['secrets.reeve.dev: clientConfig.caBundle']],
    [
      'several things',
      withWebhooks({ ...secrets, rules: [], timeoutSeconds: 1, clientConfig: { service } }),
      [
        'secrets.reeve.dev: clientConfig.caBundle',
        'secrets.reeve.dev: rules, timeoutSeconds',
        'roles.reeve.dev: webhook-removed',
      ],
    ],
    ['no owner', withMetadata({ ownerReferences: undefined }), ['ownerReferences']],
    [
      'an owner more',
      withMetadata({ ownerReferences: [...metadata.ownerReferences, theirOwner] }),
      ['ownerReferences'],
    ],
    ['a finalizer', withMetadata({ finalizers: ['example.com/hold'] }), ['finalizers']],
    ['no finalizers', withMetadata({ finalizers: [] }), []],
    [
      'a finalizer and no owner',
      withMetadata({ finalizers: ['example.com/hold'], ownerReferences: undefined }),
      ['ownerReferences', 'finalizers'],
    ],
    [
      'other words on it',
      withMetadata({ labels: {}, annotations: { version: '0' } }),
      ['labels, annotations'],
    ],
  ])('%s', (_, stored, expected) => {
    expect(differences(stored, wanted).map(differenceText)).toEqual(expected);
  });

  it('an authority that others added to a configuration without one is a difference', () => {
    const without = { ...secrets, clientConfig: { service } };
    const found = differences(withWebhooks(secrets, roles), { ...wanted, webhooks: [without, roles] });
    expect(found).toEqual([{ drift: 'ca-bundle', webhook: secrets.name, fields: ['clientConfig.caBundle'] }]);
  });

  it('keys that objects inherit in JavaScript are compared like others', () => {
    const hostile = JSON.parse('{"name":"secrets.reeve.dev","__proto__":{"rules":[]}}') as object;
    const first = differences(withWebhooks(hostile, roles), wanted).find(
      ({ drift }) => drift === 'webhook-changed',
    );
    expect(first?.fields).toContain('__proto__');
    expect(first?.fields).toContain('rules');
  });
});

describe('the seal', () => {
  it.each<readonly [string, (stored: KubeObject) => KubeObject, ours: boolean, others: boolean]>([
    ['nothing is done', (stored) => stored, false, false],
    [
      'an API server adds empty selectors, and orders members otherwise',
      (stored) => ({ ...stored, webhooks: [{ objectSelector: {}, ...secrets }, roles] }),
      false,
      false,
    ],
    [
      'the metadata changes',
      (stored) => ({ ...stored, metadata: { ...stored.metadata, labels: {} } }),
      false,
      false,
    ],
    ['a webhook goes', (stored) => ({ ...stored, webhooks: [secrets] }), true, true],
    ['all webhooks go', (stored) => ({ ...stored, webhooks: [] }), true, true],
    ['no list is left', (stored) => ({ ...stored, webhooks: undefined }), true, true],
    ['a rule changes', (stored) => ({ ...stored, webhooks: [{ ...secrets, rules: [] }, roles] }), true, true],
    [
      'the authority changes',
      (stored) => ({
        ...stored,
        webhooks: [{ ...secrets, clientConfig: { service, caBundle: otherBundle } }, roles],
      }),
      true,
      false,
    ],
    [
      'another version is named',
      ({ metadata: { annotations, ...rest }, ...stored }) => ({
        ...stored,
        metadata: { ...rest, annotations: { ...annotations, 'reeve.dev/version': '99.0.0' } },
      }),
      true,
      true,
    ],
  ])('the differences are found when %s', (_, change, ours, others) => {
    const [withBundle, withoutBundle] = [change(sealed(wanted, true)), change(sealed(wanted, false))];
    expect([withBundle, withoutBundle].map(isSealBroken)).toEqual([ours, others]);
    expect([withBundle, withoutBundle].map(isSealIntact)).toEqual([!ours, !others]);
  });

  it('a missing seal is neither broken nor intact', () => {
    expect([isSealBroken(wanted), isSealIntact(wanted)]).toEqual([false, false]);
  });
});
