// Describes a live ServiceAccount: two fields, and the parts of them that Reeve has added for each provider.
import { hash } from 'node:crypto';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import {
  type KubeObject,
  annotationsOf,
  isTerminating,
  labelsOf,
  nameOf,
  valueOf,
} from '../../base/metadata.ts';
import {
  fieldsAnnotation,
  fieldsManager,
  keptFieldManager,
  managedByLabel,
  managedByReeve,
  oldFieldsManager,
} from '../../schema/names.ts';
import { objectKey, serviceAccountType, type ObjectKey } from '../../base/object-type.ts';
import { namespaceOfProvider, parseProviderId, type ProviderId } from '../terms/provider-id.ts';

interface AccountValues {
  /** Names of Secrets. */
  readonly pullSecrets: readonly string[];
  readonly automount: boolean | undefined;
}

export interface ObservedAccount extends AccountValues {
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
  /** True if a policy provides the account as a whole. */
  readonly isManaged: boolean;
  /** The field managers of Reeve that own a field. */
  readonly managers: readonly string[];
  /** One mark for each item that Reeve has added for a provider: see `markOf` and `oldMarkOf`. */
  readonly marks: ReadonlySet<string>;
  readonly hasOldMarks: boolean;
  /** True if the annotation holds the same marks in the same words. */
  readonly isRecorded: boolean;
  /** The fields that a manager of Reeve owns. */
  readonly owned: OwnedFields;
  /** The fields that another manager owns, too. */
  readonly shared: OwnedFields;
  /** The fields that Reeve left in place before. */
  readonly kept: OwnedFields;
  /** True if another program applies the list as a whole, and so owns all of its items. */
  readonly isListApplied: boolean;
}

interface OwnedFields {
  readonly list: boolean;
  readonly automount: boolean;
}

// The list imagePullSecrets is atomic, so managedFields cannot name the owner of an item. An annotation does.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy

/** Names the field automountServiceAccountToken in the annotation. */
export const automountItem = 'automountServiceAccountToken';

/** Names an item of imagePullSecrets in the annotation. */
export function pullSecretItem(name: string): string {
  return `imagePullSecrets/${name}`;
}

/** All annotations of an object together may have 256 KiB. With the longest names, this many items take a sixth of it. */
export const maxItems = 100;

const separator = ': ';

/** Marks one item that Reeve added for one provider. */
export function markOf(provider: ProviderId, item: string): string {
  return `${provider}${separator}${item}`;
}

export function isMarked(
  { marks, hasOldMarks }: ObservedAccount,
  provider: ProviderId,
  item: string,
): boolean {
  return marks.has(markOf(provider, item)) || (hasOldMarks && marks.has(oldMarkOf(provider, item)));
}

/** Returns whether Reeve has added something to the account for this provider. */
export function hasFieldsOf(provider: ProviderId, live: ObservedAccount): boolean {
  return heldItems(provider, live).length > 0;
}

export function heldItems(provider: ProviderId, live: ObservedAccount): readonly string[] {
  return itemsOf(live).filter((item) => isMarked(live, provider, item));
}

function itemsOf({ pullSecrets, automount }: AccountValues): readonly string[] {
  return [...pullSecrets.map(pullSecretItem), ...(automount === undefined ? [] : [automountItem])];
}

/** Returns the providers that can have marks. Mostly the providers with claims explain all marks, so the others are not tried. */
export function knownOwners(
  live: ObservedAccount,
  claims: readonly { readonly provider: ProviderId }[],
  providers: () => readonly ProviderId[],
): readonly ProviderId[] {
  const { marks, hasOldMarks } = live;
  if (marks.size === 0) return [];
  const wanting = claims.map(({ provider }) => provider);
  const explained = wanting.flatMap((provider) =>
    itemsOf(live).flatMap((item) => [
      markOf(provider, item),
      ...(hasOldMarks ? [oldMarkOf(provider, item)] : []),
    ]),
  );
  return marks.isSubsetOf(new Set(explained)) ? wanting : [...new Set([...wanting, ...providers()])];
}

/** Returns the text of the annotation: one line for each provider. */
export function annotationOf(marks: ReadonlySet<string>): string {
  const lines = Map.groupBy([...marks].sort(), (mark) => mark.slice(0, mark.indexOf(separator)));
  return [...lines]
    .map(([provider, own]) => {
      const items = own.map((mark) => mark.slice(provider.length + separator.length));
      return `${provider}${separator}${items.join(', ')}`;
    })
    .join('\n');
}

/**
 * Returns the marks in the annotation. A copied manifest brings the annotation of another ServiceAccount, so a mark counts only
 * if Reeve's manager owns the annotation and the field. The API server ends this ownership when another client changes them.
 * A user can claim the manager's name. So the field of a mark must exist, and a binding of another namespace has no marks.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
function marksOf(
  object: KubeObject,
  items: ReadonlySet<string>,
  entries: readonly Entry[],
): readonly string[] {
  const entry = entries.find(({ annotation }) => annotation);
  const text = valueOf(annotationsOf(object), fieldsAnnotation);
  if (entry === undefined || text === undefined) return [];
  return text.split('\n', maxItems).flatMap((line) => {
    const end = line.indexOf(separator);
    const provider = parseProviderId(line.slice(0, Math.max(end, 0)));
    if (provider === undefined) return [];
    const tenant = namespaceOfProvider(provider);
    if (tenant !== undefined && tenant !== object.metadata.namespace) return [];
    return line
      .slice(end + separator.length)
      .split(', ', maxItems)
      .filter((item) => items.has(item) && (item === automountItem ? entry.automount : entry.list))
      .map((item) => markOf(provider, item));
  });
}

const oldPrefix = `${oldFieldsManager}/`;
const oldMarkLength = 6;

/** Returns the mark of an item in the name of the manager. Versions before the annotation wrote it. Read until version 0.3. */
export function oldMarkOf(provider: ProviderId, item: string): string {
  const name = item === automountItem ? '' : item.slice(pullSecretItem('').length);
  return hash('sha256', `${provider} ${name}`, 'base64url').slice(0, oldMarkLength);
}

