// Imports intents and bindings of Nimbus. docs/intents.md compares both in "Moving from Nimbus".
// https://github.com/5GSEC/nimbus/tree/main/api/v1alpha1
import { knownIntents, isIntentId, paramFields } from '../../api/intents/intent-ids.ts';
import { systemNamespaces } from '../../schema/names.ts';
import { ownMember } from '../../base/json.ts';
import type { StringMap } from '../../base/metadata.ts';
import { importedName, type ImportRun, type Importer } from '../import-run.ts';
import { type ToolObject, filled, type Reader } from '../reader.ts';
import { limitToOthers } from '../provide.ts';
import type { NamespaceReach } from '../reach.ts';

const derived = ['NimbusPolicy', 'ClusterNimbusPolicy'];

export const nimbus: Importer = {
  groups: ['intent.security.nimbus.com'],
  reads: {},
  // Nimbus derives its policies from the bindings.
  fields: Object.fromEntries(derived.map((kind) => [kind, [['']]])),
  stop: 'kubectl scale deployment -n nimbus --all --replicas=0 (in the namespace of its install)',
  end: 'delete the bindings of Nimbus, which deletes what its adapters created, and uninstall it',
  read(run) {
    for (const each of run.ofKind('SecurityIntent')) readIntent(run, each);
    for (const each of run.ofKind('SecurityIntentBinding')) readBinding(run, each);
    for (const each of run.ofKind('ClusterSecurityIntentBinding')) readClusterBinding(run, each);
    if (derived.some((kind) => run.ofKind(kind).length > 0))
      run.notes.add(
        'NimbusPolicy and ClusterNimbusPolicy are left out: the status of a binding of Reeve says what was rendered.',
      );
  },
};

function readIntent(run: ImportRun, { name, reader }: ToolObject): void {
  const intent = reader.at('spec', 'intent');
  const [id = '', action = '', severity = '', description = ''] = intent.textsAt(
    'id',
    'action',
    'severity',
    'description',
  );
  const unsupported = whyUnsupported(id);
  const fields = filled({
    action: capitalized(action),
    severity: capitalized(severity),
    description: description.trim() || undefined,
    tags: [...new Set(intent.at('tags').texts())],
    params: { ...paramsOf(id, intent.at('params')), ...scanParams(run, importedName(name), intent) },
  });
  if (unsupported === undefined) run.provide('SecurityIntent', name, { id, ...fields }, [reader]);
  else reader.lose(`nothing in Reeve supports ${id}: ${unsupported}`);
}

function whyUnsupported(id = ''): string | undefined {
  const known: { readonly whyUnsupported?: string; readonly meaning?: string } = isIntentId(id)
    ? knownIntents[id]
    : {};
  return known.whyUnsupported;
}

/** Sets the schedule that Nimbus uses by default, and the namespace for a scan of a single namespace. */
function scanParams(run: ImportRun, name: string, intent: Reader): object {
  if (intent.at('id').text() !== 'assessTLS') return {};
  const isScheduled = intent.at('params', 'schedule').isPresent;
  return filled({ schedule: isScheduled ? undefined : '@weekly', namespace: scanNamespace(run, name) });
}

function capitalized(word: string): string | undefined {
  return word === '' ? undefined : word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();
}

/** Nimbus has lists of texts everywhere. */
function paramsOf(id: string, params: Reader): Readonly<Record<string, unknown>> {
  const known: readonly string[] = isIntentId(id) ? knownIntents[id].params : [];
  const read: (readonly [string, unknown])[] = [];
  for (const [key, value] of params.entries()) {
    const name = key === 'external_addresses' ? 'externalAddresses' : key;
    const isList = ownMember(ownMember(paramFields, name), 'kind') === 'list';
    const [first, ...others] = value.items();
    if (!known.includes(name)) value.lose(`${id} has no such param in Reeve`);
    else read.push([name, isList ? value.texts() : first?.text()]);
    if (!isList) for (const other of others) other.lose('Nimbus reads the first one only');
  }
  return filled(Object.fromEntries(read));
}

