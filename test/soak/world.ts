// The objects that people write in the soak: few names, each written again and again with other contents.
import type { Random } from './random.ts';

export const counts = { namespaces: 60, policies: 6, shares: 6, sources: 10 } as const;
export const sourceNamespace = 'reeve-shared';
export const teams = ['red', 'blue', 'green'] as const;
/** The template for the name of the namespace. */
export const nameTemplate = '${namespaceObject.metadata.name}';
const crd = '/apis/reeve.dev/v1alpha1';
const manager = '?fieldManager=soak&force=true';
const unlimited = 1_000_000;

export interface Written {
  readonly path: string;
  readonly body: object;
}

export function namespaceName(random: Random): string {
  return `soak-${random.below(counts.namespaces)}`;
}

export function policyName(index: number): string {
  return `soak-policy-${index}`;
}

export function namespacePath(name: string): string {
  return `/api/v1/namespaces/${name}`;
}

export function policyPath(index: number): string {
  return `${crd}/namespacepolicies/${policyName(index)}`;
}

export function sharePath(index: number): string {
  return `${crd}/secretshares/soak-share-${index}`;
}

export function sourcePath(index: number): string {
  return `/api/v1/namespaces/${sourceNamespace}/secrets/soak-source-${index}`;
}

export function namespaceWith(name: string, random: Random): Written {
  const labels = {
    team: random.pick(teams),
    ...(random.chance(0.5) ? { tier: 'gold' } : {}),
    ...(random.chance(0.5) ? { pull: 'true' } : {}),
  };
  const annotations = { 'soak/note': `note-${random.below(1000)}` };
  return applied(namespacePath(name), 'v1', 'Namespace', { name, labels, annotations });
}

/** Returns a namespace that violates `rulesOfAll`. */
export function wrongNamespace(random: Random): Written {
  const name = namespaceName(random);
  return applied(namespacePath(name), 'v1', 'Namespace', { name, labels: { team: 'nobody' } });
}

/** The rules for all namespaces of the soak, in addition to any other matching policy. */
export const rulesOfAll: Written = applied(
  `${crd}/namespacepolicies/soak-rules`,
  'reeve.dev/v1alpha1',
  'NamespacePolicy',
  { name: 'soak-rules' },
  {
    spec: {
      match: { names: ['soak-*'] },
      validationActions: ['Deny'],
      namespaces: {
        required: { labels: { team: { values: teams } } },
        defaults: { annotations: { 'soak/defaulted': 'by-reeve' } },
      },
    },
  },
);

export function policyWith(index: number, random: Random): Written {
  const revision = random.below(1_000_000);
  const match = random.pick<object>([
    { namespaceSelector: { matchLabels: { team: random.pick(teams) } } },
    { namespaceSelector: { matchLabels: { tier: 'gold' } }, names: ['soak-*'] },
    { names: ['soak-*'], excludeNames: [`soak-*${random.below(10)}`] },
    { names: [`soak-${1 + random.below(5)}*`] },
  ]);
  const roleBinding = {
    name: `people-${index}-${nameTemplate}`,
    roleRef: { kind: 'ClusterRole', name: random.pick(['view', 'edit']) },
    subjects: [{ kind: 'Group', name: `people-${revision}-${nameTemplate}` }],
  };
  // All policies use the same name: the first policy that matches provides the object.
  const names = [`settings-${index}`, ...(random.chance(0.4) ? ['common'] : [])];
  const resources = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { revision: `${revision}`, namespace: nameTemplate },
  }));
  const contents = random.chance(0.8) ? { roleBindings: [roleBinding], resources } : { resources };
  const spec = { match, contents, maxDeletions: unlimited };
  const name = policyName(index);
  return applied(policyPath(index), 'reeve.dev/v1alpha1', 'NamespacePolicy', { name }, { spec });
}

export function shareWith(index: number, random: Random): Written {
  const targets = random.pick<object>([
    { namespaceSelector: { matchLabels: { pull: 'true' } } },
    { names: ['soak-*'], excludeNames: [`soak-${1 + random.below(5)}*`] },
  ]);
  const target = {
    name: `shared-${index}`,
    ...(random.chance(0.3) ? { immutable: true } : {}),
    ...(random.chance(0.3) ? { keys: [{ from: 'token', to: 'renamed' }] } : {}),
    labels: { flavor: `f${random.below(3)}`, ...(random.chance(0.3) ? { tested: 'true' } : {}) },
  };
  const source = { namespace: sourceNamespace, name: `soak-source-${random.below(counts.sources)}` };
  const spec = { source, targets, target, maxDeletions: unlimited };
  const name = `soak-share-${index}`;
  return applied(sharePath(index), 'reeve.dev/v1alpha1', 'SecretShare', { name }, { spec });
}

/** Returns a source with the canary in all secret fields. No other place may show the canary. */
export function sourceWith(index: number, canary: string, random: Random): Written {
  const value = `${canary}-${index}-${random.below(1_000_000)}`;
  const data = { token: base64(value), more: base64(`${value}-more`) };
  const metadata = {
    name: `soak-source-${index}`,
    namespace: sourceNamespace,
    annotations: { 'soak/canary': value },
  };
  return applied(sourcePath(index), 'v1', 'Secret', metadata, { type: 'Opaque', data });
}

function applied(
  path: string,
  apiVersion: string,
  kind: string,
  metadata: object,
  fields: object = {},
): Written {
  return { path: `${path}${manager}`, body: { apiVersion, kind, metadata, ...fields } };
}

function base64(value: string): string {
  return Buffer.from(value).toString('base64');
}
