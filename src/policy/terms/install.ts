// Says what one installation of Reeve may do. The webhook, the reconciler and the commands pass it on whole.
import { guessedPlural } from '../../base/text.ts';
import type { WrittenContent } from '../../contents/content.ts';
import { ownTypes } from '../../contents/contents.ts';
import { systemNamespaces } from '../../schema/names.ts';
import { isSameObjectType, objectTypeOf, secretObjectType, type ObjectType } from '../../base/object-type.ts';

export interface Install {
  /** The namespace of Reeve itself. */
  readonly namespace: string;
  /** The namespaces of the Secrets that may be shared. */
  readonly sourceNamespaces: readonly string[];
  /** No provider matches these namespaces. */
  readonly excludedNamespaces: readonly string[];
  /** The kinds that policies may provide as `contents.resources`. Undefined without a cluster: all kinds. */
  readonly resourceKinds: readonly ObjectType[] | undefined;
  /** The names of the Secrets that shares may create. Undefined: any name. */
  readonly secretNames: readonly string[] | undefined;
  /** The labels and annotations whose value Reeve may change on existing namespaces. */
  readonly enforcedKeys: readonly string[];
  /** The ids of the adapters that may render intents. Undefined: all. */
  readonly adapters: ReadonlySet<string> | undefined;
  /** The image of the scanner of TLS. Undefined: the adapter `tls-scan` renders nothing. */
  readonly tlsScanImage: string | undefined;
  /** True if existing Secrets are read and judged. */
  readonly auditSecrets: boolean;
  /** What `variables.cluster` of policies holds. Undefined if nothing says so: then policies may read any. */
  readonly clusterVariables: Readonly<Record<string, string>> | undefined;
  /** True if NamespaceClaims create Namespaces. */
  readonly namespaceClaims: boolean;
  /** The label of a Namespace whose value is its team. */
  readonly teamLabel: string;
  /** True if a command found no Deployment of Reeve, so that these are the defaults and the flags of the command. */
  readonly isAssumed: boolean;
  /** Returns the resource name of a kind: `configmaps`. */
  readonly resourceOf: (type: ObjectType) => string;
}

/** The flags of `reeve run` that limit what the installation may do. */
export interface InstallFlags {
  readonly namespace: string;
  readonly sharedNamespace: readonly string[];
  readonly excludeNamespace: readonly string[];
  /** `v1/ResourceQuota`, `networking.k8s.io/v1/NetworkPolicy`. Default: all kinds. */
  readonly resourceKind?: readonly string[];
  /** Default, and an empty list: any name. */
  readonly secretName?: readonly string[];
  /** Default: none. */
  readonly enforcedKey?: readonly string[];
  /** Default: all adapters. */
  readonly intentAdapter?: readonly string[];
  readonly tlsScanImage?: string | undefined;
  readonly auditSecrets?: boolean;
  readonly namespaceClaims?: boolean;
  readonly teamLabel?: string;
  /** `cluster.region=eu`. Default: unknown. */
  readonly variable?: readonly string[] | undefined;
}

export function installOf(flags: InstallFlags): Install {
  const {
    namespace,
    sharedNamespace,
    excludeNamespace,
    resourceKind,
    secretName = [],
    intentAdapter,
  } = flags;
  return {
    namespace,
    sourceNamespaces: sharedNamespace,
    excludedNamespaces: [...systemNamespaces, namespace, ...sharedNamespace, ...excludeNamespace],
    resourceKinds: resourceKind?.map(objectTypeOf),
    secretNames: secretName.length === 0 ? undefined : secretName,
    enforcedKeys: flags.enforcedKey ?? [],
    adapters: intentAdapter === undefined ? undefined : new Set(intentAdapter),
    tlsScanImage: flags.tlsScanImage,
    auditSecrets: flags.auditSecrets ?? false,
    namespaceClaims: flags.namespaceClaims ?? false,
    teamLabel: flags.teamLabel ?? '',
    clusterVariables: flags.variable && variablesIn(flags.variable),
    isAssumed: false,
    resourceOf: ({ kind }) => guessedPlural(kind),
  };
}

const clusterVariable = /^cluster\.(?<name>[A-Za-z][-A-Za-z0-9_.]{0,127})=(?<value>[^,\r\n]{0,256})$/u;

export function isClusterVariable(text: string): boolean {
  return clusterVariable.test(text);
}

/** The last of two values for one name counts, as in a list of flags. */
function variablesIn(texts: readonly string[]): Readonly<Record<string, string>> {
  const pairs = texts.flatMap((text): readonly (readonly [string, string])[] => {
    const { name, value } = clusterVariable.exec(text)?.groups ?? {};
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs);
}

/** The install for a state without one, such as files alone. */
export const anyInstall: Install = installOf({ namespace: '', sharedNamespace: [], excludeNamespace: [] });

/** Only the watched version is allowed: desired and stored objects of different versions cannot be compared. */
export function isProvided(type: ObjectType, { resourceKinds }: Pick<Install, 'resourceKinds'>): boolean {
  return resourceKinds?.some((each) => isSameObjectType(each, type)) ?? true;
}

/** True if the installation allows the object of a content. It has to list only types that contents name themselves. */
export function isContentAllowed(
  { contentKind, type }: Pick<WrittenContent, 'contentKind' | 'type'>,
  install: Pick<Install, 'resourceKinds'>,
): boolean {
  return contentKind.type !== undefined || isProvided(type, install);
}

/** Returns the types that the installation allows contents to have. */
export function contentTypes({ resourceKinds = [] }: Pick<Install, 'resourceKinds'>): readonly ObjectType[] {
  return [...ownTypes, ...resourceKinds];
}

/** True if the installation allows contents of the type. */
function mayProvide(type: ObjectType, install: Pick<Install, 'resourceKinds'>): boolean {
  return ownTypes.some((each) => isSameObjectType(each, type)) || isProvided(type, install);
}

/** True if the installation allows Reeve to create the object. Secrets have a list of names; other kinds have none. */
export function mayCreate(
  { type, name }: MayBeCreated,
  install: Pick<Install, 'resourceKinds' | 'secretNames'>,
): boolean {
  return isSameObjectType(type, secretObjectType)
    ? (install.secretNames?.includes(name) ?? true)
    : mayProvide(type, install);
}

interface MayBeCreated {
  readonly type: ObjectType;
  readonly name: string;
}