function readBinding(run: ImportRun, { id, name, namespace, reader }: ToolObject): void {
  if (namespace === '') run.notes.add(`${id} names no namespace, so the binding is for namespace default.`);
  const fields = reader.at('spec');
  const conditions = [fields.at('cel'), fields.at('selector', 'cel')].flatMap((list) => list.texts() ?? []);
  const spec = bindingSpec(reader, conditions);
  if (systemNamespaces.includes(namespace)) reader.lose(`Reeve leaves namespace ${namespace} alone`);
  else
    provideBinding(
      run,
      { kind: 'SecurityIntentBinding', name, namespace: namespace || 'default' },
      spec,
      reader,
    );
}

/** https://github.com/5GSEC/nimbus/blob/main/internal/controller/clustersecurityintentbinding_controller.go */
function readClusterBinding(run: ImportRun, { name, reader }: ToolObject): void {
  const selector = reader.at('spec', 'selector');
  selector.at('nodeSelector').lose('Reeve renders nothing for nodes');
  // Nimbus reads CEL in bindings of one namespace only. With CEL, the new binding would select fewer Pods than the old one.
  reader
    .at('spec', 'cel')
    .lose('Nimbus ignores it in a ClusterSecurityIntentBinding, and so does the import');
  const match = matchIn(reader, selector.at('nsSelector'));
  const spec = bindingSpec(reader, []);
  const scans = spec.intents.filter((intent) => idOf(run, intent) === 'assessTLS');
  const intents = spec.intents.filter((intent) => !scans.includes(intent));
  if (match === undefined) return;
  if (intents.length > 0) limitToOthers(run, reader, [match], leftAloneByReeve);
  if (intents.length > 0 || scans.length === 0)
    provideBinding(run, { kind: clusterKind, name }, { ...filled({ match }), ...spec, intents }, reader);
  for (const scan of scans)
    provideScan(run, scans.length + intents.length > 1 ? `${name}-${scan}` : name, scan, reader);
}

const clusterKind = 'ClusterSecurityIntentBinding';

/** Nimbus creates nothing in kube-system, either. */
const leftAloneByReeve = systemNamespaces.filter((name) => name !== 'kube-system');

/** Returns undefined if Nimbus refuses the selector, or if the selector matches no namespace. */
function matchIn(binding: Reader, selector: Reader): NamespaceReach | undefined {
  const [names, excluded] = [selector.at('matchNames'), selector.at('excludeNames')];
  const [given = [], excludeNames = []] = [names.texts(), excluded.texts()];
  const isEverywhere = given.length === 1 && given[0] === '*';
  if (given.length > 0 === excludeNames.length > 0 || given.indexOf('*') > 0) {
    binding.lose(
      'Nimbus refuses it: a binding has either matchNames or excludeNames, and * only alone',
      'write a binding with the namespaces that you want in match',
    );
    return undefined;
  }
  if (isEverywhere) return {};
  const literal = { names: literalNames(names, given), excludeNames: literalNames(excluded, excludeNames) };
  if (given.length === 0 || literal.names.length > 0) return filled(literal);
  binding.lose('it selects no namespace');
  return undefined;
}

/** Keeps names without wildcards. Nimbus compares names literally, while Reeve reads globs, which would select more. */
function literalNames(reader: Reader, names: readonly string[]): readonly string[] {
  for (const name of names.filter(isGlob))
    reader.limit(`no namespace is called ${name}: Nimbus knows no globs`);
  return names.filter((name) => !isGlob(name));
}

function isGlob(name: string): boolean {
  return name.includes('*');
}

/**
 * Nimbus has one scan for each binding, whatever its selectors say: of the external addresses, or else of the cluster.
 * https://github.com/5GSEC/nimbus/blob/main/pkg/adapter/nimbus-k8tls/builder/builder.go
 */
