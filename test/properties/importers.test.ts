// Properties of importers: no field is dropped silently, all that is printed loads, and no input breaks them.
import { kinds } from '../../src/api/kinds.ts';
import { assert, jsonValue, nat, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { managedByLabel, managedByReeve } from '../../src/schema/names.ts';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { type KubeObject, labelsOf } from '../../src/base/metadata.ts';
import { renderPath, type Path } from '../../src/base/problem.ts';
import type { ImportResult, SourceObject } from '../../src/importers/importer.ts';
import { importerOf, importFrom } from '../../src/importers/importers.ts';
import { loadProvider } from '../../src/policy/compile/load-provider.ts';
import type { ProviderKind } from '../../src/api/kinds.ts';
import { importCases, type ImportCase } from '../support/import-cases.ts';
import { propertyRuns } from '../support/property-runs.ts';

const cases = importCases();

/** Leaves that steer nothing, so that another value changes nothing. Each one has its reason here. */
const withoutEffect: readonly RegExp[] = [
  // RBAC has one group, and one version that is served.
  /(?:subjects\.\d+|roleRef)\.apiGroup$/u,
  /^GlobalTenantResource .*rawItems\.5\.apiVersion$/u,
  /^ClusterPolicy .*rules\.[124]\.generate\.apiVersion$/u,
  // There is one kind Secret.
  /^GlobalTenantResource .*namespacedItems\.0\.apiVersion$/u,
  /^ClusterPolicy .*rules\.[567]\.generate\.apiVersion$/u,
  // How often and how a tool works, not what it does.
  /^GlobalTenantResource .*resyncPeriod$/u,
  /^ClusterPolicy .*spec\.background$/u,
  /^CapsuleConfiguration .*enableTLSReconciler$/u,
  // Any kind but Group is a user by name.
  /^CapsuleConfiguration .*users\.0\.kind$/u,
  // Capsule overwrites no key that it has set before. The last item is lost.
  /additionalMetadataList\.(?:0\.annotations\.contact|2\..*)$/u,
  // Marks of what a tool did last.
  /\/(?:replicated-at|replicated-from-version|replicated-keys|reflected-version|reflected-at)$/u,
  /annotations\.kopf\.zalando\.org/u,
  // Reeve never copies labels.
  /strip-labels$/u,
  // Values of Secrets are never read.
  /^(?:ClusterSecret|MultiSecret).*\.?(?:data|stringData)\.(?!valueFrom)/u,
  // Which copies a source permits counts only where a copy asks for one.
  /^Secret data\/database .*-allowed-namespaces$/u,
  // The operator leaves these labels out, too.
  /^ClusterSecret.*labels\.app\.kubernetes\.io/u,
  // Nimbus derives this kind from the bindings.
  /^NimbusPolicy/u,
  // HNC ignores selectors of an object that it does not propagate, and resources that are ignored.
  /^Secret acme\/none .*\/select$/u,
  /^Secret acme\/unreadable-none /u,
  /^HNCConfiguration .*spec\.resources\.2\.resource$/u,
  // HNC always propagates RoleBindings.
  /^HNCConfiguration .*spec\.resources\.2\.(?:mode|group)$/u,
  // Any word but Audit refuses.
  /^ClusterPolicy .*validationFailureAction$/u,
  // About requests of Kyverno itself.
  /^ClusterPolicy .*skipBackgroundRequests$/u,
];

interface Leaf {
  readonly index: number;
  readonly path: Path;
  readonly label: string;
}

function isSteering({ source }: ImportCase, object: KubeObject, path: Path): boolean {
  const { groups, annotations, ownKeys } = importerOf(source);
  const [first, second, third] = path;
  if (groups.includes(object.apiVersion?.split('/')[0] ?? '')) {
    if (first === 'metadata')
      return ['labels', 'annotations'].includes(String(second)) && ownKeys?.test(String(third)) === true;
    return !['apiVersion', 'kind', 'status'].includes(String(first));
  }
  const isPrefixed = annotations !== undefined && String(third).startsWith(annotations);
  return first === 'metadata' && second === 'annotations' && isPrefixed;
}

function leavesOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return members.flatMap(([key, member]) => leavesOf(member, [...path, key]));
}

function steeringLeaves(given: ImportCase): readonly Leaf[] {
  return given.objects.flatMap(({ object }, index) =>
    leavesOf(object)
      .filter((path) => isSteering(given, object, path))
      .map((path) => {
        const { namespace = '', name = '' } = object.metadata;
        return { index, path, label: `${object.kind ?? ''} ${namespace}/${name} ${path.join('.')}` };
      }),
  );
}

const unknownKey = 'unknownField';
const unknownValues: readonly unknown[] = ['text', 7, true, { name: 'x' }, [{ name: 'x' }]];

