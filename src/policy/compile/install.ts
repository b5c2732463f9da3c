// Limits of the installation on policies and shares: source namespaces, kinds of contents, names of copies.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Problem } from '../../base/problem.ts';
import { alternatives, quoted } from '../../base/text.ts';
import { isSameObjectType, type ObjectType } from '../terms/object-key.ts';
import type { ProviderKind } from '../terms/provider-id.ts';
import type { ProviderDefinition } from './load-provider.ts';

export interface Install {
  /** The namespaces of the Secrets that may be shared. */
  readonly sourceNamespaces: readonly string[];
  /** The kinds that policies may provide as `contents.resources`. Undefined without a cluster: all kinds. */
  readonly resourceKinds: readonly ObjectType[] | undefined;
  /** The names of the Secrets that shares may create. Undefined: any name. */
  readonly secretNames: readonly string[] | undefined;
  /** True if existing Secrets are read and judged. */
  readonly auditSecrets?: boolean | undefined;
  /** Returns the resource name of a kind: `configmaps`. */
  readonly resourceOf: (type: ObjectType) => string;
}

/** Reads the object without the schema, so that this problem is reported together with those of the schema. */
export function sourceProblems(
  kind: ProviderKind,
  { spec }: Pick<KubeObject, string>,
  { sourceNamespaces }: Install,
): readonly Problem[] {
  const namespace = ownMember(ownMember(spec, 'source'), 'namespace');
  // The schema reports a value that is not text.
  if (kind !== 'SecretShare' || typeof namespace !== 'string' || sourceNamespaces.includes(namespace))
    return [];
  const names = alternatives(sourceNamespaces);
  const accepted = names === '' ? 'nothing: the installation has no namespaces for sources' : names;
  return [{ path: ['spec', 'source', 'namespace'], found: quoted(namespace), accepted }];
}

/** Returns the kinds of `contents.resources` that the installation does not allow, each once. */
export function kindsNotAllowed(definition: ProviderDefinition, install: Install): readonly ObjectType[] {
  if (definition.kind !== 'NamespacePolicy') return [];
  const unlike = new Map<string, ObjectType>();
  for (const { apiVersion, kind } of definition.object.spec.contents?.resources ?? []) {
    const type = { apiVersion, kind };
    if (!isProvided(type, install)) unlike.set(`${apiVersion}/${kind}`, type);
  }
  return [...unlike.values()];
}

/** Returns the name of the copies when the installation does not allow it. */
export function nameNotAllowed(definition: ProviderDefinition, install: Install): string | undefined {
  if (definition.kind !== 'SecretShare') return undefined;
  const { name } = definition.compiled.copy;
  return mayMakeSecret(name, install) ? undefined : name;
}

/** Only the watched version is allowed: desired and stored objects of different versions cannot be compared. */
export function isProvided(type: ObjectType, { resourceKinds }: Pick<Install, 'resourceKinds'>): boolean {
  return resourceKinds?.some((each) => isSameObjectType(each, type)) ?? true;
}

export function mayMakeSecret(name: string, { secretNames }: Pick<Install, 'secretNames'>): boolean {
  return secretNames?.includes(name) ?? true;
}
