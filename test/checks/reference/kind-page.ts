// Writes the reference page of a kind from its schema: each field with its value, limits, default and meaning.
import { ruleMessage } from '../../../src/schema/validate.ts';
import type { PrintColumn } from '../../../src/api/provider-fields.ts';
import type {
  IntegerSchema,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Schema,
  TextSchema,
} from '../../../src/schema/schema.ts';
import { anchor, code, page, prose, table } from './markdown.ts';

interface Kind {
  readonly title: string;
  readonly schemas: { readonly description: string; readonly spec: Schema; readonly status?: Schema };
  readonly columns: readonly PrintColumn[];
  /** What the page says beside the fields. */
  readonly see: string;
  /** Sections before the fields. */
  readonly tables?: readonly string[];
}

export function kindPage({ title, schemas, columns, see, tables = [] }: Kind): string {
  return page(title, [
    prose(schemas.description),
    see,
    ...tables,
    '## Fields',
    ...sectionsOf('spec', schemas.spec),
    ...statusSections(schemas.status),
    '## Columns of `kubectl get`',
    table(['Column', 'Meaning', 'Shown'], columns.map(columnRow)),
  ]);
}

function statusSections(status: Schema | undefined): readonly string[] {
  if (status === undefined) return [];
  return ['## Status', 'Reeve writes the status. Users only read it.', ...sectionsOf('status', status)];
}

function columnRow({ name, description, priority = 0 }: PrintColumn): readonly string[] {
  return [code(name.toUpperCase()), prose(description), priority > 0 ? 'with `-o wide`' : 'always'];
}

/** The section of an object, then those of the objects in its fields. */
function sectionsOf(path: string, schema: Schema): readonly string[] {
  const { object, suffix } = objectIn(schema);
  if (object === undefined) return [];
  const fields = Object.entries(object.fields);
  const rows = fields.map(([name, field]) => fieldRow(`${path}${suffix}.${name}`, name, field, object));
  return [
    `### ${code(path + suffix)}`,
    prose(object.description),
    ...(object.open ? ['Other fields of the object are allowed and kept.'] : []),
    table(['Field', 'Value', 'Default', 'Meaning'], rows),
    ...rulesOf(object),
    ...fields.flatMap(([name, field]) => sectionsOf(`${path}${suffix}.${name}`, field)),
  ];
}

function fieldRow(path: string, name: string, field: Schema, { required }: ObjectSchema): readonly string[] {
  const value = field.defaultValue;
  const isRequired = required.includes(name);
  return [
    code(name),
    valueOf(path, field),
    value === undefined ? (isRequired ? 'required' : '') : code(JSON.stringify(value)),
    field.kind === 'object'
      ? prose(firstSentence(field.description))
      : [meaning(field.description), ...innerRules(field)].join(' '),
  ];
}

/** The rest stands in the section of the object. */
function firstSentence(description: string): string {
  return description.split(/(?<=\.) /, 1)[0] ?? '';
}

/** Examples are code; the column of defaults holds the default. */
function meaning(description: string): string {
  const [, text = description, example] =
    /^(.*?)(?: Example: (.*?)\.)?(?: Default: .*\.)?$/s.exec(description) ?? [];
  return example === undefined ? prose(text) : `${prose(text)} Example: ${code(example)}`;
}

function rulesOf({ rules = [] }: Schema): readonly string[] {
  return rules.length === 0 ? [] : [rules.map((rule) => `- ${ruleText(ruleMessage(rule))}`).join('\n')];
}

/** The rules of a field that has no section of its own. */
function innerRules(field: Schema): readonly string[] {
  const own = field.kind === 'object' ? [] : (field.rules ?? []);
  const ofItems = field.kind === 'list' && field.items.kind !== 'object' ? (field.items.rules ?? []) : [];
  return [...own, ...ofItems].map((rule) => ruleText(ruleMessage(rule)));
}

function ruleText(message: string): string {
  return `M${prose(message).slice(1)}.`;
}

function valueOf(path: string, schema: Schema): string {
  switch (schema.kind) {
    case 'text':
      return textValue(schema);
    case 'integer':
      return integerValue(schema);
    case 'boolean':
      return '`true` or `false`';
    case 'list':
      return listValue(path, schema);
    case 'map':
      return mapValue(path, schema);
    case 'object':
      return `[object](${anchor(path)})`;
  }
}

function textValue({ values, accepted, minLength = 0, maxLength }: TextSchema): string {
  if (values !== undefined) return values.map(code).join(', ');
  const kind = accepted === undefined ? 'text' : prose(accepted);
  return `${kind}; ${minLength > 1 ? `${minLength} to` : 'at most'} ${maxLength} characters`;
}

function integerValue({ minimum, maximum }: IntegerSchema): string {
  return `whole number from ${minimum} to ${maximum}`;
}

function listValue(path: string, { items, minItems = 0, maxItems, unique }: ListSchema): string {
  const size = minItems === 0 ? `at most ${maxItems}` : `${minItems} to ${maxItems}`;
  const distinct =
    unique === 'set'
      ? ', all different'
      : unique === undefined
        ? ''
        : `, each with another ${code(unique.key)}`;
  return `list (${size}${distinct}) of: ${valueOf(path, items)}`;
}

function mapValue(path: string, { keys, values, maxProperties }: MapSchema): string {
  const key = keys.accepted === undefined ? 'text' : prose(keys.accepted);
  return `map (at most ${maxProperties} keys) from: ${key}; to: ${valueOf(path, values)}`;
}

/** The object that a field holds: itself, or in each item of a list or map. */
function objectIn(schema: Schema): { readonly object?: ObjectSchema; readonly suffix: string } {
  if (schema.kind === 'object') return { object: schema, suffix: '' };
  if (schema.kind === 'list' && schema.items.kind === 'object') return { object: schema.items, suffix: '[]' };
  if (schema.kind === 'map' && schema.values.kind === 'object')
    return { object: schema.values, suffix: '.*' };
  return { suffix: '' };
}
