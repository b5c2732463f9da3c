// Imports generate rules of Kyverno whose trigger is a Namespace, and the rules that kyverno-rules.ts reads.
// https://github.com/kyverno/kyverno/blob/main/api/kyverno/v1/common_types.go
import { renderPath } from '../../base/problem.ts';
import { provideCopy, provideObject } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import type { ToolObject } from '../tool-object.ts';
import { filled } from '../lists.ts';
import { providePolicies } from '../provide.ts';
import { sourceOfGlob } from '../name-patterns.ts';
import { both, conditionOn, outsideOf, selectedIn, type NamespaceReach } from '../reach.ts';
import type { Reader } from '../reader.ts';
import { templateWriter } from '../templates.ts';
import { readRuleOn, type RuledKind } from './kyverno-rules.ts';

/** How Kyverno runs a policy, which has no effect on what its generate rules say. */
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
  const replaced: string[] = [];
  const action = spec.at('validationFailureAction').text() ?? 'Audit';
  for (const key of ['generateExisting', 'generateExistingOnPolicyUpdate'])
    noteWeaker(run, policy, spec.at(key));
  if (spec.at('admission').flag() === false)
    spec.at('admission').lose('Reeve also covers namespaces that are created later');
  for (const rule of spec.at('rules').items()) {
    // The API server sets it to true. It is about requests of Kyverno itself.
    rule.at('skipBackgroundRequests').skip();
    const { size } = run;
    if (rule.at('generate').isPresent) readRule(run, policy, rule);
    else endRuled(run, policy, { rule: nameOfRule(rule), action, ...readRuled(run, policy, rule) });
    if (run.size > size && rule.at('generate').isPresent) replaced.push(nameOfRule(rule));
  }
  if (replaced.length > 0)
    run.before.add(
      `set orphanDownstreamOnPolicyDelete: true in the rules ${replaced.join(', ')} of ClusterPolicy ${policy.name}, so that their objects stay, and delete these rules`,
    );
}

function nameOfRule(rule: Reader): string {
  return rule.at('name').text() ?? '';
}

/** The kinds of a rule that are carried over, and those that stay with Kyverno. */
interface RuledKinds {
  readonly carried: readonly string[];
  readonly left: readonly string[];
}

/** Kyverno refuses until the rules of Reeve do, and goes on to judge the kinds that Reeve does not. */
function endRuled(
  run: ImportRun,
  { id, name }: ToolObject,
  { rule, action, carried, left }: RuledKinds & { readonly rule: string; readonly action: string },
): void {
  if (carried.length === 0) return;
  const place = `rule ${rule} of ClusterPolicy ${name}`;
  run.after.add(
    left.length === 0
      ? `delete ${place}`
      : `take ${carried.join(', ')} out of the match of ${place}, which stays for ${left.join(', ')}`,
  );
  if (action.toLowerCase() === 'audit')
    run.notes.add(
      `${id} only reports violations, unless a rule says Enforce. Its policies may stay at [Audit].`,
    );
}

/** A validate or mutate rule. Each kind reads it by its own account, since a field means something for one and nothing for another. */
function readRuled(run: ImportRun, policy: ToolObject, rule: Reader): RuledKinds {
  const filters = filtersIn(rule.at('match'));
  const kinds = [
    ...new Set(filters.flatMap((each) => each.at('resources', 'kinds').texts() ?? []).map(plainKind)),
  ];
  const ours = ruledKinds.filter((kind) => kinds.includes(kind));
  if (ours.length === 0) {
    rule.lose('Reeve has rules on Namespaces, Secrets, Roles and RoleBindings only');
    return { carried: [], left: kinds };
  }
  const reads = ours.map((kind) => ({ kind, why: carryFor(run, policy, rule, kind) }));
  const isCarried = (kind: string): boolean =>
    reads.some((each) => each.kind === kind && each.why === undefined);
  const [carried, left] = [kinds.filter(isCarried), kinds.filter((kind) => !isCarried(kind))];
  for (const { kind, why } of reads)
    if (why !== undefined) rule.lose(kinds.length === 1 ? why : `for ${kind}: ${why}`);
  const others = left.filter((kind) => !ours.some((each) => each === kind));
  if (others.length > 0) rule.limit(`Reeve has no such rules on ${others.join(', ')}`);
  // Each kind has lost what it does not read.
  rule.skip();
  return { carried, left };
}

/** Undefined if a policy now says what the rule says of this kind. */
function carryFor(run: ImportRun, policy: ToolObject, whole: Reader, kind: RuledKind): string | undefined {
  const rule = whole.apart();
  const reaches = reachesOfRule(rule, (each, side) => ruledReach(each, kind, side));
  const read = readRuleOn(kind, rule);
  if (reaches === undefined) return 'it does not apply to a set of namespaces that a policy can match';
  if ('why' in read) return read.why;
  const { size } = run;
  providePolicies(run, {
    from: rule,
    name: `${policy.name}-${nameOfRule(rule)}`,
    reaches,
    spec: { validationActions: ['Audit'], ...read.spec },
  });
  return run.size > size ? undefined : 'it would not load';
}