/** The objects in which a field steers the tool. */
function placesIn(given: ImportCase, object: KubeObject): readonly Path[] {
  // HNC writes the annotations of a copy, Reeve those of its objects, and Nimbus its policies.
  const { [managedByLabel]: manager, 'hnc.x-k8s.io/inherited-from': inherited } = labelsOf(object);
  if (manager === managedByReeve || inherited !== undefined || object.kind === 'NimbusPolicy') return [];
  const { groups, annotations, ownKeys } = importerOf(given.source);
  const isOwn = groups.includes(object.apiVersion?.split('/')[0] ?? '');
  const keys: Path = ['metadata', 'annotations'];
  if (!isOwn) return annotations === undefined ? [] : [keys];
  const { apiVersion: _version, kind: _kind, metadata: _metadata, status: _status, ...fields } = object;
  return [...objectsIn(fields), ...(ownKeys === undefined ? [] : [keys])];
}

function objectsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  const below = members.flatMap(([key, member]) => objectsIn(member, [...path, key]));
  return Array.isArray(value) ? below : [path, ...below];
}

/** A key of metadata needs the prefix of the tool. */
function placedKey({ source }: ImportCase, [first]: Path, key: string): string {
  const { groups, annotations } = importerOf(source);
  return first === 'metadata' ? `${annotations ?? `${groups[0] ?? ''}/`}${key}` : key;
}

/** The field, or something that it is in, is among what is lost. */
function isLostIn({ objects, lost }: ImportResult, line: number | undefined, path: Path): boolean {
  const isPrinted = objects.some(({ from }) => from.some((each) => each.line === line));
  return lost.some(
    ({ from }) =>
      from.line === line && (from.path === undefined ? !isPrinted : renderPath(path).startsWith(from.path)),
  );
}

function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? replaced(item, rest, by) : item));
  const from: JsonObject = isJsonObject(value) ? value : {};
  return { ...from, [step]: replaced(from[step], rest, by) };
}

function withLeaf(
  given: ImportCase,
  { index, path }: Pick<Leaf, 'index' | 'path'>,
  by: unknown,
): readonly SourceObject[] {
  return given.objects.map((each, at) =>
    at === index ? { ...each, object: replaced(each.object, path, by) as KubeObject } : each,
  );
}

function changed(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (value === 'true') return 'false';
  // Kyverno knows two actions.
  if (value === 'Enforce') return 'Audit';
  return `${String(value)}x`;
}

function valueAt(object: unknown, path: Path): unknown {
  return path.reduce((value, step) => (value as Record<string | number, unknown>)[step], object);
}

describe.each(cases)('$source, $name', (given) => {
  const { source, objects, options } = given;
  const result = importFrom(source, objects, options);
  const before = JSON.stringify(result);
  const isLost = ({ index, path }: Leaf): boolean => isLostIn(result, objects[index]?.line, path);
  const leaves = steeringLeaves(given).filter(({ label }) => !withoutEffect.some((each) => each.test(label)));

  test('another value of any field that steers the tool changes the result', () => {
    const silent = leaves.filter((leaf) => {
      if (isLost(leaf)) return false;
      const value = valueAt(objects[leaf.index]?.object, leaf.path);
      const after = importFrom(source, withLeaf(given, leaf, changed(value)), options);
      return JSON.stringify(after) === before;
    });
    expect(silent.map(({ label }) => label)).toEqual([]);
  });

  test('an unknown field anywhere is carried over or reported', () => {
    const places = objects.flatMap(({ object }, index) =>
      placesIn(given, object).map((path) => ({ index, path })),
    );
    for (const [number, place] of places.entries()) {
      const { index } = place;
      const path = [...place.path, placedKey(given, place.path, unknownKey)];
      const value = unknownValues[number % unknownValues.length];
      const after = importFrom(source, withLeaf(given, { index, path }, value), options);
      const isReported = isLostIn(after, objects[index]?.line, path);
      const printed = JSON.stringify([after.objects, after.steps, after.lost]);
      expect(isReported || printed.includes(unknownKey), renderPath(path)).toBe(true);
    }
  });

  test('whatever stands in a field, the import ends, and all that it prints loads', () => {
    assert(
      property(nat(), jsonValue(), (choice, value) => {
        const leaf = leaves[choice % leaves.length];
        if (leaf === undefined) return;
        const after = importFrom(source, withLeaf(given, leaf, value), options);
        expect(after.objects.filter(({ object }) => !loads(object as KubeObject))).toEqual([]);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('no value of a Secret is in the result', () => {
    const secret = /^(?:Secret|ClusterSecret|MultiSecret)$/u;
    const canary = 'Y2FuYXJ5';
    const marked = objects.map((each) => {
      if (!secret.test(each.object.kind ?? '')) return each;
      return { ...each, object: JSON.parse(withCanary(each.object, canary)) as KubeObject };
    });
    expect(JSON.stringify(importFrom(source, marked, options))).not.toContain(canary);
  });
});

function loads(object: KubeObject): boolean {
  if (object.kind === 'SecurityIntent') return kinds.SecurityIntent.parse(object).ok;
  return loadProvider(object.kind as ProviderKind, object).ok;
}

/** Every text below data and stringData, except a reference to another Secret. */
function withCanary(object: KubeObject, canary: string): string {
  const mark = (value: unknown, isData: boolean): unknown => {
    if (typeof value === 'string') return isData ? canary : value;
    if (Array.isArray(value)) return value.map((item) => mark(item, isData));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const below = (isData || key === 'data' || key === 'stringData') && key !== 'valueFrom';
        return [key, mark(member, below)];
      }),
    );
  };
  return JSON.stringify(mark(object, false));
}
