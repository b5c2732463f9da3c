// Adds up the effects of a write of an intent on the bindings that name it.
import { renderProblem, type Problem } from '../../base/problem.ts';
import { kindsNotAllowed } from '../compile/load-provider.ts';
import { type Install } from '../terms/install.ts';
import type { Intent } from '../intents/adapter.ts';
import { presentAdapters, type IntentContext } from '../intents/intent-context.ts';
import type { ObjectType } from '../../base/object-type.ts';
import { namespaceOfProvider, type ProviderId } from '../terms/provider-id.ts';
import {
  nothingToDecide,
  rightKey,
  violationText,
  type Decision,
  type JudgedViolation,
  type Right,
} from '../terms/review.ts';
import { counted, listed, clipped } from '../../base/text.ts';
import { rightsOfAdapters } from './needed-rights.ts';
import { isDeepStrictEqual } from 'node:util';
import type { BindingFacts, RenderedPart, UnsupportedIntent } from '../intents/compile-binding.ts';
import type { ProviderWrite } from './provider-write.ts';

export interface BindingEffect {
  readonly id: ProviderId;
  /** The reasons why the binding does not load with the new intent. */
  readonly problems: readonly Problem[];
  readonly decision: Decision;
  /** The number of objects that no provider wants after the write, by namespace. */
  readonly dropped: ReadonlyMap<string, number>;
}

/** Tenants can have thousands of bindings. Warnings beyond this number are summed up. */
const maxTenants = 3;
/** For more namespaces, an author needs a right in all namespaces, which takes one question to the API server. */
const maxNamespaces = 5;

export class IntentEffects {
  readonly #intent: string;
  /** Undefined for a new intent. */
  readonly #before: Intent | undefined;
  /** Undefined for a deletion. */
  readonly #after: Intent | undefined;
  readonly #cluster: BindingEffect[] = [];
  readonly #tenants: BindingEffect[] = [];
  readonly #leftOut: ProviderId[] = [];
  /** True if the answer was due before the work reached its limit. */
  #isLate = false;

  constructor(intent: string, before: Intent | undefined, after: Intent | undefined) {
    this.#intent = intent;
    this.#before = before;
    this.#after = after;
  }