const ruledKinds: readonly RuledKind[] = ['Namespace', 'Secret', 'RoleBinding'];

function plainKind(kind: string): string {
  return kind.split('/').at(-1) ?? '';
}

/** A rule on Namespaces selects them by their own names and labels, and other rules by those of their Namespace. */
function ruledReach(resources: Reader, kind: RuledKind, side: Side): NamespaceReach | undefined {
  const kinds = (resources.at('kinds').texts() ?? []).map(plainKind);
  const operations = resources.at('operations').texts() ?? ['CREATE', 'UPDATE'];
  if (kinds.length === 0 ? side === 'match' : !kinds.includes(kind)) return undefined;
  if (side === 'match' && !['CREATE', 'UPDATE'].every((each) => operations.includes(each))) return undefined;
  // These fields of the other kinds would be read for them, and so would not be lost.
  const ofOthers = kind === 'Namespace' ? ['namespaces', 'namespaceSelector'] : ['name', 'names', 'selector'];
  if (ofOthers.some((key) => resources.at(key).isPresent)) return undefined;
  if (kind === 'Namespace') return selectedReach(resources, 'selector', namesIn(resources));
  return selectedReach(resources, 'namespaceSelector', resources.at('namespaces').texts() ?? []);
}

type Side = 'match' | 'exclude';

/** Reeve always covers existing namespaces, and always keeps objects as they should be. */
function noteWeaker(run: ImportRun, { id }: ToolObject, field: Reader): void {
  if (field.flag() === false)
    run.notes.add(
      `${id}, ${field.from.path ?? ''} is false. Reeve also covers existing namespaces and restores objects.`,
    );
}

function readRule(run: ImportRun, policy: ToolObject, rule: Reader): void {
  const generate = rule.at('generate');
  const name = `${policy.name}-${nameOfRule(rule)}`;
  const reaches = reachesOfRule(rule, triggerReach);
  for (const key of ['synchronize', 'generateExisting']) noteWeaker(run, policy, generate.at(key));
  const isOrphan = generate.at('orphanDownstreamOnPolicyDelete').flag() === true;
  const made = generatedBy(generate);
  const unread = rule.unread().map(renderPath);
  const common = filled({ deletionPolicy: isOrphan ? 'Orphan' : undefined });
  // Without an unread part, the rule would reach or provide more than it says.
  if (reaches === undefined) rule.lose('its trigger is not a set of namespaces that a policy can match');
  else if (unread.length > 0) rule.lose(`Reeve has nothing for ${unread.join(', ')}`);
  else if (made === undefined) rule.lose('it does not generate one object in the namespace that triggers it');
  else if (made.source === undefined)
    provideObject(run, {
      from: rule,
      object: made.object,
      policy: name,
      reaches,
      writer: templateWriter(celOf),
      common,
    });
  else if (JSON.stringify(made).includes('{{')) rule.lose('Reeve copies objects by name only');
  else
    provideCopy(run, { from: rule, source: made.source, name: made.name, provider: name, reaches, common });
}

/** Undefined if it is not one object in the namespace that triggers the rule. */
function generatedBy(generate: Reader) {
  const [apiVersion, kind, name, namespace = ''] = generate.textsAt(
    'apiVersion',
    'kind',
    'name',
    'namespace',
  );
  const [data, clone] = [generate.at('data'), generate.at('clone')];
  // Other fields of the metadata stay unread, and with them the rule is lost.
  const labels = data.at('metadata', 'labels').textMap();
  const annotations = data.at('metadata', 'annotations').textMap();
  const fields = data.entries().filter(([key]) => key !== 'metadata');
  const written = Object.fromEntries(fields.map(([key, value]) => [key, value.whole()]));
  const [from, source] = clone.textsAt('namespace', 'name');
  const isInTrigger = /^\{\{\s*request\.object\.metadata\.name\s*\}\}$/u.test(namespace);
  if (!isInTrigger || kind === undefined || name === undefined) return undefined;
  const object = { ...written, kind, metadata: { name, labels, annotations }, ...filled({ apiVersion }) };
  if (!clone.isPresent) return data.isPresent ? { name, object } : undefined;
  const isNamed = from !== undefined && source !== undefined;
  return isNamed ? { name, object, source: { kind, namespace: from, name: source } } : undefined;
}

const trigger =
  /^request\.object\.metadata\.(?:(?<name>name)|(?<field>labels|annotations)\.(?:"(?<quoted>[^"]+)"|(?<plain>\w+)))$/u;

/** JMESPath on the trigger: https://kyverno.io/docs/policy-types/cluster-policy/variables/ */
function celOf(inside: string): string | undefined {
  const { name, field = '', quoted, plain } = trigger.exec(inside)?.groups ?? {};
  if (name !== undefined) return 'namespaceObject.metadata.name';
  const key = quoted ?? plain;
  return key === undefined ? undefined : `namespaceObject.metadata.${field}[${JSON.stringify(key)}]`;
}

/**
 * https://github.com/kyverno/kyverno/blob/main/api/kyverno/v1/match_resources_types.go
 * Undefined if the rule has another trigger, or a part that no set of namespaces says.
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
