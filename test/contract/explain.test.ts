// Tests kubectl explain: the text about the kinds of Reeve and of Kubernetes, from /openapi/v3.
// https://kubernetes.io/docs/reference/kubectl/generated/kubectl_explain/
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { kindDefinitions } from '../../src/api/kinds.ts';
import { until } from '../support/until.ts';
import { onEachBackend } from './support/backends.ts';

interface Schema {
  readonly type: string;
  readonly description: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

const crds = join(import.meta.dirname, '..', '..', 'manifests', 'crds');

/** Returns the schema of a kind of Reeve from its manifest. */
async function definedSchema(plural: string): Promise<Schema> {
  const definition = parse(await readFile(join(crds, `reeve.dev_${plural}.yaml`), 'utf8')) as {
    spec: { versions: readonly [{ schema: { openAPIV3Schema: Schema } }] };
  };
  return definition.spec.versions[0].schema.openAPIV3Schema;
}

function typeName({ type, items, additionalProperties }: Schema): string {
  if (items !== undefined) return `[]${typeName(items)}`;
  if (additionalProperties !== undefined) return `map[string]${typeName(additionalProperties)}`;
  return type === 'object' ? 'Object' : type;
}

function fieldsOf({
  properties,
  items,
  additionalProperties,
}: Schema): readonly (readonly [string, Schema])[] {
  if (properties !== undefined) return Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1));
  const inner = items ?? additionalProperties;
  return inner === undefined ? [] : fieldsOf(inner);
}

function requiredOf({ required, items }: Schema): readonly string[] {
  return required ?? (items === undefined ? [] : requiredOf(items));
}

/** Returns `spec <Object> -required-`, and the values of an enum. */
function headline(name: string, field: Schema, parent: Schema): string {
  const required = requiredOf(parent).includes(name) ? ' -required-' : '';
  const values = field.enum === undefined ? '' : ` enum: ${field.enum.join(', ')}`;
  return `${name} <${typeName(field)}>${required}${values}`;
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

onEachBackend('kubectl explain', (backend) => {
  const explain = async (...args: readonly string[]): Promise<string> =>
    await backend.mustKubectl(['explain', ...args]);
  const namesAndTypes = async (path: string): Promise<readonly string[]> =>
    [...(await explain(path)).matchAll(/^ {2}(\S+)\t(<\S+>)/gm)].map(([, name, type]) => `${name} ${type}`);

  beforeAll(async () => {
    await backend.installKinds();
    // The API server publishes the schemas of a new definition a moment after it serves the kind.
    for (const { shortName } of kindDefinitions) {
      await until(
        async () => (await backend.kubectl(['explain', shortName])).code === 0,
        () => `the schema of ${shortName} is published`,
      );
    }
  });

  describe('of our kinds', () => {
    it.each([
      ['nspol', 'namespacepolicies', 'NamespacePolicy', 'spec.match'],
      ['nspol', 'namespacepolicies', 'NamespacePolicy', 'spec.namespaces.required'],
      ['nspol', 'namespacepolicies', 'NamespacePolicy', 'spec.contents.roleBindings'],
      ['nspol', 'namespacepolicies', 'NamespacePolicy', 'status'],
      ['sshare', 'secretshares', 'SecretShare', 'spec'],
      ['sshare', 'secretshares', 'SecretShare', 'spec.targets.namespaceSelector'],
      ['sint', 'securityintents', 'SecurityIntent', 'spec.params'],
      ['csib', 'clustersecurityintentbindings', 'ClusterSecurityIntentBinding', 'spec.match'],
      ['sib', 'securityintentbindings', 'SecurityIntentBinding', 'spec.workloads'],
    ])('%s: the text of %s %s.%s is that of its definition', async (short, plural, kind, path) => {
      const steps = path.split('.');
      let schema = await definedSchema(plural);
      for (const step of steps) schema = Object.fromEntries(fieldsOf(schema))[step] as Schema;
      const name = steps.at(-1) ?? '';
      const expected = [
        `GROUP: reeve.dev KIND: ${kind} VERSION: v1alpha1`,
        `FIELD: ${name} <${typeName(schema)}>`,
        `DESCRIPTION: ${schema.description}`,
        ...(schema.items?.description === undefined ? [] : [schema.items.description]),
        'FIELDS:',
        ...fieldsOf(schema).map(([field, each]) => `${headline(field, each, schema)} ${each.description}`),
      ];
      expect(squeezed(await explain(`${short}.${path}`))).toBe(squeezed(expected.join(' ')));
    });

    it.each([
      ['nspol', 'namespacepolicies'],
      ['sshare', 'secretshares'],
      ['sint', 'securityintents'],
      ['csib', 'clustersecurityintentbindings'],
      ['sib', 'securityintentbindings'],
    ])('%s --recursive lists every field of its definition', async (short, plural) => {
      const lines = (schema: Schema): readonly string[] =>
        fieldsOf(schema).flatMap(([name, field]) => [headline(name, field, schema), ...lines(field)]);
      const { spec, status } = (await definedSchema(plural)).properties ?? {};
      const expected = [
        'spec <Object> -required-',
        ...lines(spec as Schema),
        ...(status === undefined ? [] : ['status <Object>', ...lines(status)]),
      ];
      const text = await explain(short, '--recursive');
      expect(squeezed(text.slice(text.search(/^ {2}spec\t/m)))).toBe(squeezed(expected.join(' ')));
    });

    it('apiVersion, kind and metadata have the texts of Kubernetes', async () => {
      const text = squeezed(await explain('sshare'));
      expect(text).toContain(
        'apiVersion <string> APIVersion defines the versioned schema of this representation of an object.',
      );
      expect(text).toContain('kind <string> Kind is a string value representing the REST resource');
      expect(text).toContain(
        "metadata <ObjectMeta> Standard object's metadata. More info: https://git.k8s.io/",
      );
    });
  });

  describe('of the kinds of Kubernetes', () => {
    it('metadata has the fields of every object', async () => {
      const expected = [
        'annotations <map[string]string>',
        'creationTimestamp <string>',
        'deletionGracePeriodSeconds <integer>',
        'deletionTimestamp <string>',
        'finalizers <[]string>',
        'generateName <string>',
        'generation <integer>',
        'labels <map[string]string>',
        'managedFields <[]ManagedFieldsEntry>',
        'name <string>',
        'namespace <string>',
        'ownerReferences <[]OwnerReference>',
        'resourceVersion <string>',
        'selfLink <string>',
        'uid <string>',
      ];
      expect(await namesAndTypes('namespace.metadata')).toEqual(expected);
      expect(await namesAndTypes('nspol.metadata')).toEqual(expected);
    });

    it('a ConfigMap has its fields', async () => {
      expect(await namesAndTypes('configmap')).toEqual([
        'apiVersion <string>',
        'binaryData <map[string]string>',
        'data <map[string]string>',
        'immutable <boolean>',
        'kind <string>',
        'metadata <ObjectMeta>',
      ]);
    });

    it('the path of a field that does not exist is an error', async () => {
      const { code, stderr } = await backend.kubectl(['explain', 'secret.nothing']);
      expect(code).toBe(1);
      expect(stderr).toContain('"nothing" does not exist');
    });
  });
});
