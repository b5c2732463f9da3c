// Finds the labels and annotations that policies default and that an existing Namespace lacks.
import { type KubeObject, metadataMap, nameOf, valueOf } from '../../base/metadata.ts';
import { isExcepted, matchNamespace } from '../terms/match.ts';
import type { Budget, Circumstances } from '../terms/budget.ts';
import { namespaceDefaults, renderDefault } from '../../rules/default-keys.ts';
import type { DefaultKey } from '../../rules/rule.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { Review } from '../terms/review.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';

export interface MissingDefaults {
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  /** The missing keys, each with the policy or binding that sets the key. */
  readonly keys: readonly MissingKey[];
}

export interface MissingKey extends Pick<DefaultKey, 'field' | 'key'> {
  readonly provider: ProviderId;
}

/** The first of `policies` with a default for a key sets that key. Defaults that read `request` are left out. */
export function missingDefaults(
  policies: readonly CompiledPolicy[],
  namespaceObject: KubeObject,
  { now, budget }: Circumstances,
): MissingDefaults | undefined {
  const missing = { labels: new Map<string, string>(), annotations: new Map<string, string>() };
  const keys: MissingKey[] = [];
  const name = nameOf(namespaceObject);
  for (const policy of policies) {
    if (policy.namespaceDefaults.length === 0) continue;
    if (isExcepted(policy.exceptions, namespaceDefaults.id, name, now)) continue;
    // An error of the match counts as no match.
    if (matchNamespace(policy.match, namespaceObject, budget).kind !== 'yes') continue;
    for (const key of policy.namespaceDefaults) {
      const exists = valueOf(metadataMap(namespaceObject, key.field), key.key) !== undefined;
      if (exists || missing[key.field].has(key.key) || budget.isSpent()) continue;
      const value = defaultFor(policy, key, namespaceObject, budget);
      if (value === undefined) continue;
      missing[key.field].set(key.key, value);
      keys.push({ provider: policy.id, field: key.field, key: key.key });
    }
  }
  return keys.length === 0 ? undefined : { ...missing, keys };
}

/** Returns undefined if the default cannot be rendered or would violate a rule. */
function defaultFor(
  policy: CompiledPolicy,
  key: DefaultKey,
  namespaceObject: KubeObject,
  budget: Budget,
): string | undefined {
  if (key.readsRequest) return undefined;
  const rendered = renderDefault(key, namespaceObject, noRequest, budget);
  if (!rendered.ok) return undefined;
  const accepts = policy.requirements.every(
    (requirement) =>
      requirement.field !== key.field || requirement.key !== key.key || requirement.accepts(rendered.value),
  );
  return accepts ? rendered.value : undefined;
}

const noRequest: Review = {
  uid: '',
  resource: 'namespaces',
  subresource: '',
  operation: 'UPDATE',
  name: '',
  namespace: '',
  requester: { username: '', groups: [] },
  dryRun: false,
  attributes: {},
};
