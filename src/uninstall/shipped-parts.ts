// Reads from the shipped manifests what an install consists of, in the parts that an uninstall deletes one by one.
import { readdir } from 'node:fs/promises';
import { isJsonObject, ownMember } from '../base/json.ts';
import type { KubeObject, ObjectRef } from '../base/kube-object.ts';
import { readYamlFiles } from '../state/yaml-files.ts';
import { readObjects } from '../state/yaml-objects.ts';
import { shippedFolder } from '../app/shipped-files.ts';

export interface InstallPlace {
  readonly namespace: string;
}

export interface ShippedParts {
  /** With it the garbage collector deletes the webhook configurations, and without it no replica applies them again. */
  readonly hooksOwner: readonly ObjectRef[];
  readonly hooks: readonly ObjectRef[];
  readonly program: readonly ObjectRef[];
  /** All rights of the accounts of Reeve. The program needs them to answer reviews until it ends. */
  readonly rights: readonly ObjectRef[];
  /** The admission policies: while they are in force, only Reeve may write what it provides. */
  readonly guards: readonly ObjectRef[];
  readonly definitions: readonly ObjectRef[];
  readonly rest: readonly ObjectRef[];
}

/** The folders of manifests/ that hold no objects of an install, or hold them once more. The ConfigMap of `argocd` is that of Argo CD. */
const otherFolders: readonly string[] = ['samples', 'chart', 'overlays', 'argocd'];
const shippedNamespace = 'reeve-system';
const hooksOwnerName = 'reeve-webhook';
/** Secrets that the webhooks or an administrator create after the install. */
const madeSecrets = ['reeve-webhook-ca', 'reeve-webhook-tls'] as const;

export async function readShippedParts(place: InstallPlace): Promise<ShippedParts> {
  const entries = await readdir(shippedFolder('.'), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && !otherFolders.includes(entry.name));
  const read = await Promise.all(folders.map(({ name }) => readYamlFiles(shippedFolder(name))));
  const objects = read
    .flatMap(({ files }) => files.flatMap((file) => readObjects(file).objects))
    .flatMap(({ value }) => (isObject(value) ? [value] : []));
  return shippedParts(objects, place);
}

/** Contains each object once, although variants of the install share objects. Leaves out the namespaces. */
export function shippedParts(objects: readonly KubeObject[], { namespace }: InstallPlace): ShippedParts {
  const refs = objects.map((object) => refOf(object, namespace));
  const made = madeSecrets.map((name) => ({ apiVersion: 'v1', kind: 'Secret', namespace, name }));
  const unique = new Map([...refs, ...made].map((ref) => [JSON.stringify(ref), ref]));
  const parts = Map.groupBy(unique.values(), partOf);
  const part = (name: keyof ShippedParts): readonly ObjectRef[] => parts.get(name) ?? [];
  return {
    hooksOwner: part('hooksOwner'),
    hooks: part('hooks'),
    program: part('program'),
    rights: part('rights'),
    guards: part('guards'),
    definitions: part('definitions'),
    rest: part('rest'),
  };
}

function partOf({ kind, name }: ObjectRef): keyof ShippedParts | 'namespace' {
  switch (kind) {
    case 'ValidatingWebhookConfiguration':
    case 'MutatingWebhookConfiguration':
      return 'hooks';
    case 'ClusterRole':
      return name === hooksOwnerName ? 'hooksOwner' : 'rest';
    case 'Deployment':
      return 'program';
    case 'ClusterRoleBinding':
    case 'RoleBinding':
      return 'rights';
    case 'ValidatingAdmissionPolicyBinding':
    case 'ValidatingAdmissionPolicy':
      return 'guards';
    case 'CustomResourceDefinition':
      return 'definitions';
    case 'Namespace':
      return 'namespace';
    default:
      return 'rest';
  }
}

function refOf({ apiVersion = '', kind = '', metadata }: KubeObject, namespace: string): ObjectRef {
  const { name = '' } = metadata;
  const isInInstall = metadata.namespace === shippedNamespace;
  const place = isInInstall ? namespace : metadata.namespace;
  return { apiVersion, kind, ...(place === undefined ? {} : { namespace: place }), name };
}

function isObject(value: unknown): value is KubeObject {
  return isJsonObject(value) && isJsonObject(ownMember(value, 'metadata'));
}
