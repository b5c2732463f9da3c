// Compiles a binding and its intents to the spec of a policy, with facts for its status.
import type { ClusterIntentBindingSpec } from '../../api/intents/cluster-intent-binding.ts';
import { knownIntents } from '../../api/intents/intent-ids.ts';
import { workloadSelector } from '../../api/intents/workloads.ts';
import type { NamespacePolicySpec, ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';
import { type Path, type Problem, mapped, refused, type CompileResult } from '../../base/problem.ts';
import type { AdapterSettings, Intent, Rendering, Target } from './adapter.ts';
import type { IntentContext } from './intent-context.ts';
import { mergeRenderings, type IntentRendering, type MergedRenderings } from './merged-renderings.ts';
import { isProvided } from '../terms/install.ts';

/** A binding of either kind. */
interface BindingInput {
  /** Undefined for a binding of the cluster. */
  readonly namespace: string | undefined;
  readonly spec: ClusterIntentBindingSpec;
}

/** What an adapter gives for an intent. For a rule on Namespaces, the name is the key of the label. */
export interface RenderedPart {
  readonly adapter: string;
  readonly intent: string;
  readonly kind: string;
  readonly name: string;
}

export interface UnsupportedIntent {
  readonly intent: string;
  readonly id: string;
  /** The adapters that would support it. */
  readonly adapters: readonly string[];
  readonly message: string;
}

interface ConfinedIntent {
  readonly intent: string;
  readonly id: string;
  readonly namespace: string;
}

export interface BindingFacts {
  /** All names of `spec.intents`: the intents that exist, and those that do not. */
  readonly named: readonly string[];
  /** The Pods. Undefined: all Pods. */
  readonly workloads: Target['workloads'];
  readonly bound: readonly string[];
  readonly missing: readonly string[];
  readonly rendered: readonly RenderedPart[];
  readonly unsupported: readonly UnsupportedIntent[];
  /** By place in `contents.resources`: the only namespace that gets the object. Undefined: each matched one. */
  readonly onlyIn: readonly (string | undefined)[];
  /** The intents whose objects are in one namespace only. */
  readonly confined: readonly ConfinedIntent[];
  /** Returns the field of the binding that a field of the policy comes from, so that messages name what its author wrote. */
  readonly sourceOf: (path: Path) => Path;
}

interface RenderedBinding {
  readonly spec: NamespacePolicySpec;
  readonly facts: BindingFacts;
}

export function compileBinding(input: BindingInput, context: IntentContext): CompileResult<RenderedBinding> {
  const { namespace, spec } = input;
  const selected = workloadSelector(spec.workloads);
  const unreadable = spec.intents.flatMap((name, index) => {
    const intent = context.intents.get(name) ?? (context.isKindMissing === true ? 'unserved' : undefined);
    return typeof intent === 'string' ? [unusableIntent(name, index, intent)] : [];
  });
  const problems = [...(selected.ok ? [] : selected.problems), ...unreadable];
  if (!selected.ok || problems.length > 0) return refused(problems);
  const target = {
    workloads: selected.selector,
    isClusterWide: namespace === undefined,
    settings: context.settings,
  };
  const outcomes = spec.intents.flatMap((name, index) => {
    const intent = context.intents.get(name);
    return typeof intent === 'object' ? [renderIntent(intent, index, target, context)] : [];
  });
  const parts = outcomes.flatMap(({ renderings }) => renderings);
  return mapped(mergeRenderings(parts), (merged) => ({
    spec: policySpec(input, merged, actionOf(outcomes)),
    facts: {
      named: spec.intents,
      workloads: selected.selector,
      bound: outcomes.map(({ intent }) => intent.name),
      missing: spec.intents.filter((name) => !context.intents.has(name)),
      rendered: parts.flatMap(partsOf),
      unsupported: outcomes.flatMap(({ unsupported }) => unsupported ?? []),
      onlyIn: merged.resources.map(({ onlyIn }) => onlyIn),
      confined: outcomes.flatMap(confinedTo),
      sourceOf: (path) => sourceOf(path, input, merged),
    },
  }));
}

/** Objects of a binding are kept while one of its intents does not load. So such a binding does not load either. */
function unusableIntent(name: string, index: number, why: 'invalid' | 'lost' | 'unserved'): Problem {
  const path = ['spec', 'intents', index];
  const found = {
    invalid: 'which is not valid',
    lost: 'which was deleted together with its CustomResourceDefinition',
    unserved: 'but the API server did not serve SecurityIntents at the last look, up to 30 s ago',
  }[why];
  const accepted = why === 'invalid' ? 'a valid SecurityIntent' : 'a SecurityIntent that exists';
  return { path, found: `SecurityIntent ${name}, ${found}`, accepted };
}

interface IntentOutcome {
  readonly intent: Intent;
  readonly renderings: readonly AdapterRendering[];
  readonly unsupported: UnsupportedIntent | undefined;
}
type AdapterRendering = IntentRendering & { readonly adapter: string };

/** All adapters that are there and support the intent keep it together. */
function renderIntent(
  intent: Intent,
  index: number,
  target: Target,
  { adapters }: IntentContext,
): IntentOutcome {
  const renderings: AdapterRendering[] = [];
  const wanted: { readonly id: string; readonly why: string }[] = [];
  const reasons: string[] = [];
  for (const { adapter, absence } of adapters) {
    const { id } = adapter;
    const support = adapter.supports(intent, target.workloads);
    if (typeof support === 'string') reasons.push(`adapter ${id} does not support it: ${support}`);
    if (support !== true) continue;
    const rendering = absence === undefined ? adapter.render(intent, target) : {};
    const why = absence?.message ?? kindNotAllowed(rendering, target.settings);
    if (why !== undefined) wanted.push({ id, why });
    else renderings.push({ adapter: id, intent: intent.name, index, rendering });
  }
  const isKept = renderings.length > 0;
  return { intent, renderings, unsupported: isKept ? undefined : unsupportedIntent(intent, wanted, reasons) };
}

function kindNotAllowed({ resources = [] }: Rendering, settings: AdapterSettings): string | undefined {
  const type = resources.find((wanted) => !isProvided(wanted, settings));
  if (type === undefined) return undefined;
  return `this installation does not allow ${type.apiVersion} ${type.kind} (--resource-kind)`;
}

function confinedTo({ intent, renderings }: IntentOutcome): readonly ConfinedIntent[] {
  const places = new Set(renderings.flatMap(({ rendering }) => rendering.onlyIn ?? []));
  return [...places].map((namespace) => ({ intent: intent.name, id: intent.id, namespace }));
}

function unsupportedIntent(
  { name, id }: Intent,
  wanted: readonly { readonly id: string; readonly why: string }[],
  reasons: readonly string[],
): UnsupportedIntent {
  const known = knownIntents[id];
  const needs = wanted.map((each) => `adapter ${each.id} supports it, but ${each.why}`);
  const texts = [...needs, ...reasons];
  const message =
    'whyUnsupported' in known ? known.whyUnsupported : texts.join('; ') || 'no adapter supports it';
  return { intent: name, id, adapters: wanted.map((each) => each.id), message };
}

/** Only rules on Namespaces have an action here. An adapter renders the action of its objects. */
function actionOf(outcomes: readonly IntentOutcome[]): ValidationAction {
  const ruling = outcomes.filter(({ renderings }) =>
    renderings.some(({ rendering }) => rendering.namespaces !== undefined),
  );
  const actions = new Set(ruling.map(({ intent }) => intent.action));
  if (actions.has('Block')) return 'Deny';
  return actions.has('Warn') ? 'Warn' : 'Audit';
}

/** A binding sets missing labels on namespaces that exist already, and changes no value. */
function policySpec(
  { namespace, spec }: BindingInput,
  merged: MergedRenderings,
  action: ValidationAction,
): NamespacePolicySpec {
  const { match, deletionPolicy, maxDeletions, suspend, contact } = spec;
  const { resources, serviceAccounts, defaults, required } = merged;
  const own = namespace === undefined ? match : { names: [namespace] };
  const hasDefaults = defaults.labels.size + defaults.annotations.size > 0;
  return {
    ...(own === undefined ? {} : { match: own }),
    validationActions: [action],
    existing: hasDefaults ? 'Repair' : 'Report',
    namespaces: {
      defaults: {
        labels: literalTexts(valuesOf(defaults.labels)),
        annotations: literalTexts(valuesOf(defaults.annotations)),
      },
      required: { labels: valuesOf(required.labels), annotations: valuesOf(required.annotations) },
    },
    contents: {
      resources: resources.map(({ value }) => literalTexts(value)),
      serviceAccounts: serviceAccounts.map(({ value }) => literalTexts(value)),
    },
    deletionPolicy,
    maxDeletions,
    suspend,
    ...(contact === undefined ? {} : { contact }),
  };
}

function valuesOf<T>(values: ReadonlyMap<string, { readonly value: T }>): Readonly<Record<string, T>> {
  return Object.fromEntries([...values].map(([key, { value }]) => [key, value]));
}

function partsOf({ adapter, intent, rendering }: AdapterRendering): readonly RenderedPart[] {
  const { resources = [], serviceAccounts = [], namespaces } = rendering;
  const { defaults, required } = { ...namespaces };
  const rules = [defaults?.labels, defaults?.annotations, required?.labels, required?.annotations];
  const keys = new Set(rules.flatMap((each) => Object.keys(each ?? {})));
  return [
    ...[...keys].map((name) => ({ adapter, intent, kind: 'Namespace', name })),
    ...resources.map(({ kind, metadata: { name } }) => ({ adapter, intent, kind, name })),
    ...serviceAccounts.map(({ name }) => ({ adapter, intent, kind: 'ServiceAccount', name })),
  ];
}

/** The other fields of the policy have the same path in the binding. */
function sourceOf(path: Path, { namespace }: BindingInput, merged: MergedRenderings): Path {
  const [, part, ...rest] = path;
  if (part === 'match') return namespace === undefined ? path : ['metadata', 'namespace'];
  if (part !== 'contents' && part !== 'namespaces' && part !== 'existing') return path;
  const [list, index] = rest;
  const items = list === 'serviceAccounts' ? merged.serviceAccounts : merged.resources;
  const keys = [...merged.defaults.labels.values(), ...merged.defaults.annotations.values()];
  const origin = part === 'contents' ? items[Number(index ?? 0)] : (keyOrigin(rest, merged) ?? keys[0]);
  return origin === undefined ? ['spec', 'intents'] : ['spec', 'intents', origin.index];
}

/** `rest` is `[defaults, labels, <key>]`. */
function keyOrigin([rule, field, key]: Path, merged: MergedRenderings) {
  if ((rule !== 'defaults' && rule !== 'required') || (field !== 'labels' && field !== 'annotations'))
    return undefined;
  return merged[rule][field].get(String(key));
}

// Escapes what the engine would read as a template: a binding has none, and its params can hold any text.

/** Returns the value with `$${` for each `${` in its texts. Keys are never templates. */
function literalTexts<T>(value: T): T {
  if (!JSON.stringify(value).includes('${')) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the copy has the form of the value
  return escaped(value) as T;
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', '$$${');
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each)]));
}
