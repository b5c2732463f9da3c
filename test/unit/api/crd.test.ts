// The CustomResourceDefinitions: structural, documented, bounded, and the same as the files in the repository.
import { readFile } from 'node:fs/promises';
import { describe, expect, it, test } from 'vitest';
import { crdOf, kindDefinitions } from '../../../src/api/kinds.ts';
import { generatedCrds } from '../../checks/crd-files.ts';
import { isJsonObject } from '../../../src/base/json.ts';
import { parseYaml } from '../../../src/base/yaml.ts';
import { staleGeneratedFiles } from '../../checks/generated-files.ts';

type Node = Readonly<Record<string, unknown>>;

/** What a plain CRD schema may use; everything else would need a reason. */
const keywords = [
  'type',
  'format',
  'description',
  'default',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'additionalProperties',
  'nullable',
  'maxProperties',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
];

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (current, step) => (current as Readonly<Record<string | number, unknown>>)[step],
    value,
  );
}

function asNode(value: unknown): Node {
  if (!isJsonObject(value)) throw new Error('not an object');
  return value;
}

/** Every schema node below, each with its path. */
function* nodesBelow(node: Node, path: string): Generator<readonly [string, Node]> {
  yield [path, node];
  for (const [name, field] of Object.entries(asNode(node['properties'] ?? {})))
    yield* nodesBelow(asNode(field), `${path}.${name}`);
  if (node['items'] !== undefined) yield* nodesBelow(asNode(node['items']), `${path}[]`);
  if (node['additionalProperties'] !== undefined)
    yield* nodesBelow(asNode(node['additionalProperties']), `${path}{}`);
}

function defaultText(value: unknown): string {
  if (value === '') return '""';
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
}

interface Expected {
  readonly plural: string;
  readonly shortName: string;
  readonly columns: readonly string[];
  readonly wideColumns: readonly string[];
  /** Where fields are kept that the schema does not know. */
  readonly open: readonly string[];
  /** More rules than this. */
  readonly rules: number;
  /** Cluster by default. */
  readonly scope?: 'Namespaced';
  /** True by default. */
  readonly hasStatus?: false;
}

const bindingExpectation = {
  columns: ['Intents', 'Matched', 'Desired', 'Synced', 'Ready', 'Age'],
  wideColumns: ['Conflicts', 'Failed', 'Suspended', 'Reason'],
  open: [],
  rules: 3,
};

const expectations: Readonly<Record<string, Expected>> = {
  NamespacePolicy: {
    plural: 'namespacepolicies',
    shortName: 'nspol',
    columns: ['Matched', 'Desired', 'Synced', 'Violations', 'Ready', 'Reason', 'Age'],
    wideColumns: ['Conflicts', 'Failed', 'Skipped', 'Actions', 'Suspended'],
    open: ['.spec.contents.resources[]', '.spec.contents.resources[].metadata'],
    rules: 20,
  },
  SecretShare: {
    plural: 'secretshares',
    shortName: 'sshare',
    columns: ['Source', 'Desired', 'Synced', 'Conflicts', 'Ready', 'Reason', 'Age'],
    wideColumns: ['Source-Namespace', 'Failed', 'Skipped', 'Suspended'],
    open: [],
    rules: 7,
  },
  ConfigMapShare: {
    plural: 'configmapshares',
    shortName: 'cmshare',
    columns: ['Desired', 'Synced', 'Conflicts', 'Ready', 'Reason', 'Age'],
    wideColumns: ['Certificates', 'Failed', 'Skipped', 'Suspended'],
    open: [],
    rules: 7,
  },
  SecurityIntent: {
    plural: 'securityintents',
    shortName: 'sint',
    columns: ['ID', 'Action', 'Severity', 'Age'],
    wideColumns: [],
    open: ['.spec.params'],
    rules: -1,
    hasStatus: false,
  },
  ClusterSecurityIntentBinding: {
    ...bindingExpectation,
    plural: 'clustersecurityintentbindings',
    shortName: 'csib',
    rules: 6,
  },
  SecurityIntentBinding: {
    ...bindingExpectation,
    plural: 'securityintentbindings',
    shortName: 'sib',
    scope: 'Namespaced',
  },
  NamespaceClaim: {
    plural: 'namespaceclaims',
    shortName: 'nsclaim',
    columns: ['Namespace', 'Policy', 'Ready', 'Reason', 'Age'],
    wideColumns: [],
    open: [],
    rules: 3,
    scope: 'Namespaced',
  },
};

const kinds = kindDefinitions.map((definition) => {
  const expected = expectations[definition.kind];
  if (expected === undefined) throw new Error(`${definition.kind} has no expectation`);
  return [definition.kind, crdOf(definition), expected] as const;
});

