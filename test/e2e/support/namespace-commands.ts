// The kubectl commands with which people write Namespaces, and all ways to change the labels of a Namespace.
import type { Command } from './attempt.ts';
import { file, patch, waysToWrite, type Manifest } from './ways-to-write.ts';

type Texts = Readonly<Record<string, string>>;

interface Wanted {
  readonly labels?: Texts | undefined;
  readonly annotations?: Texts | undefined;
}

export function createNamespace(name: string, { labels, annotations }: Wanted = {}): Command {
  return file(['create'], manifest({ name, labels, annotations }));
}

/** Uses `kubectl apply`, whose annotation lets later calls find out which fields to remove. */
export function applyNamespace(name: string, { labels, annotations }: Wanted = {}): Command {
  return file(['apply'], manifest({ name, labels, annotations }));
}

/**
 * Uses generateName and a forged name label, which makes webhooks with a selector on that label skip the Namespace.
 * The API server corrects the label only after the mutating webhooks.
 */
export function sneakNamespace(generateName: string, { labels, annotations }: Wanted = {}): Command {
  const forged = { 'kubernetes.io/metadata.name': 'kube-system', ...labels };
  const metadata = { generateName, labels: forged, annotations };
  return file(['create'], { apiVersion: 'v1', kind: 'Namespace', metadata });
}

/** `team=shop` sets a label, `team-` removes it. */
export function labelNamespace(name: string, ...labels: readonly string[]): Command {
  return { args: ['label', '--overwrite', 'namespace', name, ...labels] };
}

export function annotateNamespace(name: string, ...annotations: readonly string[]): Command {
  return { args: ['annotate', '--overwrite', 'namespace', name, ...annotations] };
}

export function deleteNamespace(name: string, cascade = 'background'): Command {
  return { args: ['delete', 'namespace', name, '--wait=false', `--cascade=${cascade}`] };
}

interface Way {
  readonly way: string;
  /** Sets these labels on the Namespace. The Namespace must already have all labels that are left out. */
  readonly relabel: (name: string, labels: Texts) => Command;
}

/** Ways that need a Namespace created by `kubectl apply`. */
export const waysToRelabel: readonly Way[] = [
  ...waysToWrite.map(({ way, write }) => ({
    way,
    relabel: (name: string, labels: Texts) => write(manifest({ name }), ['metadata', 'labels'], labels),
  })),
  {
    way: 'label',
    relabel: (name, labels) =>
      labelNamespace(name, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)),
  },
  {
    way: 'patch-of-status',
    relabel: (name, labels) =>
      patch(manifest({ name }), 'merge', { metadata: { labels } }, '--subresource=status'),
  },
  {
    way: 'replace-of-status',
    relabel: (name, labels) => file(['replace', '--subresource=status'], manifest({ name, labels })),
  },
  {
    way: 'finalize',
    relabel: (name, labels) => ({
      ...file(['replace', '--raw', `/api/v1/namespaces/${name}/finalize`], {
        ...manifest({ name, labels }),
        spec: { finalizers: ['kubernetes'] },
      }),
      isReal: true,
    }),
  },
];

function manifest(metadata: Wanted & { readonly name: string }): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata };
}
