// What the program makes of the shipped webhook configurations: for this install, and for the policies in force.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/kube-object.ts';
import { PolicySet } from '../../../src/policy/policy-set.ts';
import {
  judgedKinds,
  saysNoMore,
  webhookConfigurations,
  type WebhookOptions,
} from '../../../src/state/webhook-configurations.ts';
import { aPolicy } from '../../support/engine.ts';
import { manifestObject } from '../../support/manifest-files.ts';

const templates = {
  validating: manifestObject('webhooks/validating.yaml'),
  mutating: manifestObject('webhooks/mutating.yaml'),
};
const nothing = { secrets: false, roles: false, rolebindings: false, secretDefaults: false };
const everything = { secrets: true, roles: true, rolebindings: true, secretDefaults: true };
const options: WebhookOptions = {
  caBundle: '-----BEGIN CERTIFICATE-----\n',
  service: { namespace: 'ours', name: 'front', port: 8443 },
  excludedNamespaces: ['ours', 'ours-shared', 'kube-system'],
  reconcilerUsername: 'system:serviceaccount:ours:reeve-reconciler',
  failurePolicyOfSecretsAndRbac: 'Ignore',
  judged: everything,
  owner: { name: 'reeve-webhook', uid: 'uid-of-role' },
  version: '1.2.3',
};

interface Webhook {
  readonly name: string;
  readonly failurePolicy: string;
  readonly clientConfig: object;
  readonly namespaceSelector?: object;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
}

function made(changes: Partial<WebhookOptions> = {}): {
  readonly validating: readonly Webhook[];
  readonly mutating: readonly Webhook[];
} {
  const { validating, mutating } = webhookConfigurations(templates, { ...options, ...changes });
  return { validating: webhooksOf(validating), mutating: webhooksOf(mutating) };
}

function webhooksOf(configuration: KubeObject): readonly Webhook[] {
  return configuration['webhooks'] as readonly Webhook[];
}

const always = {
  validating: [
    'namespaces.validate.reeve.dev',
    'namespacepolicies.validate.reeve.dev',
    'secretshares.validate.reeve.dev',
  ],
  mutating: ['namespaces.mutate.reeve.dev'],
};

describe('the entries', () => {
  it.each<readonly [string, Partial<typeof nothing>, readonly string[]]>([
    ['nothing', {}, []],
    ['Secrets', { secrets: true }, ['secrets.validate.reeve.dev']],
    ['Roles', { roles: true }, ['roles.validate.reeve.dev']],
    ['RoleBindings', { rolebindings: true }, ['rolebindings.validate.reeve.dev']],
    ['defaults of Secrets', { secretDefaults: true }, ['secrets.mutate.reeve.dev']],
  ])('with policies that judge %s', (_, judged, more) => {
    const { validating, mutating } = made({ judged: { ...nothing, ...judged } });
    const names = [...validating, ...mutating].map(({ name }) => name);
    expect(names.toSorted()).toEqual([...always.validating, ...always.mutating, ...more].toSorted());
  });

  it.each(['Ignore', 'Fail'] as const)(
    'fail as the install says for Secrets and RBAC alone: %s',
    (policy) => {
      const { validating, mutating } = made({ failurePolicyOfSecretsAndRbac: policy });
      const policies = [...validating, ...mutating].map(({ name, failurePolicy }) => [name, failurePolicy]);
      expect(Object.fromEntries(policies)).toEqual({
        'namespaces.validate.reeve.dev': 'Fail',
        'namespacepolicies.validate.reeve.dev': 'Fail',
        'secretshares.validate.reeve.dev': 'Fail',
        'secrets.validate.reeve.dev': policy,
        'roles.validate.reeve.dev': policy,
        'rolebindings.validate.reeve.dev': policy,
        'namespaces.mutate.reeve.dev': 'Ignore',
        'secrets.mutate.reeve.dev': 'Ignore',
      });
    },
  );

  it('lead to the service of the install, each on its path', () => {
    const clients = (path: string): object => ({
      service: { namespace: 'ours', name: 'front', port: 8443, path },
      caBundle: Buffer.from(options.caBundle).toString('base64'),
    });
    const { validating, mutating } = made();
    expect(new Set(validating.map(({ clientConfig }) => JSON.stringify(clientConfig))).size).toBe(1);
    expect(validating[0]?.clientConfig).toEqual(clients('/validate'));
    expect(mutating.map(({ clientConfig }) => clientConfig)).toEqual([
      clients('/mutate'),
      clients('/mutate'),
    ]);
  });

  it('leave out the namespaces of Kubernetes and those of the install, by their names alone', () => {
    const { validating, mutating } = made();
    const selectors = [...validating, ...mutating].map((each) => each.namespaceSelector);
    const values = ['kube-system', 'kube-public', 'kube-node-lease', 'ours', 'ours-shared'];
    const selector = {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values }],
    };
    expect(selectors.filter((each) => each !== undefined)).toEqual(Array.from({ length: 6 }, () => selector));
    // Cluster-scoped objects other than Namespaces are never left out by one.
    const withoutOne = validating.filter((each) => each.namespaceSelector === undefined);
    expect(withoutOne.map(({ name }) => name)).toEqual(always.validating.slice(1));
  });

  it('do not ask about what Reeve writes, except on its own kinds', () => {
    const { validating, mutating } = made();
    for (const { name, matchConditions } of [...validating, ...mutating]) {
      const found = matchConditions
        .filter((each) => each.name === 'not-reeve')
        .map(({ expression }) => expression);
      const expected = `request.userInfo.username != "${options.reconcilerUsername}"`;
      expect(found, name).toEqual(always.validating.slice(1).includes(name) ? [] : [expected]);
    }
  });
});

