// Imports intents and bindings of Nimbus. docs/intents.md compares both in "Moving from Nimbus".
// https://github.com/5GSEC/nimbus/tree/main/api/v1alpha1
import { knownIntents, isIntentId, paramFields } from '../../api/intents/intent-ids.ts';
import { ownMember } from '../../base/json.ts';
import { importedName, type ImportRun, type Importer } from '../import-run.ts';
import type { ToolObject } from '../tool-object.ts';
import { filled } from '../lists.ts';
import type { Reader } from '../reader.ts';

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
  const fields = filled({
    action: capitalized(action),
    severity: capitalized(severity),
    description: description.trim() || undefined,
    tags: [...new Set(intent.at('tags').texts())],
    params: paramsOf(id, intent.at('params')),
  });
  run.provide('SecurityIntent', name, { id, ...fields }, [reader]);
  const known: { readonly whyUnsupported?: string; readonly meaning?: string } = isIntentId(id)
    ? knownIntents[id]
    : {};
  if (known.whyUnsupported !== undefined)
    run.notes.add(`Intent ${name}: nothing in Reeve supports ${id}: ${known.whyUnsupported}.`);
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
  run.provide('SecurityIntentBinding', name, bindingSpec(reader), [reader], namespace || 'default');
}

function readClusterBinding(run: ImportRun, { name, reader }: ToolObject): void {
  const selector = reader.at('spec', 'selector');
  selector.at('nodeSelector').lose('Reeve renders nothing for nodes');
  const names = selector.at('nsSelector', 'matchNames').texts() ?? [];
  const excludeNames = selector.at('nsSelector', 'excludeNames').texts();
  const match = filled({ names: names.includes('*') ? [] : names, excludeNames });
  run.provide('ClusterSecurityIntentBinding', name, filled({ match, ...bindingSpec(reader) }), [reader]);
}

/** A binding whose conditions Reeve cannot read is lost whole: without them it would reach more Pods. */
function bindingSpec(reader: Reader): object {
  const spec = reader.at('spec');
  const listed = spec.at('intents').items();
  const intents = listed.flatMap((item) => item.at('name').text() ?? []).map(importedName);
  const matchLabels = spec.at('selector', 'workloadSelector', 'matchLabels').textMap();
  const conditions = [spec.at('cel'), spec.at('selector', 'cel')].flatMap((list) => list.texts() ?? []);
  return filled({ intents, workloads: filled({ matchLabels, cel: conditions.map(unquoted) }) });
}

/** Its samples quote conditions twice: https://github.com/5GSEC/nimbus/blob/main/examples/namespaced/cel-multi-si-sib-namespaced.yaml */
function unquoted(condition: string): string {
  const text = condition.trim();
  return /^'[^']*'$/u.test(text) ? text.slice(1, -1) : text;
}