function oldMarksIn({ manager }: Entry): readonly string[] {
  if (!manager.startsWith(oldPrefix)) return [];
  return manager.slice(oldPrefix.length).match(new RegExp(`.{${oldMarkLength}}`, 'g')) ?? [];
}

/**
 * `known` is the account as it was before. A user who changes a field or the annotation takes its ownership from Reeve, so its
 * marks would not count. Reeve remembers the marks and writes them again.
 */
export function observeAccount(object: KubeObject, known?: ObservedAccount): ObservedAccount {
  const { uid = '', namespace = '', resourceVersion } = object.metadata;
  const name = nameOf(object);
  const entries = entriesOf(object);
  const [ours, others] = [true, false].map((isOurs) => entries.filter((each) => each.isOurs === isOurs));
  const managers = (ours ?? []).map(({ manager }) => manager);
  const automount = object['automountServiceAccountToken'];
  const values: AccountValues = {
    pullSecrets: namesIn(object['imagePullSecrets']),
    automount: typeof automount === 'boolean' ? automount : undefined,
  };
  const items = new Set(itemsOf(values));
  return {
    ...values,
    key: objectKey(serviceAccountType, name),
    namespace,
    name,
    uid,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    isTerminating: isTerminating(object),
    isManaged: valueOf(labelsOf(object), managedByLabel) === managedByReeve,
    managers,
    ...recordOf(object, items, ours ?? [], known?.uid === uid ? known : undefined),
    owned: ownedBy(ours),
    shared: ownedBy(others),
    kept: ownedBy(entries.filter(({ manager }) => manager === keptFieldManager)),
    isListApplied: (others ?? []).some(({ list, isApply }) => list && isApply),
  };
}

type FieldsRecord = Pick<ObservedAccount, 'marks' | 'hasOldMarks' | 'isRecorded'>;

/** Reeve never writes more marks than `maxItems`. Further marks come from a user who claims Reeve's name. */
function recordOf(
  object: KubeObject,
  items: ReadonlySet<string>,
  ours: readonly Entry[],
  known: FieldsRecord | undefined,
): FieldsRecord {
  const old = ours.flatMap(oldMarksIn);
  const remembered = [...(known?.marks ?? [])].filter((mark) => {
    const end = mark.indexOf(separator);
    return end === -1 || items.has(mark.slice(end + separator.length));
  });
  const all = [...marksOf(object, items, ours), ...old, ...remembered];
  const marks = new Set(all.slice(0, 2 * maxItems));
  const isOfReeve = ours.some(({ annotation }) => annotation);
  return {
    marks,
    hasOldMarks: old.length > 0 || known?.hasOldMarks === true,
    isRecorded: isOfReeve && valueOf(annotationsOf(object), fieldsAnnotation) === annotationOf(marks),
  };
}

interface Entry extends OwnedFields {
  readonly manager: string;
  readonly isOurs: boolean;
  readonly isApply: boolean;
  /** True for the manager of Reeve that owns the annotation. */
  readonly annotation: boolean;
}

function entriesOf({ metadata }: KubeObject): readonly Entry[] {
  const all: unknown = metadata['managedFields'];
  return (Array.isArray(all) ? all : []).flatMap((entry: unknown) => {
    const manager = ownMember(entry, 'manager');
    const fields = ownMember(entry, 'fieldsV1');
    if (typeof manager !== 'string' || !isJsonObject(fields)) return [];
    const isApply = ownMember(entry, 'operation') === 'Apply';
    return {
      manager,
      isApply: isApply && manager !== keptFieldManager,
      isOurs: isApply && (manager === fieldsManager || manager.startsWith(oldPrefix)),
      annotation:
        isApply &&
        manager === fieldsManager &&
        ownMember(ownMember(ownMember(fields, 'f:metadata'), 'f:annotations'), `f:${fieldsAnnotation}`) !==
          undefined,
      list: Object.hasOwn(fields, 'f:imagePullSecrets'),
      automount: Object.hasOwn(fields, 'f:automountServiceAccountToken'),
    };
  });
}

function ownedBy(entries: readonly Entry[] = []): OwnedFields {
  return { list: entries.some(({ list }) => list), automount: entries.some((each) => each.automount) };
}

function namesIn(list: unknown): readonly string[] {
  return (Array.isArray(list) ? list : []).map((item: unknown) => {
    const name = ownMember(item, 'name');
    return typeof name === 'string' ? name : '';
  });
}

export function fieldsOf(
  pullSecrets: readonly string[] | undefined,
  automount: boolean | undefined,
): JsonObject {
  return {
    ...(pullSecrets === undefined ? {} : { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
    ...(automount === undefined ? {} : { automountServiceAccountToken: automount }),
  };
}
