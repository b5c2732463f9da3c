// Steering: which policies and shares a write of a Namespace would bring it under, take it from, or get other objects from.
import { isDeepStrictEqual } from 'node:util';
import type { RequestersSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { namespaceNameLabel, nobodysName } from '../../api/names.ts';
import type { Budget } from '../terms/budget.ts';
import { policyProvider, shareProvider, type Provider } from '../desired/provider.ts';
import { matchNamespace } from '../terms/match.ts';
import {
  labelsOf,
  metadataMap,
  nameOf,
  valueOf,
  withMetadata,
  type MetadataField,
} from '../../base/metadata.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { useOf, type ProviderId } from '../terms/provider-id.ts';
import type { Review } from '../terms/review.ts';
import type { OwnsDefault } from '../rules/rule.ts';
import { renderDefault } from '../rules/default-keys.ts';
import { isRequester } from '../rules/requesters.ts';
import type { Right } from '../terms/verdict.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledShare } from '../compile/compile-share.ts';

/** The two sides that are compared. */
export interface SteeringSides {
  /** What matched before is judged on this one. */
  readonly before: KubeObject;
  /** What it contained before is rendered from this one. */
  readonly contained: KubeObject;
  readonly after: KubeObject;
}

/**
 * On CREATE nothing was there before, so what the author decides is everything beyond what the API server itself
 * sets; the name is part of that, and `_any_` is a name that nobody can have.
 */
export function steeringSides(review: Review, after: KubeObject): SteeringSides {
  if (review.oldObject !== undefined) return { before: review.oldObject, contained: review.oldObject, after };
  return { before: bareNamespace(nobodysName, after), contained: bareNamespace(nameOf(after), after), after };
}

/** A key that equals what a matching default sets stands on the old side too: the author of the default answers for it. */
export function withDefaultedKeys(
  sides: SteeringSides,
  setters: readonly DefaultSetter[],
  review: Review,
): SteeringSides {
  const keys = defaultedKeys(setters, sides.after, review);
  if (keys.length === 0) return sides;
  const before = withMissing(sides.before, keys);
  const isSame = sides.contained === sides.before;
  return { before, contained: isSame ? before : withMissing(sides.contained, keys), after: sides.after };
}

/** A policy or share that a write of a Namespace can bring it under, or take it from. */
export interface SteeringTarget {
  readonly provider: Provider;
  /** Who may bring namespaces under it without the right to. */
  readonly requesters: RequestersSpec | undefined;
  /** Whether a namespace gains anything by coming under it, beyond rules. */
  readonly isWorthReaching: boolean;
}

export function policyTarget(policy: CompiledPolicy): SteeringTarget {
  const { contents, requesters } = policy;
  const isWorthReaching = contents.length > 0 || requesters !== undefined;
  return { provider: policyProvider(policy), requesters, isWorthReaching };
}

export function shareTarget(share: CompiledShare): SteeringTarget {
  return { provider: shareProvider(share), requesters: undefined, isWorthReaching: true };
}

/** The right to use the policy or share, when the write decides what it does with this namespace. */
export function steeringRight(
  target: SteeringTarget,
  matchesAfter: boolean,
  sides: SteeringSides,
  { requester }: Review,
  budget: Budget,
): Right | undefined {
  const effect = effectOf(target, matchesAfter, sides, budget);
  if (effect === undefined) return undefined;
  if (target.requesters !== undefined && isRequester(target.requesters, requester)) return undefined;
  return useRight(target.provider.id, effect);
}

function effectOf(
  { provider, isWorthReaching }: SteeringTarget,
  matchesAfter: boolean,
  sides: SteeringSides,
  budget: Budget,
): string | undefined {
  const matchedBefore = matchNamespace(provider.match, sides.before, budget).kind === 'yes';
  if (!matchesAfter) return matchedBefore ? 'take the namespace from it' : undefined;
  if (matchedBefore) {
    return providesOther(provider, sides, budget) ? 'change what the namespace gets from it' : undefined;
  }
  return isWorthReaching ? 'bring the namespace under it' : undefined;
}

/** An error on both sides, or where there was nothing before, is no change. */
function providesOther(provider: Provider, { contained, after }: SteeringSides, budget: Budget): boolean {
  const old = provider.render(contained, budget);
  return provider.render(after, budget).some((now, index) => {
    if (now.kind === 'error') return old[index]?.kind === 'present';
    return !isDeepStrictEqual(old[index], now);
  });
}

function useRight(id: ProviderId, effect: string): Right {
  return { ...useOf(id), effect, rule: 'steering', path: 'metadata' };
}

/** A policy that matches the namespace after the write. */
export interface DefaultSetter {
  readonly policy: CompiledPolicy;
  readonly ownsDefault: OwnsDefault;
  /** Defaults are set when a namespace is made or comes under the policy, and not later. */
  readonly isNew: boolean;
}

interface DefaultedKey {
  readonly field: MetadataField;
  readonly key: string;
  readonly value: string;
}

/** The keys of the object whose values are those that this write makes a policy set. */
function defaultedKeys(
  setters: readonly DefaultSetter[],
  object: KubeObject,
  review: Review,
): readonly DefaultedKey[] {
  const found: DefaultedKey[] = [];
  for (const { policy, ownsDefault, isNew } of setters) {
    for (const key of policy.namespaceDefaults) {
      if (!isNew || !ownsDefault(key.field, key.key)) continue;
      const value = valueOf(metadataMap(object, key.field), key.key);
      if (value === undefined || (key.readsRequest && review.operation !== 'CREATE')) continue;
      const rendered = renderDefault(key, object, review);
      if (rendered.ok && rendered.value === value) found.push({ field: key.field, key: key.key, value });
    }
  }
  return found;
}

/** A value that was there before was somebody's choice, and so is its change: only what is missing is added. */
function withMissing(side: KubeObject, keys: readonly DefaultedKey[]): KubeObject {
  const missing = (field: MetadataField): ReadonlyMap<string, string> =>
    new Map(
      keys
        .filter((each) => each.field === field && valueOf(metadataMap(side, field), each.key) === undefined)
        .map(({ key, value }) => [key, value]),
    );
  return withMetadata(withMetadata(side, 'labels', missing('labels')), 'annotations', missing('annotations'));
}

/** A Namespace with nothing but what the API server sets by itself. */
function bareNamespace(name: string, like: KubeObject): KubeObject {
  const { uid, creationTimestamp } = like.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { [namespaceNameLabel]: name },
      ...(uid === undefined ? {} : { uid }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

/** The name label is the API server's to set, so a forged or missing one in a request counts as the real one. */
export function asStored(namespaceObject: KubeObject): KubeObject {
  const name = nameOf(namespaceObject);
  if (name === '' || valueOf(labelsOf(namespaceObject), namespaceNameLabel) === name) return namespaceObject;
  return withMetadata(namespaceObject, 'labels', new Map([[namespaceNameLabel, name]]));
}
