// Decides a write of an intent: it is a write of each binding that names the intent.
import { ownMember } from '../../base/json.ts';
import type { Steps } from '../terms/budget.ts';
import { compareProviders, providerId, providerResources, type ProviderId } from '../terms/provider-id.ts';
import type { ProviderReview } from '../terms/review.ts';
import { nothingToDecide, type Decision } from '../terms/verdict.ts';
import { loadIntent } from '../compile/load-provider.ts';
import type { ClusterSnapshot, StoredBinding } from '../compile/snapshot.ts';
import { withIntent } from '../intents/intent-context.ts';
import { BindingForms, versionsOf, writeContexts, type WriteContexts } from './binding-versions.ts';
import { decisionOn, isUntouched, specViolation } from './decide-write.ts';
import { impactOf } from './impact.ts';
import { IntentEffects, type BindingEffect } from './intent-effects.ts';
import { reportedOn, type ProviderCircumstances, type ProviderWrite } from './provider-write.ts';

type NamedBinding = StoredBinding & { readonly id: ProviderId };

export function* decideIntent(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Decision> {
  if (isUntouched(review)) return nothingToDecide;
  const [before, after] = [review.oldObject, review.object].map((object) =>
    object === undefined ? undefined : loadIntent(object),
  );
  if (after?.ok === false) return { ...nothingToDecide, violations: after.problems.map(specViolation) };
  const { context } = snapshot.intents;
  const contexts = writeContexts(
    // An older version that does not load can still be in force in an earlier form.
    before?.ok === false ? context : withIntent(context, review.name, before?.value),
    withIntent(context, review.name, after?.value),
  );
  const effects = new IntentEffects(
    review.name,
    before?.ok === true ? before.value : undefined,
    after?.value,
  );
  yield* addEffects(effects, contexts, review, snapshot, circumstances);
  return effects.decision(context, circumstances.install);
}

// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function* addEffects(
  effects: IntentEffects,
  contexts: WriteContexts,
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<void> {
  const forms = new BindingForms(contexts);
  for (const binding of bindingsNaming(review.name, snapshot)) {
    yield;
    if (circumstances.budget.isSpent()) effects.leaveOut(binding.id, circumstances.budget.isLate);
    else if (!forms.isSame(binding))
      effects.add(yield* effectOn(binding, contexts, review, snapshot, circumstances));
  }
}

/** Bindings of the cluster come first, so that a lack of time leaves them out last. */
function bindingsNaming(name: string, { intents }: ClusterSnapshot): readonly NamedBinding[] {
  const found: NamedBinding[] = [];
  for (const { kind, object } of intents.bindings()) {
    const names = ownMember(object['spec'], 'intents');
    if (!Array.isArray(names) || !names.includes(name)) continue;
    const id = providerId(kind, object.metadata.name ?? '', object.metadata.namespace);
    found.push({ kind, object, id });
  }
  return found.sort((a, b) => compareProviders(a.id, b.id));
}

// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function* effectOn(
  { id, kind, object }: NamedBinding,
  contexts: WriteContexts,
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<BindingEffect> {
  const versions = versionsOf(kind, { before: object, after: object }, contexts);
  const { problems, ...definitions } = versions;
  if (problems.length > 0) return { id, problems, decision: nothingToDecide, dropped: new Map() };
  const write: ProviderWrite = { id, ...definitions, reported: reportedOn(object), isByIntent: true };
  const impact = yield* impactOf(write, snapshot, circumstances);
  const { name = '', namespace = '' } = object.metadata;
  const resource = providerResources[kind];
  const ofBinding = { resource, name, namespace, operation: 'UPDATE', object, oldObject: object } as const;
  const decision = decisionOn(
    { ...review, ...ofBinding, attributes: {} },
    write,
    impact,
    snapshot,
    circumstances,
  );
  return { id, problems, decision, dropped: impact.dropped };
}
