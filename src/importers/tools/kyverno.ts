// Imports generate rules of Kyverno whose trigger is a Namespace.
// https://github.com/kyverno/kyverno/blob/main/api/kyverno/v1/common_types.go
import { renderPath } from '../../base/problem.ts';
import { provideCopy, provideObject } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import type { ToolObject } from '../tool-object.ts';
import { filled } from '../lists.ts';
import { sourceOfGlob } from '../name-patterns.ts';
import { both, conditionOn, outsideOf, selectedIn, type NamespaceReach } from '../reach.ts';
import type { Reader } from '../reader.ts';
import { templateWriter } from '../templates.ts';

/** How Kyverno runs a policy, which has no effect on what its generate rules say. */
const operation = [
  'background',
  'emitWarning',
  'failurePolicy',
  'schemaValidation',
  'useServerSideApply',
  'validationFailureAction',
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
  for (const key of ['generateExisting', 'generateExistingOnPolicyUpdate'])
    noteWeaker(run, policy, spec.at(key));
  if (spec.at('admission').flag() === false)
    spec.at('admission').lose('Reeve also covers namespaces that are created later');
  for (const rule of spec.at('rules').items()) {
    // The API server sets it to true. It is about requests of Kyverno itself.
    rule.at('skipBackgroundRequests').skip();
    const { size } = run;
    if (rule.at('generate').isPresent) readRule(run, policy, rule);
    else rule.lose('Reeve imports generate rules only');
    if (run.size > size) replaced.push(rule.at('name').text() ?? '');
  }
  if (replaced.length > 0)
    run.before.add(
      `set orphanDownstreamOnPolicyDelete: true in the rules ${replaced.join(', ')} of ClusterPolicy ${policy.name}, so that their objects stay, and delete these rules`,
    );
}

/** Reeve always covers existing namespaces, and always keeps objects as they should be. */
function noteWeaker(run: ImportRun, { id }: ToolObject, field: Reader): void {
  if (field.flag() === false)
    run.notes.add(
      `${id}, ${field.from.path ?? ''} is false. Reeve also covers existing namespaces and restores objects.`,
    );
}

function readRule(run: ImportRun, policy: ToolObject, rule: Reader): void {
  const generate = rule.at('generate');
  const name = `${policy.name}-${rule.at('name').text() ?? ''}`;
  const reaches = reachesOfRule(rule);
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
function reachesOfRule(rule: Reader): readonly NamespaceReach[] | undefined {
  const matched = alternativesIn(rule.at('match'));
  const excluded = rule.at('exclude').isPresent ? alternativesIn(rule.at('exclude')) : [];
  if (matched === undefined || excluded === undefined) return undefined;
  const reaches = matched.flatMap((reach) => outsideOf(reach, excluded) ?? []);
  return reaches.length < matched.length ? undefined : reaches;
}

/** `any` and `all` are lists of filters. The older form is one filter. */
function alternativesIn(match: Reader): readonly NamespaceReach[] | undefined {
  const [any, all] = [match.at('any').items(), match.at('all').items()];
  const filters = [...any, ...all, ...(match.at('resources').isPresent ? [match] : [])];
  const reaches = filters.flatMap((each) => reachIn(each.at('resources')) ?? []);
  if (filters.length === 0 || reaches.length < filters.length) return undefined;
  return any.length > 0 ? reaches : [reaches.reduce(both)];
}

function reachIn(resources: Reader): NamespaceReach | undefined {
  const kinds = resources.at('kinds').texts() ?? [];
  const operations = resources.at('operations').texts() ?? ['CREATE'];
  const isOther = kinds.some((kind) => kind !== 'Namespace' && kind !== 'v1/Namespace');
  const selected = selectedIn({}, resources.at('selector'));
  const named = namedReach(resources);
  return kinds.length === 0 || isOther || !operations.includes('CREATE')
    ? undefined
    : selected && both(selected, named);
}

/** `*` stands for any characters, as in our globs, and `?` for one. */
function namedReach(resources: Reader): NamespaceReach {
  const names = [resources.at('name').text() ?? [], resources.at('names').texts() ?? []].flat();
  if (names.length === 0) return {};
  return names.some((each) => each.includes('?')) ? conditionOn(names.map(sourceOfGlob)) : { names };
}