describe('the configurations', () => {
  it.each(['validating', 'mutating'] as const)(
    'say who has written them and what they go with: %s',
    (which) => {
      const { metadata, apiVersion } = webhookConfigurations(templates, options)[which];
      expect(apiVersion).toBe('admissionregistration.k8s.io/v1');
      expect(metadata).toEqual({
        name: 'reeve',
        labels: { 'app.kubernetes.io/part-of': 'reeve' },
        annotations: { 'reeve.dev/version': '1.2.3' },
        ownerReferences: [
          {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRole',
            name: 'reeve-webhook',
            uid: 'uid-of-role',
          },
        ],
      });
    },
  );

  it('are the shipped files, for the install that those are written for', () => {
    const shipped = webhookConfigurations(templates, {
      ...options,
      service: { namespace: 'reeve-system', name: 'reeve-webhook', port: 443 },
      excludedNamespaces: ['reeve-system', 'reeve-shared'],
      reconcilerUsername: 'system:serviceaccount:reeve-system:reeve-reconciler',
      version: '0.1.0',
    });
    const authority = Buffer.from(options.caBundle).toString('base64');
    for (const which of ['validating', 'mutating'] as const) {
      const { metadata, ...rest } = shipped[which];
      const byHand = JSON.parse(
        JSON.stringify(templates[which]).replaceAll('CA_BUNDLE', authority),
      ) as KubeObject;
      expect({ ...rest, metadata: { ...metadata, ownerReferences: undefined } }).toEqual(byHand);
    }
  });
});

describe('what policies judge', () => {
  it.each<readonly [string, object, Partial<typeof nothing>]>([
    ['rules on Namespaces', { namespaces: { required: { labels: { team: {} } } } }, {}],
    ['rules on Secrets', { secrets: { maxBytes: 1 } }, { secrets: true }],
    [
      'defaults of Secrets, which are demanded too',
      { secrets: { defaults: { labels: { a: 'b' } } } },
      { secrets: true, secretDefaults: true },
    ],
    [
      'roles that may be granted',
      { rbac: { allowedRoleRefs: ['ClusterRole/view'] } },
      { rolebindings: true },
    ],
    ['subjects', { rbac: { forbiddenSubjects: ['Group/system:authenticated'] } }, { rolebindings: true }],
    ['wildcards', { rbac: { forbidWildcardRules: true } }, { roles: true }],
  ])('%s', (_, spec, judged) => {
    const set = new PolicySet([aPolicy('p', spec)], { excludedNamespaces: [] });
    expect(judgedKinds(set)).toEqual({ ...nothing, ...judged });
  });

  it('is that of all together', () => {
    const policies = [
      aPolicy('a', { secrets: { maxBytes: 1 } }),
      aPolicy('b', { rbac: { forbidWildcardRules: true } }),
    ];
    expect(judgedKinds(new PolicySet(policies, { excludedNamespaces: [] }))).toEqual({
      ...nothing,
      secrets: true,
      roles: true,
    });
    expect(judgedKinds(new PolicySet([], { excludedNamespaces: [] }))).toEqual(nothing);
  });
});

describe('what is stored', () => {
  const wanted = [{ name: 'a', rules: [{ operations: ['CREATE'] }], matchConditions: [{ name: 'x' }] }];
  const [first] = wanted;

  it.each([
    ['the same', wanted, true],
    ['with the defaults of the API server', [{ ...first, objectSelector: {}, namespaceSelector: {} }], true],
    ['with a selector', [{ ...first, objectSelector: { matchLabels: { a: 'b' } } }], false],
    ['with another condition', [{ ...first, matchConditions: [{ name: 'x' }, { name: 'y' }] }], false],
    ['with another webhook', [...wanted, { name: 'b' }], false],
    ['with another value', [{ ...first, name: 'b' }], false],
    ['without webhooks', undefined, false],
  ])('%s', (_, stored, expected) => {
    expect(saysNoMore(stored, wanted)).toBe(expected);
  });
});
