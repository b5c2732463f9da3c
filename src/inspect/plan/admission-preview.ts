// Asks the webhook's functions about what would be applied: what the API server would warn, and what it would refuse.
import { isDeepStrictEqual } from 'node:util';
import { apiVersion } from '../../schema/names.ts';
import { securityIntentKind } from '../../api/intents/security-intent.ts';
import { type KubeObject, isTerminating, nameOf } from '../../base/metadata.ts';
import { decideProvider, reviewSubject } from '../../policy/authors/decide-provider.ts';
import { loadProvider } from '../../policy/compile/load-provider.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { decide } from '../../policy/decide/decide.ts';
import { mutate, patchedBy } from '../../policy/decide/mutate.ts';
import { settle, refusalMessage, warningLines } from '../../policy/decide/settle.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { providerKinds, providerResources } from '../../policy/terms/provider-id.ts';
import {
  intentResource,
  type ProviderResource,
  type ProviderReview,
  type Review,
  rightKey,
  type Decision,
  type Verdict,
} from '../../policy/terms/review.ts';
import type { Operation } from '../../rules/rule.ts';
import { installOf, type InstallFacts } from '../input/cluster-state.ts';
import type { AppliedObject } from '../input/loaded-state.ts';
import type { PlannedProvider } from '../output-schemas/plan-output.ts';

/** An account with all rights: `reeve explain` says which rights an author needs. */
const requester = { username: 'system:admin', groups: ['system:masters', 'system:authenticated'] };

export function isProviderOrIntent({ apiVersion: version, kind }: KubeObject): boolean {
  return version === apiVersion && resourceOfKind(kind) !== undefined;
}

/** Each write is asked about alone, on the state without the others. */
export function previewProvider(
  write: AppliedObject,
  snapshot: ClusterSnapshot,
  install: InstallFacts,
  now: Date,
): PlannedProvider {
  const { stored } = write;
  // An intent or a provider that is being deleted is sent as it was.
  const isDeleted = stored !== undefined && isTerminating(write.object) && !isTerminating(stored);
  const operation = isDeleted ? 'DELETE' : stored === undefined ? 'CREATE' : 'UPDATE';
  const review = providerReview(write, operation);
  const id = reviewSubject(review);
  if (!isDeleted && stored !== undefined && isSameSpec(write.object, stored))
    return { id, change: 'unchanged', warnings: [] };
  const circumstances = { now, budget: unlimitedBudget, install: installOf(install) };
  const decision = ended(decideProvider(review, snapshot, circumstances));
  const verdict = settled(decision, review);
  const change = isDeleted ? 'deleted' : stored === undefined ? 'new' : 'changed';
  const refused = verdict.allowed ? {} : { refused: refusalMessage(verdict, review) };
  return { id, change, warnings: warningLines(verdict), ...refused };
}

export function ended<T>(steps: Generator<undefined, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** As if the user had all rights. */
function settled(decision: Decision, review: Review | ProviderReview): Verdict {
  return settle(decision, new Map(decision.rights.map((right) => [rightKey(right), 'yes'])), review);
}

/** Defaults of the schema are no change. */
function isSameSpec(object: KubeObject, stored: KubeObject): boolean {
  return isDeepStrictEqual(specOf(object), specOf(stored));
}

function specOf({ kind, metadata: { name, namespace }, spec }: KubeObject): unknown {
  const found = providerKinds.find((each) => each === kind);
  if (found === undefined) return spec;
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const load = loadProvider(found, { apiVersion, kind, metadata, spec });
  return load.ok && !found.endsWith('Binding') ? load.value.object.spec : spec;
}

function providerReview({ object, stored }: AppliedObject, operation: Operation): ProviderReview {
  const resource = resourceOfKind(object.kind) ?? intentResource;
  return { ...reviewOf(object, stored, operation), resource, namespace: object.metadata.namespace ?? '' };
}

function reviewOf(object: KubeObject, stored: KubeObject | undefined, operation: Operation) {
  return {
    uid: '',
    subresource: '',
    operation,
    name: nameOf(object),
    requester,
    dryRun: false,
    ...(operation === 'DELETE' ? {} : { object }),
    ...(stored === undefined ? {} : { oldObject: stored }),
    attributes: { operation, name: nameOf(object), userInfo: requester },
  } as const;
}

function resourceOfKind(kind: string | undefined): ProviderResource | undefined {
  if (kind === securityIntentKind) return intentResource;
  const found = providerKinds.find((each) => each === kind);
  return found === undefined ? undefined : providerResources[found];
}

type NamespaceWrite =
  | { readonly kind: 'stored'; readonly object: KubeObject; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

/** Returns the Namespace with the defaults of policies, or the refusal. */
export function previewNamespace(
  { object, stored }: AppliedObject,
  snapshot: ClusterSnapshot,
  now: Date,
): NamespaceWrite {
  const circumstances = { now, budget: unlimitedBudget };
  const operation = stored === undefined ? 'CREATE' : 'UPDATE';
  const sent = (each: KubeObject): Review => ({
    ...reviewOf(each, stored, operation),
    resource: 'namespaces',
    namespace: nameOf(each),
  });
  const mutation = mutate(sent(object), snapshot, circumstances);
  const defaulted = mutation.denials.length > 0 ? object : patchedBy(object, mutation.patch);
  const review = sent(defaulted);
  const decision = decide(review, snapshot, circumstances);
  const denials = mutation.denials.map((violation) => ({ violation, actions: ['Deny'] as const }));
  const verdict = settled({ ...decision, violations: [...denials, ...decision.violations] }, review);
  return verdict.allowed
    ? { kind: 'stored', object: defaulted, warnings: warningLines(verdict) }
    : { kind: 'refused', message: refusalMessage(verdict, review) };
}
