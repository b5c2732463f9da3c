// A live ServiceAccount as the reconciler remembers it: two fields, and what Reeve has added to them for which provider.
import { hash } from 'node:crypto';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { type KubeObject, isTerminating, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import { accountFieldManager, keptFieldManager, managedByLabel, managedByReeve } from '../../schema/names.ts';
import { objectKey, serviceAccountType, type ObjectKey, type ProviderId } from '../terms/provider-id.ts';

export interface ObservedAccount {
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
  /** True if a policy provides the account as a whole. */
  readonly isManaged: boolean;
  /** Names of Secrets. */
  readonly pullSecrets: readonly string[];
  readonly automount: boolean | undefined;
  /** The field managers of Reeve that own a field. */
  readonly managers: readonly string[];
  /** What Reeve has added, and for whom: see `markOf`. */
  readonly marks: ReadonlySet<string>;
  /** The fields that a manager of Reeve owns. */
  readonly owned: OwnedFields;
  /** The fields that another manager owns, too. */
  readonly shared: OwnedFields;
  /** The fields that Reeve left in place before. */
  readonly kept: OwnedFields;
  /** True if another program applies the list as a whole, so that all of its items are of that program. */
  readonly isListApplied: boolean;
}

interface OwnedFields {
  readonly list: boolean;
  readonly automount: boolean;
}

/** Stands for the field automountServiceAccountToken. No Secret has this name. */
export const automountItem = '';

const markLength = 6;
const prefix = `${accountFieldManager}/`;
/** A manager has at most 128 characters: https://github.com/kubernetes/apimachinery/blob/v0.36.0/pkg/apis/meta/v1/validation/validation.go */
export const maxMarks = Math.floor((128 - prefix.length) / markLength);

/**
 * Marks one item that Reeve added for one provider. The list imagePullSecrets is atomic, so managedFields cannot say which
 * items are of whom. The marks stand in the name of the manager, because Reeve changes no metadata of such an account.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
export function markOf(provider: ProviderId, item: string): string {
  return hash('sha256', `${provider} ${item}`, 'base64url').slice(0, markLength);
}

export function managerOf(marks: ReadonlySet<string>): string {
  return `${prefix}${[...marks].sort().join('')}`;
}

/** `known`: the same account before. A user who changes a field takes it from our manager, and its marks disappear with it. */
export function observeAccount(object: KubeObject, known?: ObservedAccount): ObservedAccount {
  const { uid = '', namespace = '', resourceVersion } = object.metadata;
  const name = nameOf(object);
  const entries = entriesOf(object);
  const [ours, others] = [true, false].map((isOurs) => entries.filter((each) => each.isOurs === isOurs));
  const managers = (ours ?? []).map(({ manager }) => manager);
  const marks = new Set(managers.flatMap(marksIn));
  const automount = object['automountServiceAccountToken'];
  return {
    key: objectKey(serviceAccountType, name),
    namespace,
    name,
    uid,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    isTerminating: isTerminating(object),
    isManaged: valueOf(labelsOf(object), managedByLabel) === managedByReeve,
    pullSecrets: namesIn(object['imagePullSecrets']),
    automount: typeof automount === 'boolean' ? automount : undefined,
    managers,
    marks: known?.uid === uid ? marks.union(known.marks) : marks,
    owned: ownedBy(ours),
    shared: ownedBy(others),
    kept: ownedBy(entries.filter(({ manager }) => manager === keptFieldManager)),
    isListApplied: (others ?? []).some(({ list, isApply }) => list && isApply),
  };
}

interface Entry extends OwnedFields {
  readonly manager: string;
  readonly isOurs: boolean;
  readonly isApply: boolean;
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
      isOurs: isApply && (manager === accountFieldManager || manager.startsWith(prefix)),
      list: Object.hasOwn(fields, 'f:imagePullSecrets'),
      automount: Object.hasOwn(fields, 'f:automountServiceAccountToken'),
    };
  });
}

function ownedBy(entries: readonly Entry[] = []): OwnedFields {
  return { list: entries.some(({ list }) => list), automount: entries.some((each) => each.automount) };
}

function marksIn(manager: string): readonly string[] {
  return manager.slice(prefix.length).match(/.{6}/g) ?? [];
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
