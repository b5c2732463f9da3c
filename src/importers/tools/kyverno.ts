// Imports generate rules of Kyverno whose trigger is a Namespace, and the rules that kyverno-rules.ts reads.
// https://github.com/kyverno/kyverno/blob/main/api/kyverno/v1/common_types.go
import { systemNamespaces } from '../../schema/names.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import { type ToolObject, distinct, filled, type Reader } from '../reader.ts';
import { providePolicies, reached } from '../provide.ts';
import { sourceOfGlob } from '../name-patterns.ts';
import { both, conditionOn, outsideOf, selectedIn, type NamespaceReach } from '../reach.ts';
import { noteWeaker, readGenerate } from './kyverno-generate.ts';
import { readOverrides, readRuleOn, type RuledKind } from './kyverno-rules.ts';

/** Fields that say how Kyverno runs a policy. They do not change what its generate rules mean. */
const operation = [
  'background',
  'emitWarning',
  'failurePolicy',
  'schemaValidation',
  'useServerSideApply',
  'webhookTimeoutSeconds',
];

export const kyverno: Importer = {
  groups: ['kyverno.io', 'policies.kyverno.io'],
  reads: {
    v1: ['Secret', 'ConfigMap', 'ResourceQuota', 'LimitRange'],
    'networking.k8s.io/v1': ['NetworkPolicy'],
  },
  fields: {
    ClusterPolicy: operation.map((key) => [`spec ${key}`]),
    GeneratingPolicy: [
      ['', 'its CEL builds the objects', 'write them into contents of a policy, with ${ } for what differs'],
    ],
  },
  danger:
    'never delete a policy before orphanDownstreamOnPolicyDelete is true: Kyverno would delete what it has generated',
  stop: 'leave Kyverno running: only the policies below are deleted',
  end: 'kubectl get resourcequotas,limitranges,networkpolicies,rolebindings,configmaps,secrets -A -l generate.kyverno.io/policy-name lists what Kyverno has generated',
  read(run) {
    for (const policy of run.ofKind('ClusterPolicy')) readPolicy(run, policy);
  },
};

function readPolicy(run: ImportRun, policy: ToolObject): void {
  const spec = policy.reader.at('spec');
  const [replaced, carried]: [string[], CarriedRule[]] = [[], []];
  for (const key of ['generateExisting', 'generateExistingOnPolicyUpdate'])
    noteWeaker(run, policy, spec.at(key));
  if (spec.at('admission').flag() === false)
    spec.at('admission').lose('Reeve also covers namespaces that are created later');
  for (const rule of spec.at('rules').items()) {
    // The API server sets this field to true. It concerns requests of Kyverno itself.
    rule.at('skipBackgroundRequests').skip();
    const { size, refused } = run;
    if (!rule.at('generate').isPresent) {
      carried.push(...readRuled(run, policy, rule));
      continue;
    }
    const name = `${policy.name}-${nameOfRule(rule)}`;
    readGenerate(run, { policy, rule, name, reaches: reachesOfRule(rule, triggerReach) });
    if (run.size === size) continue;
    if (run.refused > refused) keepRule(run, policy, rule);
    else replaced.push(nameOfRule(rule));
  }
  endRuled(run, policy, carried);
  if (replaced.length > 0)
    run.before.add(
      `set orphanDownstreamOnPolicyDelete: true in the rules ${replaced.join(', ')} of ClusterPolicy ${policy.name}, so that their objects stay, and delete these rules`,
    );
}

/** Keeps the whole rule. With only a part of its policies, one object would have two providers. */
function keepRule(run: ImportRun, { name }: ToolObject, rule: Reader): void {
  run.before.add(
    `keep rule ${nameOfRule(rule)} of ClusterPolicy ${name}, and apply none of its policies: one would not load. Mend that, and import it again`,
  );
}

function nameOfRule(rule: Reader): string {
  return rule.at('name').text() ?? '';
}

/** A rule whose meaning policies carry at least in part. */
interface CarriedRule {
  readonly rule: Reader;
  /** The parts that Kyverno alone goes on to judge. */
  readonly rest: readonly string[];
  /** The policies that got the overrides of the ClusterPolicy. */
  readonly overridden: readonly string[];
}

const leftAlone = 'in namespaces that Reeve leaves alone';

