// Finds the providers that a tenant's binding brings its own namespace under, or out of, with the labels that it sets.
import { matchNamespace } from '../terms/match.ts';
import { labelsOf, withMetadata, type KubeObject } from '../../base/metadata.ts';
import { namespaceOfProvider, shownProvider, useOf } from '../terms/provider-id.ts';
import type { Right } from '../terms/review.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { policyTarget, shareTarget, steeringEffect } from '../decide/steering.ts';
import type { ProviderCircumstances } from './provider-write.ts';

/**
 * Compares the namespace without these labels and with them, because the binding sets them again whenever they are missing.
 * Undefined for providers of the cluster, for a namespace that is not known, and where time runs out: then every provider that
 * could read the labels counts.
 */
export function steeredNamespace(
  definition: ProviderDefinition,
  snapshot: ClusterSnapshot,
  { budget }: ProviderCircumstances,
): readonly Right[] | undefined {
  if (definition.kind === 'SecretShare') return undefined;
  const { compiled, intents } = definition;
  const name = namespaceOfProvider(compiled.id);
  const namespaceObject = name === undefined ? undefined : snapshot.namespace(name);
  if (intents === undefined || namespaceObject === undefined) return undefined;
  const values = literalLabels(compiled);
  if (values.size === 0) return [];
  const before = withoutLabels(namespaceObject, [...values.keys()]);
  const after = withMetadata(before, 'labels', values);
  const sides = { before, contained: before, after };
  const policies = snapshot.policies.candidates('namespaces', [before, after]);
  const targets = [
    ...policies.map(policyTarget),
    ...snapshot.shares.candidates([before, after]).map(shareTarget),
  ];
  const rights = targets.flatMap((target): readonly Right[] => {
    const { id, match } = target.provider;
    if (id === compiled.id || snapshot.providers.get(id)?.isDeleting === true) return [];
    const isMatched = matchNamespace(match, after, budget).kind === 'yes';
    if (steeringEffect(target, isMatched, sides, budget) === undefined) return [];
    const effect = `set a label that brings namespace ${name} under ${shownProvider(id)} or changes what it gets from it`;
    const contact = target.contact === undefined ? {} : { contact: target.contact };
    return [{ ...useOf(id), effect, rule: 'authors', path: 'spec.intents', ...contact }];
  });
  return budget.isSpent() ? undefined : rights;
}

/** A binding has no templates, so its defaults need no request. */
function literalLabels({ namespaceDefaults }: CompiledPolicy): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const { field, key, template } of namespaceDefaults) {
    const rendered = field === 'labels' ? template.render({}) : undefined;
    if (rendered?.ok === true) values.set(key, rendered.value);
  }
  return values;
}

function withoutLabels(namespaceObject: KubeObject, keys: readonly string[]): KubeObject {
  const labels = Object.fromEntries(
    Object.entries(labelsOf(namespaceObject)).filter(([key]) => !keys.includes(key)),
  );
  return { ...namespaceObject, metadata: { ...namespaceObject.metadata, labels } };
}