function provideScan(run: ImportRun, name: string, intent: string, from: Reader): void {
  const namespace = scanNamespace(run, intent);
  if (namespace === undefined)
    from.limit(
      `one scan of the whole cluster (assessTLS of ${intent}): Reeve has a scan in each namespace, which finds the Services of that namespace, and none in ${systemNamespaces.join(', ')}`,
    );
  else
    run.notes.add(
      `Scans of external addresses run in namespace ${namespace}, as in Nimbus, and also ask the Services there. Annotate it with helm.sh/resource-policy=keep before you uninstall Nimbus, which deletes it, or name another one in the intent and in the match of its binding.`,
    );
  const match = filled({ names: namespace === undefined ? [] : [namespace] });
  provideBinding(run, { kind: clusterKind, name }, { ...filled({ match }), intents: [intent] }, from);
}

/** The chart of its scanner creates and deletes this namespace. */
const scannerNamespace = 'nimbus-k8tls-env';

/** Returns the only namespace that an intent needs scanned. Undefined if the Services of all namespaces are scanned. */
function scanNamespace(run: ImportRun, intent: string): string | undefined {
  const found =
    intentIn(run, intent)?.reader.at('spec', 'intent', 'params', 'external_addresses').items() ?? [];
  return found.length === 0 ? undefined : scannerNamespace;
}

function intentIn(run: ImportRun, name: string): ToolObject | undefined {
  return run.ofKind('SecurityIntent').find((each) => importedName(each.name) === name);
}

function idOf(run: ImportRun, intent: string): string | undefined {
  return intentIn(run, intent)?.reader.at('spec', 'intent', 'id').text();
}

interface BindingName {
  readonly kind: 'SecurityIntentBinding' | 'ClusterSecurityIntentBinding';
  readonly name: string;
  readonly namespace?: string;
}

/** Provides the binding. A binding without an intent left is lost. */
function provideBinding(
  run: ImportRun,
  { kind, name, namespace }: BindingName,
  spec: BindingSpec,
  from: Reader,
): void {
  const intents = spec.intents.filter((intent) => whyUnsupported(idOf(run, intent)) === undefined);
  const lost = spec.intents.filter((intent) => !intents.includes(intent));
  if (lost.length > 0) from.limit(`its intents that Reeve cannot keep: ${lost.join(', ')}`);
  const labels = Object.keys(spec.workloads?.matchLabels ?? {});
  const anyOf = intents.filter((intent) => selectsAny.includes(idOf(run, intent) ?? ''));
  if (labels.length > 1 && anyOf.length > 0)
    from.limit(
      `${anyOf.join(', ')}: Nimbus selects Pods with any of the labels ${labels.join(', ')}, and Reeve Pods with all of them`,
      'write a binding for each label',
    );
  if (intents.length > 0 || lost.length === 0)
    run.provide(kind, name, { ...spec, intents }, [from], namespace);
}

/** https://github.com/5GSEC/nimbus/blob/main/pkg/adapter/nimbus-kyverno/processor/kpbuilder.go */
const selectsAny: readonly string[] = ['escapeToHost', 'cocoWorkload'];

interface BindingSpec {
  readonly intents: readonly string[];
  readonly workloads?: { readonly matchLabels?: StringMap };
}

/** Reads the spec. A binding with unreadable conditions is lost as a whole, because it would reach more Pods without them. */
function bindingSpec(reader: Reader, conditions: readonly string[]): BindingSpec {
  const spec = reader.at('spec');
  const listed = spec.at('intents').items();
  const intents = listed.flatMap((item) => item.at('name').text() ?? []).map(importedName);
  const matchLabels = spec.at('selector', 'workloadSelector', 'matchLabels').textMap();
  const workloads = filled({ matchLabels, cel: conditions.map(unquoted) });
  return { intents, ...filled({ workloads }) };
}

/** The samples of Nimbus quote conditions twice: https://github.com/5GSEC/nimbus/blob/main/examples/namespaced/cel-multi-si-sib-namespaced.yaml */
function unquoted(condition: string): string {
  const text = condition.trim();
  return /^'[^']*'$/u.test(text) ? text.slice(1, -1) : text;
}
