// What the installation lets policies and shares do, whatever they say: where sources may be, and what is provided.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Problem } from '../../base/problem.ts';
import { alternatives } from '../../base/text.ts';
import { isSameObjectType, type ObjectType } from './object-key.ts';
import type { ProviderKind } from '../terms/provider-id.ts';
import { quoted } from '../terms/wording.ts';
import type { ProviderDefinition } from './load-provider.ts';

export interface Install {
  /** The namespaces of the Secrets that may be shared. */
  readonly sourceNamespaces: readonly string[];
  /** What policies may provide as `contents.resources`; undefined where nobody has said: without a cluster. */
  readonly resourceKinds: readonly ObjectType[] | undefined;
  /** The names of the Secrets that shares may make; undefined: any name. */
  readonly secretNames: readonly string[] | undefined;
  /** Under which name the API server keeps the objects of a kind: `configmaps`. */
  readonly resourceOf: (type: ObjectType) => string;
}

/** Read without the schema, so that an author learns of it together with all else that is wrong. */
export function sourceProblems(
  kind: ProviderKind,
  { spec }: Pick<KubeObject, string>,
  { sourceNamespaces }: Install,
): readonly Problem[] {
  const namespace = ownMember(ownMember(spec, 'source'), 'namespace');
  // What is no text is a problem of the schema.
  if (kind !== 'SecretShare' || typeof namespace !== 'string' || sourceNamespaces.includes(namespace))
    return [];
  const names = alternatives(sourceNamespaces);
  const accepted = names === '' ? 'nothing: the installation names no namespaces for sources' : names;
  return [{ path: ['spec', 'source', 'namespace'], found: quoted(namespace), accepted }];
}

/** The kinds of a policy's `contents.resources` that will not be made, each once. */
export function kindsNotAllowed(definition: ProviderDefinition, install: Install): readonly ObjectType[] {
  if (definition.kind !== 'NamespacePolicy') return [];
  const unlike = new Map<string, ObjectType>();
  for (const { apiVersion, kind } of definition.object.spec.contents?.resources ?? []) {
    const type = { apiVersion, kind };
    if (!isProvided(type, install)) unlike.set(`${apiVersion}/${kind}`, type);
  }
  return [...unlike.values()];
}

/** The name of the Secret that a share makes, where it will not be made. */
export function nameNotAllowed(definition: ProviderDefinition, install: Install): string | undefined {
  if (definition.kind !== 'SecretShare') return undefined;
  const { name } = definition.compiled.copy;
  return mayMakeSecret(name, install) ? undefined : name;
}

/** In the version that is watched: in another one, what is wanted and what is there could not be compared. */
export function isProvided(type: ObjectType, { resourceKinds }: Pick<Install, 'resourceKinds'>): boolean {
  return resourceKinds?.some((each) => isSameObjectType(each, type)) ?? true;
}

export function mayMakeSecret(name: string, { secretNames }: Pick<Install, 'secretNames'>): boolean {
  return secretNames?.includes(name) ?? true;
}
