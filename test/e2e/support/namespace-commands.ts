// What people do with Namespaces, as commands of kubectl; and every way in which their labels can be changed.
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

/** Its own annotation lets later calls see what they are to remove. */
export function applyNamespace(name: string, { labels, annotations }: Wanted = {}): Command {
  return file(['apply'], manifest({ name, labels, annotations }));
}

/**
 * A name that the API server makes, and a label that lets it out of every webhook that selects by it: only after the
 * mutating ones have been asked is the label put right.
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
  /** Leaves the Namespace with these labels; it must have all that are left out already. */
  readonly relabel: (name: string, labels: Texts) => Command;
}

/** For a Namespace that was made by `kubectl apply`. */
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
