// Finds out what Reeve answers to one test: to its request, or about its namespace.
import type { Answer } from '../../admission/answer.ts';
import type { BrokenRule } from '../../admission/ports.ts';
import { ownMember, type JsonObject } from '../../base/json.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { auditNamespace, auditObject, type AuditedResource } from '../../policy/decide/audit.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import {
  roleBindingType,
  roleType,
  secretObjectType,
  type ObjectType,
} from '../../policy/terms/provider-id.ts';
import type { Trace, Right, Violation } from '../../policy/terms/review.ts';
import { accessOf } from '../input/access.ts';
import { judgeWrite } from '../input/judged-write.ts';
import type { LoadedSuite } from './load-suite.ts';
import { providedObjects, type ProvidedObjects } from '../input/provided-objects.ts';
import { requestOf, type Unanswerable } from './requests.ts';
import type { ExpectedVerdict, SuiteRequest, SuiteTest } from './suite.ts';

export interface Outcome {
  readonly verdict: ExpectedVerdict | undefined;
  /** The whole text that the user gets: the refusal, or the warnings. */
  readonly message: string;
  readonly warnings: readonly string[];
  readonly rules: readonly BrokenRule[];
  /** The object with the defaults of policies. */
  readonly object: KubeObject | undefined;
  /** Undefined if no namespace is there after the request. */
  readonly provided: ProvidedObjects | undefined;
  /** Undefined for a request. */
  readonly violations: readonly Violation[] | undefined;
}

type OutcomeResult =
  | { readonly ok: true; readonly outcome: Outcome }
  /** `path`: in the test. */
  | Unanswerable;

export async function outcomeOf(
  { request, namespace = '' }: SuiteTest,
  loaded: LoadedSuite,
  now: Date,
  trace: Trace,
): Promise<OutcomeResult> {
  if (request !== undefined) return await outcomeOfRequest(request, loaded, now, trace);
  const found = loaded.snapshot.namespace(namespace);
  if (found === undefined) {
    const expected = `Namespace ${clipped(namespace)}, in the files of objects or policies`;
    return { ok: false, path: ['namespace'], expected, found: 'nothing' };
  }
  const outcome = {
    verdict: undefined,
    message: '',
    warnings: [],
    rules: [],
    object: undefined,
    provided: providedObjects(found, loaded, now),
    violations: violationsIn(found, loaded, now, trace),
  };
  return { ok: true, outcome };
}

async function outcomeOfRequest(
  short: SuiteRequest,
  loaded: LoadedSuite,
  now: Date,
  trace: Trace,
): Promise<OutcomeResult> {
  const { state, snapshot } = loaded;
  const built = requestOf(short, state, loaded.reviews);
  if (!built.ok) return { ...built, path: ['request', ...built.path] };
  const stored = accessOf(state);
  const { answer, warnings, object } = await judgeWrite(built.request, {
    snapshot,
    install: state.install,
    access: {
      mayDo: (requester, right) =>
        Promise.resolve(
          short.may?.some((text) => permits(text, right)) === true ? 'yes' : stored.mayDo(requester, right),
        ),
    },
    now,
    trace,
  });
  const isNamespace = object !== undefined && answer.refusal === undefined && isOfNamespaces(built.request);
  const outcome = {
    verdict: verdictOf(answer),
    message: answer.refusal?.message ?? warnings.join('\n'),
    warnings,
    rules: answer.rules,
    object,
    provided: isNamespace ? providedObjects(object, loaded, now) : undefined,
    violations: undefined,
  };
  return { ok: true, outcome };
}

function isOfNamespaces(request: JsonObject): boolean {
  return ownMember(request['resource'], 'resource') === 'namespaces';
}

function verdictOf({ refusal, rules }: Answer): ExpectedVerdict {
  if (refusal !== undefined) return 'refused';
  return rules.some(({ action }) => action === 'Warn') ? 'warned' : 'allowed';
}

/** `use secretshares/regcred` permits the verb on that object, without a name on all of them. */
function permits(text: string, { verb, group, resource, name }: Right): boolean {
  const [given, what = ''] = text.split(' ');
  const [type = '', object] = what.split('/');
  const isOfType = type === resource || type === `${resource}.${group}`;
  return given === verb && isOfType && (object === undefined || object === name);
}

const audited = [
  ['secrets', secretObjectType],
  ['roles', roleType],
  ['rolebindings', roleBindingType],
] as const satisfies readonly (readonly [AuditedResource, ObjectType])[];

/** As the reconciler audits them. Objects in files need no watch, so Secrets are always judged. */
function violationsIn(
  namespace: KubeObject,
  { state, snapshot }: LoadedSuite,
  now: Date,
  trace: Trace,
): readonly Violation[] {
  if (!isManaged(namespace, snapshot)) return [];
  const circumstances = { now, budget: unlimitedBudget, trace };
  const inside = audited.flatMap(([resource, type]) =>
    state
      .objects(type)
      .filter((object) => object.metadata.namespace === nameOf(namespace))
      .map((object) => [resource, object] as const),
  );
  return snapshot.policies.policies.flatMap((policy) => [
    ...auditNamespace(policy, namespace, circumstances).violations,
    ...inside.flatMap(([resource, object]) =>
      auditObject(policy, resource, object, namespace, circumstances),
    ),
  ]);
}