  add(effect: BindingEffect): void {
    (namespaceOfProvider(effect.id) === undefined ? this.#cluster : this.#tenants).push(effect);
  }

  /** Leaves out a binding after the end of the budget. */
  leaveOut(id: ProviderId, isLate: boolean): void {
    this.#leftOut.push(id);
    this.#isLate ||= isLate;
  }

  decision(context: IntentContext, install: Install): Decision {
    const all = [...this.#cluster, ...this.#tenants];
    const rights = all.flatMap(({ decision }) => decision.rights);
    const further =
      this.#leftOut.length === 0
        ? []
        : rightsWithoutTime(
            [this.#before, this.#after].filter((each) => each !== undefined),
            context,
            install,
            this.#after === undefined,
          );
    return {
      ...nothingToDecide,
      // The fuse and the problems of a tenant's binding refuse no write of an intent, because its objects stay as they are.
      violations: this.#cluster.flatMap(refusals),
      rights: mergedRights([...rights, ...further]),
      notices: [...this.#summary(all), ...this.#cluster.flatMap(noticesOf), ...this.#tenantNotices()],
    };
  }

  #summary(all: readonly BindingEffect[]): readonly string[] {
    const ids = all.map(({ id }) => id);
    const intent = `SecurityIntent ${this.#intent}`;
    const change =
      this.#after === undefined ? 'is deleted, and no longer holds for' : 'changes what holds for';
    const late = this.#leftOut;
    const missing = this.#isLate
      ? `the webhook is short of processor time and did not evaluate ${intent}`
      : `evaluating ${intent} costs too much`;
    return [
      ...(ids.length === 0 ? [] : [`${intent} ${change} ${bindings(ids)}`]),
      ...(late.length === 0
        ? []
        : [`${missing} for ${bindings(late)}; the numbers of this answer leave them out`]),
    ];
  }

  #tenantNotices(): readonly string[] {
    if (this.#tenants.length <= maxTenants)
      return this.#tenants.flatMap((effect) => [...noticesOf(effect), ...waiting(effect)]);
    const dropped = new Map(this.#tenants.flatMap(({ dropped: each }) => [...each]));
    const counts = this.#tenants.flatMap(({ dropped: each }) => [...each.values()]);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const names = [...dropped.keys()];
    const unread = this.#tenants.filter(({ problems }) => problems.length > 0).map(({ id }) => id);
    const held = this.#tenants.filter(({ decision }) => decision.violations.length > 0).map(({ id }) => id);
    return [
      ...(total === 0
        ? []
        : [
            `these bindings delete up to ${counted(total, 'object')} in ${counted(names.length, 'namespace')}: ${listed(names)}`,
          ]),
      ...(held.length === 0 ? [] : [`deletions wait for a confirmation of ${bindings(held)}`]),
      ...(unread.length === 0
        ? []
        : [`this write makes ${bindings(unread)} invalid, so their objects stay as they are`]),
    ];
  }
}

function bindings(ids: readonly ProviderId[]): string {
  return `${ids.length} ${ids.length === 1 ? 'binding' : 'bindings'}: ${listed(ids)}`;
}

/** Returns refusals that name the binding, because the user writes an intent. */
function refusals({ id, problems, decision }: BindingEffect): readonly JudgedViolation[] {
  const invalid = problems.map((problem): JudgedViolation => ({
    violation: {
      policy: '',
      by: 'reeve',
      rule: 'spec',
      path: 'spec',
      found: problem.found,
      accepted: problem.accepted,
      message: `${id} would not be valid: ${renderProblem(problem)}`,
    },
    actions: ['Deny'],
  }));
  const denied = decision.violations.map((each) => {
    return { ...each, violation: { ...each.violation, message: `${id}: ${violationText(each.violation)}` } };
  });
  return [...invalid, ...denied];
}

function noticesOf({ decision }: BindingEffect): readonly string[] {
  return decision.notices;
}

/** Lists the reasons that would refuse the write for a binding of the cluster. */
function waiting({ id, problems, decision }: BindingEffect): readonly string[] {
  return [
    ...problems.map((problem) => `${id} would not be valid, so its objects stay: ${renderProblem(problem)}`),
    ...(decision.violations.length === 0 ? [] : [`deletions wait for a confirmation of ${id}`]),
  ];
}

/** Joins the rights for one purpose. One right for all namespaces replaces rights in many namespaces. */
function mergedRights(rights: readonly Right[]): readonly Right[] {
  const groups = Map.groupBy(rights, ({ verb, group, resource, rule, namespace, name }) =>
    JSON.stringify([verb, group, resource, rule, namespace === name ? undefined : name]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const everywhere = group.find(({ namespace }) => namespace === undefined);
    if (everywhere !== undefined) return [onIntent(everywhere)];
    const distinct = [...new Map(group.map((right) => [rightKey(right), right])).values()];
    if (first === undefined || distinct.length <= maxNamespaces) return distinct.map(onIntent);
    const { namespace, name, ...rest } = onIntent(first);
    return [name === undefined || name === namespace ? rest : { ...rest, name }];
  });
}

/** Removes the field of the binding and the right to use the binding, which mean nothing to the author of an intent. */
function onIntent({ instead: _instead, ...right }: Right): Right {
  return { ...right, path: 'spec' };
}

/** Returns the rights for all objects of the intent's adapters, for bindings that were left out. */
function rightsWithoutTime(
  intents: readonly Intent[],
  { adapters }: IntentContext,
  install: Install,
  isDeletion: boolean,
): readonly Right[] {
  const able = presentAdapters(adapters).filter((adapter) =>
    intents.some((intent) => adapter.supports(intent, undefined) !== false),
  );
  return rightsOfAdapters(able, undefined, install).flatMap(({ verbs, effect, ...right }): readonly Right[] =>
    (isDeletion && verbs.includes('delete') ? (['delete'] as const) : verbs).map((verb) => ({
      ...right,
      verb,
      effect: isDeletion ? 'delete what bindings provide' : effect,
      rule: 'authors',
      path: 'spec',
    })),
  );
}

// Words the warnings about the intents of a binding: missing intents, intents that nothing keeps, and objects that come later.

/** Returns nothing for a policy or share. Leaves out warnings that the older version had as well. */
export function intentNotices(
  { id, before, after, allServed }: ProviderWrite,
  install: Install,
): readonly string[] {
  const facts = after?.intents;
  if (facts === undefined) return [];
  const known = before?.intents;
  return [
    ...missingIntents(facts, known).map((text) => `${id}: ${text}`),
    ...unsupported(facts, known).map((text) => `${id}: ${text}`),
    ...provided(facts, known).map((text) => `${id} ${text}`),
    ...coming(
      facts,
      allServed?.after?.intents,
      allServed?.before?.intents,
      allServed?.after === undefined ? [] : kindsNotAllowed(allServed.after, install),
    ).map((text) => `${id} ${text}`),
  ];
}

/** A missing intent refuses nothing, because the order of an apply must not matter. */
function missingIntents(
  { missing: names }: BindingFacts,
  known: BindingFacts | undefined,
): readonly string[] {
  if (names.length === 0 || isDeepStrictEqual(names, known?.missing)) return [];
  const [verb, subject] = names.length === 1 ? ['does', 'SecurityIntent'] : ['do', 'SecurityIntents'];
  return [
    `${subject} ${listed(names)} ${verb} not exist; the binding waits for ${names.length === 1 ? 'it' : 'them'}`,
  ];
}

function unsupported(facts: BindingFacts, known: BindingFacts | undefined): readonly string[] {
  return facts.unsupported
    .filter((each) => !(known?.unsupported ?? []).some((other) => isDeepStrictEqual(each, other)))
    .map(notKeptText);
}

export function notKeptText({ intent, id, message }: UnsupportedIntent): string {
  return `SecurityIntent ${intent} (${id}) is not kept: ${clipped(message, 300)}`;
}

function provided(facts: BindingFacts, known: BindingFacts | undefined): readonly string[] {
  const parts = newParts(facts.rendered, known?.rendered ?? []);
  return parts.length === 0 ? [] : [`keeps its intents with ${listed(parts.map(partText))}`];
}

/** Warns of objects whose engine is not installed. They come with the engine, and their author answers for them now. */
function coming(
  facts: BindingFacts,
  all: BindingFacts | undefined,
  known: BindingFacts | undefined,
  refused: readonly ObjectType[],
): readonly string[] {
  const parts = newParts(newParts(all?.rendered ?? [], facts.rendered), known?.rendered ?? []).filter(
    ({ kind }) => !refused.some((each) => each.kind === kind),
  );
  if (parts.length === 0) return [];
  const kinds = [...new Set(parts.map(({ kind }) => kind))];
  const these = kinds.length === 1 ? 'this kind' : 'these kinds';
  return [`also provides ${listed(kinds)} once the API server serves ${these}`];
}

function newParts(parts: readonly RenderedPart[], known: readonly RenderedPart[]): readonly RenderedPart[] {
  return parts.filter((part) => !known.some((each) => isDeepStrictEqual(part, each)));
}

function partText({ kind, name }: RenderedPart): string {
  return kind === 'Namespace' ? `label ${name}` : `${kind} ${name}`;
}