/** Adds the steps for Kyverno: it refuses until the rules of Reeve do, and goes on to judge the rest. */
function endRuled(run: ImportRun, { id, name, reader }: ToolObject, carried: readonly CarriedRule[]): void {
  const overridden = carried.flatMap((each) => each.overridden);
  const overrides = overridden.length === 0 ? [] : (readOverrides(reader.at('spec')) ?? []);
  const refusing = overrides.flatMap(({ isEnforced }, index) => (isEnforced ? [`[${index}]`] : []));
  if (refusing.length > 0)
    run.after.add(
      `set actions: [Deny] in validationActionOverrides${refusing.join(', ')} of ${overridden.join(', ')}, too, because ClusterPolicy ${name} has Enforce there`,
    );
  for (const [rest, rules] of Map.groupBy(carried, (each) => each.rest.join(', and to '))) {
    const place = `${namesOf(rules)} of ClusterPolicy ${name}`;
    run.after.add(rest === '' ? `delete ${place}` : `limit ${place} to ${rest}`);
    if (rest.includes(leftAlone))
      run.notes.add(
        `The namespaces that Reeve leaves alone are ${systemNamespaces.join(', ')}, its own, and those that its install excludes. Kyverno leaves out the first three, too, unless its resourceFilters were changed. If none of these namespaces needs a rule, delete the rule instead of limiting it to them.`,
      );
  }
  const spec = reader.at('spec');
  const action = spec.at('validationFailureAction').text() ?? 'Audit';
  // Overrides that no policy carries stay unread, so the import reports them as lost.
  const written = spec.apart().at('validationFailureActionOverrides').items();
  const actions = written.map((each) => each.at('action').text());
  const audited = carried.filter(({ rule }) =>
    [rule.at('validate', 'failureAction').text() ?? action, ...actions].every(
      (each) => each?.toLowerCase() === 'audit',
    ),
  );
  if (audited.length > 0)
    run.notes.add(
      `${id} only reports violations of ${namesOf(audited)}. Their policies may stay at [Audit].`,
    );
}

function namesOf(rules: readonly CarriedRule[]): string {
  const names = rules.map(({ rule }) => nameOfRule(rule)).join(', ');
  return rules.length === 1 ? `rule ${names}` : `the rules ${names}`;
}

/** Reads a validate or mutate rule. Returns nothing if no policy carries a part of it. */
function readRuled(run: ImportRun, policy: ToolObject, rule: Reader): readonly CarriedRule[] {
  const filters = filtersIn(rule.at('match'));
  const kinds = distinct(filters.flatMap((each) => each.at('resources', 'kinds').texts() ?? []));
  const ours = distinct(kinds.flatMap((each) => ruledKind(each) ?? []));
  const outcomes = ours.map((kind) => ({ kind, ...carryFor(run, policy, rule, kind) }));
  const lost = outcomes.filter(({ why }) => why !== undefined);
  for (const [why = '', group] of Map.groupBy(lost, (each) => each.why))
    rule.limit(kinds.length === 1 ? why : `for ${group.map(({ kind }) => kind).join(', ')}: ${why}`);
  const others = kinds.filter((each) => ruledKind(each) === undefined);
  if (ours.length === 0) rule.limit('the import reads rules on Namespaces, Secrets and RoleBindings only');
  else if (others.length > 0) rule.limit(`Reeve has no such rules on ${others.join(', ')}`);
  // Each kind has reported its own losses.
  rule.skip();
  const carried = outcomes.filter(({ rest }) => rest !== undefined);
  if (carried.length === 0) return [];
  const left = kinds.filter((each) => !carried.some(({ kind }) => kind === ruledKind(each)));
  const overridden = carried.flatMap((each) => each.overridden ?? []);
  return [{ rule, rest: [...left, ...carried.flatMap(({ rest }) => rest ?? [])], overridden }];
}

/** `rest` is missing if no policy carries the rule for this kind. `why` is missing, too, if the reason was already given. */
interface Outcome extends Partial<Omit<CarriedRule, 'rule'>> {
  readonly why?: string;
}

/** Reads the rule once for each kind with a record of its own, since a field may have a meaning for some kinds only. */
function carryFor(run: ImportRun, policy: ToolObject, whole: Reader, kind: RuledKind): Outcome {
  const rule = whole.apart();
  const reaches = reachesOfRule(rule, (each, side) => ruledReach(each, kind, side));
  const read = readRuleOn(kind, rule);
  if (reaches === undefined)
    return { why: 'it does not apply to a set of namespaces that a policy can match' };
  if ('why' in read) return read;
  if (judgesDeletions(rule))
    return { why: 'its CEL also judges deletions, unless operations are CREATE and UPDATE' };
  const { refused } = run;
  // Kyverno looks for the namespace of the object, and a Namespace is in none.
  const overrides = kind === 'Namespace' ? [] : (readOverrides(policy.reader.at('spec')) ?? []);
  const carried = filled({ validationActionOverrides: overrides.map(({ override }) => override) });
  const provided = providePolicies(run, {
    from: rule,
    name: `${policy.name}-${nameOfRule(rule)}`,
    reaches,
    spec: { validationActions: ['Audit'], ...carried, ...read.spec },
  });
  if (provided.length === 0 || run.refused > refused) return {};
  const alone = reached(run, reaches, [...systemNamespaces, ...run.options.sharedNamespaces]);
  const rest = alone.length === 0 ? [] : [`${kind} ${leftAlone}`];
  return { rest, overridden: overrides.length === 0 ? [] : provided };
}

