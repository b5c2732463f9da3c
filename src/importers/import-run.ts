// Collects the result of one import: valid objects of ours, steps, notes, and each field that was not read.
import {
  apiVersion as ownVersion,
  managedByLabel,
  managedByReeve,
  namespaceNameLabel,
} from '../schema/names.ts';
import { maxLabelLength } from '../base/kubernetes-names.ts';
import { type KubeObject, labelsOf, nameOf, valueOf } from '../base/metadata.ts';
import { renderProblem } from '../base/problem.ts';
import { isJsonObject, ownMember } from '../base/json.ts';
import { isCreatedOnce } from '../contents/create-once.ts';
import type { ImportedObject } from '../inspect/output-schemas/import-output.ts';
import { loadObject } from '../policy/compile/load-provider.ts';
import { kinds, type Kind } from '../api/kinds.ts';
import type { ImportOptions, ImportResult, MovedSecret, OlderTool, SourceObject } from './importer.ts';
import { Reader, idOf, loseFields, lostOf, toolObject, type ToolObject } from './reader.ts';

export interface Importer extends OlderTool {
  readonly read: (run: ImportRun) => void;
}

export class ImportRun {
  readonly options: ImportOptions;
  readonly namespaces: readonly KubeObject[];
  /** Steps before our objects are applied, and after the adoption. */
  readonly before = new Set<string>();
  readonly after = new Set<string>();
  readonly notes = new Set<string>();
  readonly #all: readonly ToolObject[];
  readonly #tool: OlderTool;
  readonly #asked = new Set<string>();
  readonly #provided: ImportedObject[] = [];
  readonly #names = new Set<string>();
  readonly #moved = new Map<string, MovedSecret>();
  readonly #sources = new Map<string, ImportResult['sources'][number]>();
  readonly #adopt: string[] = [];
  #refused = 0;

  constructor(tool: OlderTool, input: readonly SourceObject[], options: ImportOptions) {
    this.options = options;
    this.#tool = tool;
    // An object that Reeve provides already has a provider, which would be its own source.
    const ofOthers = input.filter(
      ({ object }) => valueOf(labelsOf(object), managedByLabel) !== managedByReeve,
    );
    this.#all = ofOthers.map((each) => toolObject(each, tool));
    const namespaces = this.others().filter(({ kind }) => kind === 'Namespace');
    this.namespaces = namespaces.map(({ object }) => object);
  }

  /** A namespace that is missing in the input counts as a namespace with the label of its name alone. */
  namespace(name: string): KubeObject {
    const found = this.namespaces.find((each) => nameOf(each) === name);
    const labels = { [namespaceNameLabel]: name };
    return found ?? { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
  }

  /** The tool's own objects of a kind. */
  ofKind(kind: string): readonly ToolObject[] {
    this.#asked.add(kind);
    return this.#all.filter((each) => each.isOfTool && each.kind === kind);
  }

  /** Objects of other kinds that the tool's annotations steer. */
  annotated(): readonly ToolObject[] {
    return this.others().filter(({ reader }) => reader.at('metadata').isPresent);
  }

  /** Objects of all other kinds. */
  others(): readonly ToolObject[] {
    return this.#all.filter(({ isOfTool }) => !isOfTool);
  }

  find(kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.others().find(
      (each) => each.kind === kind && each.namespace === namespace && each.name === name,
    )?.object;
  }

  /** The number of objects that are provided so far. */
  get size(): number {
    return this.#provided.length;
  }

  /** The number of objects that would not load so far. */
  get refused(): number {
    return this.#refused;
  }

