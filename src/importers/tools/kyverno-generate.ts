// Imports what a generate rule of Kyverno generates in the Namespace that triggers it: an object, a copy, or an object for each item of a list.
// https://kyverno.io/docs/policy-types/cluster-policy/generate/
import { createOnce } from '../../contents/create-once.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { renderPath } from '../../base/problem.ts';
import { provideClone, provideObject } from '../contents.ts';
import type { ImportRun } from '../import-run.ts';
import { type ToolObject, filled, type Reader } from '../reader.ts';
import type { NamespaceReach } from '../reach.ts';
import { templateWriter } from '../templates.ts';

/** Reeve always covers existing namespaces. */
export function noteWeaker(run: ImportRun, { id }: ToolObject, field: Reader): void {
  if (field.flag() === false)
    run.notes.add(`${id}, ${field.from.path ?? ''} is false. Reeve also covers existing namespaces.`);
}

interface GenerateRule {
  readonly policy: ToolObject;
  readonly rule: Reader;
  /** The name of the policies. */
  readonly name: string;
  readonly reaches: readonly NamespaceReach[] | undefined;
}

export function readGenerate(run: ImportRun, { policy, rule, name, reaches }: GenerateRule): void {
  const generate = rule.at('generate');
  noteWeaker(run, policy, generate.at('generateExisting'));
  // https://kyverno.io/docs/policy-types/cluster-policy/generate/: without synchronize, Kyverno creates an object and lets it go.
  const mode = generate.at('synchronize').flag() === false ? createOnce : undefined;
  const isOrphan = generate.at('orphanDownstreamOnPolicyDelete').flag() === true;
  const made = generatedBy(generate);
  const unread = rule.unread().map(renderPath);
  const common = filled({ deletionPolicy: isOrphan ? 'Orphan' : undefined });
  // Without an unread part, the rule would reach or provide too much.
  if (reaches === undefined) rule.lose('its trigger is not a set of namespaces that a policy can match');
  else if (unread.length > 0) rule.lose(`Reeve has nothing for ${unread.join(', ')}`);
  else if ('why' in made) rule.lose(made.why);
  else if (made.source === undefined) {
    const { object, forEach } = made;
    const writer = templateWriter(forEach === undefined ? celOf : celOfItem);
    provideObject(run, {
      from: rule,
      object,
      policy: name,
      reaches,
      writer,
      common,
      ...filled({ forEach, mode }),
    });
  } else {
    const clone = { from: rule, source: made.source, name: made.name, provider: name, reaches, common };
    provideClone(run, { ...clone, ...filled({ mode }) }, templateWriter(celOf));
  }
}

interface Generated {
  readonly name: string;
  readonly object: KubeObject;
  readonly source?: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly forEach?: string;
}

interface Unsayable {
  readonly why: string;
}

/** The rule has the fields of one object, or lists with these fields. */
function generatedBy(generate: Reader): Generated | Unsayable {
  const [list, ...more] = generate.at('foreach').items();
  if (more.length > 0) return { why: 'it has more than one list' };
  const made = objectIn(list ?? generate);
  if (made === undefined) return { why: 'it does not generate one object in the namespace that triggers it' };
  if (list === undefined) return made;
  if (made.source !== undefined) return { why: 'Reeve makes no copies for the items of a list' };
  const forEach = listOf(list.at('list').text() ?? '');
  const why = 'its list is not a label or annotation of the Namespace, split at a text';
  return forEach === undefined ? { why } : { ...made, forEach };
}

/** Returns undefined unless the rule generates one object in the namespace that triggers it. */
function objectIn(generate: Reader): Generated | undefined {
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

/** Translates JMESPath on the trigger: https://kyverno.io/docs/policy-types/cluster-policy/variables/ */
function celOf(inside: string): string | undefined {
  const { name, field = '', quoted, plain } = trigger.exec(inside)?.groups ?? {};
  if (name !== undefined) return 'namespaceObject.metadata.name';
  const key = quoted ?? plain;
  return key === undefined ? undefined : `namespaceObject.metadata.${field}[${JSON.stringify(key)}]`;
}

function celOfItem(inside: string): string | undefined {
  return inside === 'element' ? 'item' : celOf(inside);
}

const piped = /^(?<text>[^|]+?)\s*\|\s*split\(\s*@\s*,\s*'(?<separator>[^']+)'\s*\)$/u;
const called = /^split\(\s*(?<text>[^,]+?)\s*,\s*'(?<separator>[^']+)'\s*\)$/u;

/** Translates the list: https://kyverno.io/docs/policy-types/cluster-policy/jmespath/#split */
function listOf(written: string): string | undefined {
  const { text = '', separator } = (piped.exec(written) ?? called.exec(written))?.groups ?? {};
  const cel = celOf(text);
  return cel === undefined ? undefined : `${cel}.split(${JSON.stringify(separator)})`;
}