const writes = ['CREATE', 'UPDATE'];

/** Kyverno compares no pattern with a deleted object. It evaluates CEL for deletions, even if the rule names no operations. */
function judgesDeletions(rule: Reader): boolean {
  const filters = filtersIn(rule.at('match'));
  const operations = filters.flatMap((each) => each.at('resources', 'operations').texts() ?? ['DELETE']);
  return rule.at('validate', 'cel').isPresent && operations.some((each) => !writes.includes(each));
}

const ruledKinds: readonly RuledKind[] = ['Namespace', 'Secret', 'RoleBinding'];

/** `*` is any group or version. A kind of another group does not count, and neither does a subresource. */
const kindForm = /^(?:(?:\*|rbac\.authorization\.k8s\.io)\/)?(?:(?:\*|v1)\/)?(?<kind>\w+)$/u;

function ruledKind(written: string): RuledKind | undefined {
  const kind = kindForm.exec(written)?.groups?.['kind'];
  return ruledKinds.find((each) => each === kind);
}

/** A rule on Namespaces selects them by their own names and labels. Other rules select by the Namespace of the object. */
function ruledReach(resources: Reader, kind: RuledKind, side: Side): NamespaceReach | undefined {
  const kinds = resources.at('kinds').texts() ?? [];
  const operations = resources.at('operations').texts() ?? writes;
  if (kinds.length === 0 ? side === 'match' : !kinds.some((each) => ruledKind(each) === kind))
    return undefined;
  // An exclusion from some operations would become an exclusion from all.
  if (!writes.every((each) => operations.includes(each))) return undefined;
  // Fields that belong to other kinds would count as read, and the import would not report them as lost.
  const ofOthers = kind === 'Namespace' ? ['namespaces', 'namespaceSelector'] : ['name', 'names', 'selector'];
  if (ofOthers.some((key) => resources.at(key).isPresent)) return undefined;
  if (kind === 'Namespace') return selectedReach(resources, 'selector', namesIn(resources));
  return selectedReach(resources, 'namespaceSelector', resources.at('namespaces').texts() ?? []);
}

type Side = 'match' | 'exclude';

/**
 * Returns undefined for another trigger, or for a part that no set of namespaces expresses.
 * https://github.com/kyverno/kyverno/blob/main/api/kyverno/v1/match_resources_types.go
 */
function reachesOfRule(rule: Reader, read: ReadReach): readonly NamespaceReach[] | undefined {
  const matched = alternativesIn(rule.at('match'), (each) => read(each, 'match'));
  const excluded = rule.at('exclude').isPresent
    ? alternativesIn(rule.at('exclude'), (each) => read(each, 'exclude'))
    : [];
  if (matched === undefined || excluded === undefined) return undefined;
  const reaches = matched.flatMap((reach) => outsideOf(reach, excluded) ?? []);
  return reaches.length < matched.length ? undefined : reaches;
}

type ReadReach = (resources: Reader, side: Side) => NamespaceReach | undefined;

/** `any` and `all` are lists of filters. The older form is one filter. */
function filtersIn(match: Reader): readonly Reader[] {
  const [any, all] = [match.at('any').items(), match.at('all').items()];
  return [...any, ...all, ...(match.at('resources').isPresent ? [match] : [])];
}

function alternativesIn(
  match: Reader,
  read: (resources: Reader) => NamespaceReach | undefined,
): readonly NamespaceReach[] | undefined {
  const filters = filtersIn(match);
  const reaches = filters.flatMap((each) => read(each.at('resources')) ?? []);
  if (filters.length === 0 || reaches.length < filters.length) return undefined;
  return match.at('any').items().length > 0 ? reaches : [reaches.reduce(both)];
}

function triggerReach(resources: Reader): NamespaceReach | undefined {
  const kinds = resources.at('kinds').texts() ?? [];
  const operations = resources.at('operations').texts() ?? ['CREATE'];
  const isOther = kinds.some((kind) => kind !== 'Namespace' && kind !== 'v1/Namespace');
  return kinds.length === 0 || isOther || !operations.includes('CREATE')
    ? undefined
    : selectedReach(resources, 'selector', namesIn(resources));
}

function namesIn(resources: Reader): readonly string[] {
  return [resources.at('name').text() ?? [], resources.at('names').texts() ?? []].flat();
}

/** `*` stands for any characters, as in our globs, and `?` for one. */
function selectedReach(
  resources: Reader,
  selector: string,
  names: readonly string[],
): NamespaceReach | undefined {
  const selected = selectedIn({}, resources.at(selector));
  const named = names.some((each) => each.includes('?')) ? conditionOn(names.map(sourceOfGlob)) : { names };
  return selected && both(selected, names.length === 0 ? {} : named);
}