  /** Adds an object of ours and returns its name. Otherwise reports why the object would not load. */
  provide(
    kind: Kind,
    wanted: string,
    spec: object,
    from: readonly Reader[],
    namespace?: string,
  ): string | undefined {
    const name = this.#uniqueName(kind, wanted, namespace);
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
    const object = { apiVersion: ownVersion, kind, metadata, spec };
    const loaded = loadObject(kind, object);
    if (!loaded.ok) {
      this.#refused += 1;
      const why = loaded.problems.slice(0, 3).map(renderProblem).join('; ');
      for (const each of from) each.lose(`as ${kind} ${name} it would not load: ${why}`);
      return undefined;
    }
    this.#provided.push({ object, from: from.map((each) => each.from) });
    // A binding has neither of these fields.
    // The word alone stands for a SecretShare.
    const id = kind === 'ConfigMapShare' ? `${kind}/${name}` : name;
    if (keepsObjects(spec)) this.#adopt.push(`reeve adopt --${kinds[kind].word} ${id}`);
    return name;
  }

  /** Returns the Secret of a shared namespace that gets the data. Two Secrets of one name get two names there. */
  movedSecret({ from, type, keys }: Pick<MovedSecret, 'from' | 'type' | 'keys'>): MovedSecret {
    const id = idOf(from);
    const [namespace = ''] = this.options.sharedNamespaces;
    const moved = this.#moved.get(id) ?? {
      namespace,
      name: this.#freeName(namespace, from),
      from,
      type,
      keys,
    };
    this.#moved.set(id, moved);
    return moved;
  }

