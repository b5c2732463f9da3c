// Says how each object of a provider stands in one namespace, in the words of a plan.
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { Claim, Desired, FieldsClaim } from '../../policy/desired/desired.ts';
import { nameOfKey, roleBindingType } from '../../policy/terms/provider-id.ts';
import type { ExplainedObject } from '../output-schemas/explanation.ts';
import type { PlanChange } from '../output-schemas/plan-output.ts';
import { namespaceRows } from '../plan/plan-namespace.ts';
import { plannedObject } from '../plan/step-rows.ts';
import type { LookedAt } from './looked-at.ts';

/** An object of a provider, or one that it does not provide here. */
export interface ObjectStanding extends ExplainedObject {
  readonly provider: string;
}

/** By kind and name of the object. Empty for a namespace that Reeve leaves alone. */
export async function standingsIn(
  namespaceObject: KubeObject,
  at: LookedAt,
): Promise<readonly ObjectStanding[]> {
  const namespace = nameOf(namespaceObject);
  const rows = (await namespaceRows(at, namespace)) ?? [];
  const wanted = at.planning.desiredCache.of(namespaceObject);
  const claimed = claimsIn(wanted).map((claim) => standingOf(claim, rows, namespace));
  const others = rows
    .filter(({ object, provider }) => object !== undefined && !claimed.some(isSame({ object, provider })))
    .flatMap(standingOfRow);
  const expired = expiredIn(wanted, namespace).filter((each) => !others.some(isSame(each)));
  return [...claimed, ...others, ...expired].toSorted(byObject);
}

function claimsIn({ claims, fields }: Desired): readonly (Claim | FieldsClaim)[] {
  return [...claims.values(), ...fields.values()].flat();
}

/** Without a row of its own, an object stands as its owner's does: the same object serves both. */
function standingOf(
  { provider, type, name, content }: Claim | FieldsClaim,
  rows: readonly PlanChange[],
  namespace: string,
): ObjectStanding {
  const object = plannedObject({ type, name }, namespace);
  const own = rows.find(isSame({ object, provider }));
  if (own !== undefined) return { provider, object, ...wordsOf(own) };
  const isOther = isSame({ object });
  const owners =
    content.kind === 'fields'
      ? undefined
      : rows.find((row) => isOther(row) && row.reason !== 'ProvidedByAnother');
  if (owners === undefined) return { provider, object, outcome: 'in sync', ...fieldsText(content) };
  return { provider, object, outcome: owners.action, message: `${owners.provider ?? ''} provides the same` };
}

/** The ServiceAccount itself has another owner. */
function fieldsText(content: Claim['content'] | FieldsClaim['content']): Pick<ObjectStanding, 'message'> {
  if (content.kind !== 'fields') return {};
  const { pullSecrets, automount } = content.fields;
  const parts = [
    ...(pullSecrets.length === 0 ? [] : [`imagePullSecrets ${pullSecrets.join(', ')}`]),
    ...(automount === undefined ? [] : [`automountServiceAccountToken ${automount}`]),
  ];
  return { message: `adds ${parts.join(' and ')}` };
}

function standingOfRow({ provider, object, ...row }: PlanChange): readonly ObjectStanding[] {
  return provider === undefined || object === undefined ? [] : [{ provider, object, ...wordsOf(row) }];
}

const meanings: Readonly<Partial<Record<PlanChange['action'], string>>> = {
  create: 'Reeve is about to create it',
  update: 'it differs, and Reeve is about to change it',
  delete: 'it is no longer wanted here, and Reeve is about to delete it',
};

function wordsOf({
  action,
  message,
}: Pick<PlanChange, 'action' | 'message'>): Pick<ObjectStanding, 'outcome' | 'message'> {
  const words = message ?? meanings[action];
  return { outcome: action, ...(words === undefined ? {} : { message: words }) };
}

interface Placed {
  readonly object?: PlanChange['object'];
  readonly provider?: string | undefined;
}

/** Without a provider in `wanted`, any provider will do. */
function isSame(wanted: Placed): (each: Placed) => boolean {
  return ({ object, provider }) =>
    object?.kind === wanted.object?.kind &&
    object?.name === wanted.object?.name &&
    (wanted.provider === undefined || provider === wanted.provider);
}

/** Only RoleBindings expire. Nothing is left of one that Reeve has deleted. */
function expiredIn({ expired }: Desired, namespace: string): readonly ObjectStanding[] {
  return [...expired].flatMap(([provider, keys]) =>
    [...keys].map((key) => ({
      provider,
      object: plannedObject({ type: roleBindingType, name: nameOfKey(key) }, namespace),
      outcome: 'expired',
      message: 'its end has come',
    })),
  );
}

function byObject({ object: a }: ObjectStanding, { object: b }: ObjectStanding): number {
  const [one, other] = [`${a.kind}/${a.name}`, `${b.kind}/${b.name}`];
  return one < other ? -1 : Number(one > other);
}
