// Defines a served kind from one schema: its fields, defaults, merge keys and validation.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/metadata.ts';
import type { Fields, SchemaRule, Schema, TextSchema } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';
import type { Resource } from '../resource.ts';
import { cause, causeOf, withoutUnknownFields } from './causes.ts';
import { column } from './column.ts';
import { changeCauses, metadataSchema, objectName, anyText, fields } from './shape.ts';

interface Definition extends Partial<Omit<Resource, 'schema' | 'rules'>> {
  /** The text of `kubectl explain` for the kind. */
  readonly description: string;
  readonly name?: TextSchema;
  /** The required and the optional fields beside apiVersion, kind and metadata. */
  readonly needed?: Fields;
  readonly optional?: Fields;
  /** True to keep fields that the schema does not name. */
  readonly isOpen?: boolean;
  /** True to count changes outside of metadata and status in metadata.generation. */
  readonly hasGeneration?: boolean;
  /** Fields that an update must not change. */
  readonly unchanging?: readonly string[];
  /** Sets fields that have no default in the schema. Called with a valid object. */
  readonly finish?: (object: KubeObject, stored: KubeObject | undefined, now: Date) => KubeObject;
  /** Rules for a finished object beyond the schema. */
  readonly constraints?: readonly SchemaRule<object>[];
}

export function define(group: string, kind: string, definition: Definition): Resource {
  const { description, name = objectName, needed = {}, optional, isOpen = false, ...rules } = definition;
  const { finish, hasGeneration = false, unchanging = [], constraints, ...rest } = rules;
  const standard = { apiVersion: anyText, kind: anyText, metadata: metadataSchema(name) };
  const schema = { ...fields(needed, { ...standard, ...optional }), description, open: isOpen };
  const finished = { ...schema, rules: constraints ?? [] };
  const singular = kind.toLowerCase();
  return {
    group,
    version: 'v1',
    kind,
    plural: `${singular}s`,
    singular,
    shortNames: [],
    categories: [],
    isNamespaced: true,
    subresources: [],
    columns: [column('Created At', '.metadata.creationTimestamp')],
    isCustom: false,
    listKeys: Object.fromEntries(listKeys(schema, '')),
    ...rest,
    schema,
    rules: {
      prepare: (submitted, stored, now) => {
        const known = withoutUnknownFields(schema, submitted);
        const outcome = validate(schema, known);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both have the metadata of what was submitted
        const object = (outcome.ok ? outcome.value : known) as KubeObject;
        const next = outcome.ok && finish ? finish(object, stored, now) : object;
        return hasGeneration ? withGeneration(next, stored) : next;
      },
      problems: (object, stored) => {
        const outcome = validate(finished, object);
        const isNameless = object.metadata.name === undefined;
        return [
          ...(isNameless ? [cause('Required', 'metadata.name', 'name or generateName is required')] : []),
          ...(outcome.ok ? [] : outcome.problems.map((problem) => causeOf(schema, object, problem))),
          ...(stored === undefined ? [] : changeCauses(object, stored, unchanging)),
        ];
      },
    },
  };
}

function withGeneration(object: KubeObject, stored: KubeObject | undefined): KubeObject {
  const before = Number(stored?.metadata['generation'] ?? 0);
  const isSame = stored !== undefined && isDeepStrictEqual(substance(object), substance(stored));
  return { ...object, metadata: { ...object.metadata, generation: isSame ? before : before + 1 } };
}

/**
 * The deletion of an object counts as a change: https://pkg.go.dev/k8s.io/apiserver/pkg/registry/rest#BeforeDelete
 */
function substance({ metadata: { deletionTimestamp }, ...rest }: KubeObject): object {
  return { ...rest, apiVersion: '', kind: '', deletionTimestamp, status: {} };
}

/** Returns the keys of each list that has them, by the path of the list. */
function listKeys(schema: Schema, path: string): readonly (readonly [string, readonly string[]])[] {
  if (schema.kind === 'list') {
    const { unique } = schema;
    const own = unique === 'set' ? [[path, []] as const] : unique ? [[path, [unique.key]] as const] : [];
    return [...own, ...listKeys(schema.items, `${path}/*`)];
  }
  const below = schema.kind === 'object' ? Object.entries(schema.fields) : [];
  return below.flatMap(([name, field]) => listKeys(field, path === '' ? name : `${path}/${name}`));
}