  /** Finds a name that no other Secret has in the shared namespace. */
  #freeName(namespace: string, { name, namespace: place, kind }: MovedSecret['from']): string {
    const taken = new Set([...this.#moved.values()].map((each) => each.name));
    const isFree = (wanted: string): boolean =>
      !taken.has(wanted) && this.find('Secret', namespace, wanted) === undefined;
    const longer = `${place ?? kind.toLowerCase()}-${name}`;
    let free = isFree(name) ? name : longer;
    for (let count = 2; !isFree(free); count += 1) free = `${longer}-${count}`;
    return free;
  }

  /** Undefined if the input lacks the content of the Secret, because its type is then not known. */
  source(namespace: string, name: string): KubeObject | undefined {
    this.#sources.set(`${namespace}/${name}`, { namespace, name });
    return this.find('Secret', namespace, name);
  }

  /**
   * Adds the step that deletes an object of the tool alone. Without its controller, a finalizer would keep the object. By its
   * owner references, the garbage collector would delete the objects that the tool created.
   */
  deleteAlone({ kind, name, namespace }: ToolObject): void {
    const resource = `${kind.toLowerCase()} ${name}${namespace === '' ? '' : ` -n ${namespace}`}`;
    this.before.add(
      `kubectl patch ${resource} --type=merge -p '{"metadata":{"finalizers":null}}' && kubectl delete ${resource} --cascade=orphan`,
    );
  }

  /** Deletes only what an object of ours replaces, because the data may exist nowhere else. */
  deleteReplaced(each: ToolObject): void {
    if (this.#provided.some(({ from }) => from.some(({ object }) => idOf(object) === each.id)))
      this.deleteAlone(each);
  }

  result(): ImportResult {
    this.#loseRest();
    const { stop, end } = this.#tool;
    const apply = ['kubectl apply -f the objects of this import', ...this.#adopt];
    const steps = [
      stop,
      ...this.#moveSteps(),
      ...this.before,
      ...apply,
      ...this.#ruleSteps(),
      ...this.after,
      end,
    ];
    return {
      objects: this.#provided,
      adopt: this.#adopt,
      steps: this.#provided.length === 0 ? [] : steps,
      notes: [...this.notes, ...rightNotes(this.#provided)],
      lost: this.#all.flatMap(lostOf),
      moved: this.#copied(),
      sources: [...this.#sources.values()],
    };
  }

  /** The Secrets that a share copies, without those of shares that are lost. */
  #copied(): readonly MovedSecret[] {
    const sources = this.#provided.map(({ object }) => new Reader(object).at('spec', 'source'));
    const names = sources.map((source) => source.textsAt('namespace', 'name').join('/'));
    return [...this.#moved.values()].filter((each) => names.includes(targetOf(each)));
  }

  #moveSteps(): readonly string[] {
    const moved = this.#copied();
    const { secretsFile } = this.options;
    if (secretsFile !== undefined && moved.length > 0)
      return [
        `kubectl apply -f ${secretsFile}, delete that file, and make later changes in ${moved.map(targetOf).join(', ')}`,
      ];
    return moved.map((each) => {
      const keys = each.keys.length === 0 ? '' : ` (keys ${each.keys.toSorted().join(', ')})`;
      return `create Secret ${targetOf(each)} of type ${each.type} with the data of ${idOf(each.from)}${keys}, and make later changes there`;
    });
  }

  /** Rules are imported without Deny, so that the move refuses nothing that exists. */
  #ruleSteps(): readonly string[] {
    const names = this.#provided.flatMap(({ object }) => {
      const reader = new Reader(object);
      const isOpen = reader.at('spec', 'validationActions').texts()?.includes('Deny') === false;
      return isOpen ? (reader.at('metadata', 'name').text() ?? []) : [];
    });
    if (names.length === 0) return [];
    return [
      `reeve report lists what breaks the rules; mend that, and set validationActions: [Deny] in the NamespacePolicies ${names.join(', ')}: until then they refuse nothing`,
    ];
  }

  #loseRest(): void {
    for (const [kind, rows] of Object.entries(this.#tool.fields ?? {}))
      for (const { reader } of this.ofKind(kind)) loseFields(reader, rows);
    const unknown = this.#all.filter(({ isOfTool, kind }) => isOfTool && !this.#asked.has(kind));
    for (const { kind, reader } of unknown) reader.lose(`Reeve has nothing for objects of kind ${kind}`);
  }

  #uniqueName(kind: string, wanted: string, namespace = ''): string {
    const base = importedName(wanted);
    let name = base;
    for (let count = 2; this.#names.has(`${kind}/${namespace}/${name}`); count += 1)
      name = `${base.slice(0, maxLabelLength - 1 - String(count).length)}-${count}`;
    this.#names.add(`${kind}/${namespace}/${name}`);
    return name;
  }
}

/** Names of our kinds are label values: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set */
export function importedName(wanted: string): string {
  const cleaned = wanted
    .toLowerCase()
    .replaceAll(/[^-.a-z0-9]+/gu, '-')
    .replaceAll(/[-.]*\.[-.]*/gu, '.')
    .slice(0, maxLabelLength);
  return cleaned.replaceAll(/^[-.]+|[-.]+$/gu, '') || 'imported';
}

function targetOf({ namespace, name }: MovedSecret): string {
  return `${namespace}/${name}`;
}

/** Says what the install must be allowed to do. */
function rightNotes(provided: readonly ImportedObject[]): readonly string[] {
  const named = (list: string, ...path: readonly string[]): string => {
    const items = provided.flatMap(({ object }) => new Reader(object).at('spec', 'contents', list).items());
    const names = new Set(items.flatMap((item) => item.at(...path).text() ?? []));
    return [...names].toSorted().join(', ');
  };
  const [resources, roles] = [named('resources', 'kind'), named('roleBindings', 'roleRef', 'name')];
  return [
    ...(resources === ''
      ? []
      : [`The install must allow these kinds in contents (--resource-kind): ${resources}.`]),
    ...(roles === ''
      ? []
      : [`The install must allow Reeve to bind these ClusterRoles (bindableClusterRoles): ${roles}.`]),
  ];
}

/** Returns false if all objects are created once. Reeve then leaves the objects of the tool alone. */
function keepsObjects(spec: object): boolean {
  const contents = ownMember(spec, 'contents');
  const entries: readonly unknown[] = isJsonObject(contents) ? Object.values(contents).flat() : [];
  return entries.some((entry) => !isCreatedOnce(entry)) || ('source' in spec && !isCreatedOnce(spec));
}