describe.each(kinds)('%s', (kind, crd, expected) => {
  const root = asNode(at(crd, 'spec', 'versions', 0, 'schema', 'openAPIV3Schema'));
  const nodes = [...nodesBelow(root, '')];
  const ours = nodes.filter(([path]) => path.startsWith('.spec') || path.startsWith('.status'));

  function breaches(check: (node: Node) => boolean): readonly string[] {
    return ours.filter(([, node]) => !check(node)).map(([path]) => path);
  }

  describe('a structural schema', () => {
    it('every node has a type', () => {
      expect(nodes.filter(([, node]) => typeof node['type'] !== 'string')).toEqual([]);
    });

    it('no node has both additionalProperties and properties', () => {
      expect(breaches((node) => !('properties' in node && 'additionalProperties' in node))).toEqual([]);
    });

    it('every list has items, and every object has fields or values', () => {
      expect(breaches((node) => node['type'] !== 'array' || 'items' in node)).toEqual([]);
      expect(
        breaches(
          (node) => node['type'] !== 'object' || 'properties' in node || 'additionalProperties' in node,
        ),
      ).toEqual([]);
    });

    it('the schema has only known keywords', () => {
      expect(breaches((node) => Object.keys(node).every((keyword) => keywords.includes(keyword)))).toEqual(
        [],
      );
    });

    it('required fields exist, and list keys are required', () => {
      const names = (node: Node): readonly string[] => Object.keys(asNode(node['properties'] ?? {}));
      const required = (node: Node): readonly unknown[] => (node['required'] ?? []) as readonly unknown[];
      expect(breaches((node) => required(node).every((name) => names(node).includes(String(name))))).toEqual(
        [],
      );
      const keys = (node: Node): readonly unknown[] =>
        (node['x-kubernetes-list-map-keys'] ?? []) as readonly unknown[];
      expect(
        breaches((node) => keys(node).every((key) => required(asNode(node['items'])).includes(key))),
      ).toEqual([]);
    });

    it('unknown fields are kept in resources and params only', () => {
      const open = ours
        .filter(([, node]) => node['x-kubernetes-preserve-unknown-fields'] === true)
        .map(([path]) => path);
      expect(open).toEqual(expected.open);
    });
  });

  describe('a bounded schema', () => {
    it('every list, map and text has a limit', () => {
      expect(breaches((node) => node['type'] !== 'array' || typeof node['maxItems'] === 'number')).toEqual(
        [],
      );
      expect(
        breaches((node) => !('additionalProperties' in node) || typeof node['maxProperties'] === 'number'),
      ).toEqual([]);
      expect(
        breaches(
          (node) => node['type'] !== 'string' || 'enum' in node || typeof node['maxLength'] === 'number',
        ),
      ).toEqual([]);
    });

    it('RE2 and JavaScript read every pattern in the same way', () => {
      const patterns = ours.flatMap(([, node]) =>
        typeof node['pattern'] === 'string' ? [node['pattern']] : [],
      );
      expect(patterns.filter((pattern) => /\(\?|\\[1-9bBk]/.test(pattern))).toEqual([]);
      expect(patterns.filter((pattern) => !pattern.startsWith('^') || !pattern.endsWith('$'))).toEqual([]);
    });
  });

  describe('a documented schema', () => {
    it('every field has a description in whole sentences', () => {
      expect(breaches((node) => /^[A-Z$].*[.)]$/s.test(String(node['description'])))).toEqual([]);
    });

    it('the description of a field names its default', () => {
      const silent = ours.filter(
        ([, node]) =>
          'default' in node &&
          !String(node['description']).includes(`Default: ${defaultText(node['default'])}.`),
      );
      expect(silent.map(([path]) => path)).toEqual([]);
    });

    it('every rule has a message', () => {
      const rules = ours.flatMap(([, node]) => (node['x-kubernetes-validations'] ?? []) as readonly Node[]);
      expect(rules.length).toBeGreaterThan(expected.rules);
      expect(
        rules.filter(
          ({ rule, message }) => typeof rule !== 'string' || typeof message !== 'string' || message === '',
        ),
      ).toEqual([]);
    });
  });

  describe('the definition', () => {
    it('the definition has the names that users type', () => {
      expect(at(crd, 'metadata', 'name')).toBe(`${expected.plural}.reeve.dev`);
      expect(at(crd, 'spec', 'scope')).toBe(expected.scope ?? 'Cluster');
      expect(at(crd, 'spec', 'names')).toEqual({
        kind,
        listKind: `${kind}List`,
        plural: expected.plural,
        singular: kind.toLowerCase(),
        shortNames: [expected.shortName],
        categories: ['reeve'],
      });
    });

    it('the print columns lead to fields', () => {
      const columns = at(crd, 'spec', 'versions', 0, 'additionalPrinterColumns') as readonly Node[];
      const names = (wide: boolean): readonly unknown[] =>
        columns.filter(({ priority }) => (priority === 1) === wide).map(({ name }) => name);
      expect(names(false)).toEqual(expected.columns);
      expect(names(true)).toEqual(expected.wideColumns);
      const paths = new Set(nodes.map(([path]) => path));
      const lost = columns
        .map((column) => String(column['jsonPath']).replace(/\[\?\(.*\)\]/, '[]'))
        .filter((path) => path !== '.metadata.creationTimestamp' && !paths.has(path));
      expect(lost).toEqual([]);
    });

    it('the definition names its own kind', () => {
      expect(at(root, 'properties', 'kind', 'description')).toBe(`The kind of this object: ${kind}.`);
    });

    it('a definition with a status has the status subresource', () => {
      const hasStatus = expected.hasStatus ?? true;
      expect(at(root, 'properties', 'status') !== undefined).toBe(hasStatus);
      expect(at(crd, 'spec', 'versions', 0, 'subresources')).toEqual(hasStatus ? { status: {} } : undefined);
    });

    it('the API server accepts each id, so that Reeve can name the known ones', () => {
      const id = at(root, 'properties', 'spec', 'properties', 'id') as Node | undefined;
      expect(id === undefined || !('enum' in id || 'pattern' in id)).toBe(true);
    });
  });
});

test('the committed files equal the generated ones', async () => {
  expect(await staleGeneratedFiles()).toEqual([]);
});

test('the committed files parse to the definitions', async () => {
  const texts = await Promise.all(generatedCrds().map(({ path }) => readFile(path, 'utf8')));
  expect(texts.map((text) => parseYaml(text).documents)).toMatchObject(
    kindDefinitions.map((definition) => [{ kind: 'data', value: crdOf(definition) }]),
  );
});
