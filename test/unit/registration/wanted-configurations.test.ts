// What the program makes of the shipped webhook configurations: for this install, and for the policies in force.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import {
  webhookConfigurations,
  type WebhookOptions,
} from '../../../src/registration/wanted-configurations.ts';
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
  secretsAndRbac: 'Ignore',
  judged: everything,
  owner: { name: 'reeve-webhook', uid: 'uid-of-role' },
  version: '1.2.3',
};

interface Webhook {
  readonly name: string;
  readonly failurePolicy: string;
  readonly timeoutSeconds: number;
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
    'configmapshares.validate.reeve.dev',
    'securityintents.validate.reeve.dev',
    'clustersecurityintentbindings.validate.reeve.dev',
    'securityintentbindings.validate.reeve.dev',
    'namespaceclaims.validate.reeve.dev',
  ],
  mutating: ['namespaces.mutate.reeve.dev', 'namespaceclaims.mutate.reeve.dev'],
};

describe('the entries', () => {
  it.each<readonly [string, Partial<typeof nothing>, readonly string[]]>([
    ['nothing', {}, []],
    ['Secrets', { secrets: true }, ['secrets.validate.reeve.dev']],
    ['Roles', { roles: true }, ['roles.validate.reeve.dev']],
    ['RoleBindings', { rolebindings: true }, ['rolebindings.validate.reeve.dev']],
    ['defaults of Secrets', { secretDefaults: true }, ['secrets.mutate.reeve.dev']],
  ])('the entries are right for policies that judge %s', (_, judged, more) => {
    const { validating, mutating } = made({ judged: { ...nothing, ...judged } });
    const names = [...validating, ...mutating].map(({ name }) => name);
    expect(names.toSorted()).toEqual([...always.validating, ...always.mutating, ...more].toSorted());
  });

  it.each(['Ignore', 'Fail'] as const)(
    'only the entries for Secrets and RBAC have the failure policy of the install: %s',
    (policy) => {
      const { validating, mutating } = made({ secretsAndRbac: policy });
      const policies = [...validating, ...mutating].map(({ name, failurePolicy }) => [name, failurePolicy]);
      expect(Object.fromEntries(policies)).toEqual({
        'namespaces.validate.reeve.dev': 'Fail',
        'namespacepolicies.validate.reeve.dev': 'Fail',
        'secretshares.validate.reeve.dev': 'Fail',
        'configmapshares.validate.reeve.dev': 'Fail',
        'securityintents.validate.reeve.dev': 'Fail',
        'clustersecurityintentbindings.validate.reeve.dev': 'Fail',
        'securityintentbindings.validate.reeve.dev': 'Fail',
        'namespaceclaims.validate.reeve.dev': 'Fail',
        'namespaceclaims.mutate.reeve.dev': 'Ignore',
        'secrets.validate.reeve.dev': policy,
        'roles.validate.reeve.dev': policy,
        'rolebindings.validate.reeve.dev': policy,
        'namespaces.mutate.reeve.dev': 'Ignore',
        'secrets.mutate.reeve.dev': 'Ignore',
      });
    },
  );

  it('an install can leave out the entries for Secrets and RBAC, whatever policies say', () => {
    const { validating, mutating } = made({ secretsAndRbac: 'Off' });
    expect(validating.map(({ name }) => name)).toEqual(always.validating);
    expect(mutating.map(({ name }) => name)).toEqual(always.mutating);
  });

  it('no entry has a bundle if another program writes it', () => {
    const { validating, mutating } = made({ caBundle: undefined });
    const clients = [...validating, ...mutating].map(({ clientConfig }) => Object.keys(clientConfig));
    expect(new Set(clients.flat())).toEqual(new Set(['service']));
  });

  it('every timeout is at most five seconds', () => {
    const { validating, mutating } = made();
    const seconds = [...validating, ...mutating].map(({ timeoutSeconds }) => timeoutSeconds);
    expect(Math.max(...seconds)).toBeLessThanOrEqual(5);
  });

  it('every entry calls the Service of the install on its path', () => {
    const clients = (path: string): object => ({
      service: { namespace: 'ours', name: 'front', port: 8443, path },
      caBundle: Buffer.from('-----BEGIN CERTIFICATE-----\n').toString('base64'),
    });
    const { validating, mutating } = made();
    expect(new Set(validating.map(({ clientConfig }) => JSON.stringify(clientConfig))).size).toBe(1);
    expect(validating[0]?.clientConfig).toEqual(clients('/validate'));
    expect(mutating.map(({ clientConfig }) => clientConfig)).toEqual(mutating.map(() => clients('/mutate')));
  });

  it('the namespaces of Kubernetes and of the install are excluded by name only', () => {
    const { validating, mutating } = made();
    const selectors = [...validating, ...mutating].map((each) => each.namespaceSelector);
    const values = ['kube-system', 'kube-public', 'kube-node-lease', 'ours', 'ours-shared'];
    const selector = {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values }],
    };
    expect(selectors.filter((each) => each !== undefined)).toEqual(Array.from({ length: 6 }, () => selector));
    // Objects of Reeve's own kinds are never left out by one.
    const withoutOne = validating.filter((each) => each.namespaceSelector === undefined);
    expect(withoutOne.map(({ name }) => name)).toEqual(always.validating.slice(1));
  });

  it('writes of Reeve are reviewed only on its own kinds, and where it creates or deletes a Namespace', () => {
    const { validating, mutating } = made();
    const own = [...always.validating, ...always.mutating].filter((name) => !name.startsWith('namespaces.'));
    for (const { name, matchConditions } of [...validating, ...mutating]) {
      const found = matchConditions
        .filter((each) => each.name.startsWith('not-reeve'))
        .map(({ expression }) => expression);
      const expected = `request.userInfo.username != "${options.reconcilerUsername}"`;
      const onUpdate = name.startsWith('namespaces.') ? ' || request.operation != "UPDATE"' : '';
      expect(found, name).toEqual(own.includes(name) ? [] : [`${expected}${onUpdate}`]);
    }
  });
});

describe('the configurations', () => {
  it.each(['validating', 'mutating'] as const)(
    'the metadata has the labels, the version and the owner reference: %s',
    (which) => {
      const { metadata, apiVersion } = webhookConfigurations(templates, options)[which];
      expect(apiVersion).toBe('admissionregistration.k8s.io/v1');
      expect(metadata).toEqual({
        name: 'reeve',
        labels: { 'app.kubernetes.io/part-of': 'reeve', 'admissions.enforcer/disabled': 'true' },
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

  it('the configurations equal the shipped files for the default install', () => {
    const shipped = webhookConfigurations(templates, {
      ...options,
      service: { namespace: 'reeve-system', name: 'reeve-webhook', port: 443 },
      excludedNamespaces: ['reeve-system', 'reeve-shared'],
      reconcilerUsername: 'system:serviceaccount:reeve-system:reeve-reconciler',
      version: '0.1.0',
    });
    const authority = Buffer.from('-----BEGIN CERTIFICATE-----\n').toString('base64');
    for (const which of ['validating', 'mutating'] as const) {
      const { metadata, ...rest } = shipped[which];
      const byHand = JSON.parse(
        JSON.stringify(templates[which]).replaceAll('CA_BUNDLE', authority),
      ) as KubeObject;
      expect({ ...rest, metadata: { ...metadata, ownerReferences: undefined } }).toEqual(byHand);
    }
  });

  it('a configuration without webhooks is never created, because it would allow every request', () => {
    const empty = { ...templates, mutating: { ...templates.mutating, webhooks: [] } };
    expect(() => webhookConfigurations(empty, options)).toThrow('without webhooks');
  });
});
