// Checks a value against a JSON Schema, as far as /schemas uses the language.
import { isJsonObject, ownMember } from '../../src/base/json.ts';

/** The paths of the values that break the schema, each with the keyword. */
export function schemaProblems(schema: unknown, value: unknown, path = '$'): readonly string[] {
  const keyword = (name: string): unknown => ownMember(schema, name);
  const problem = (name: string, isGood: boolean): readonly string[] => (isGood ? [] : [`${path}: ${name}`]);
  const values = keyword('enum');
  const pattern = keyword('pattern');
  const maxLength = keyword('maxLength');
  return [
    ...problem('type', hasType(keyword('type'), value)),
    ...problem('enum', !Array.isArray(values) || values.includes(value)),
    ...problem('pattern', typeof pattern !== 'string' || new RegExp(pattern, 'u').test(String(value))),
    ...problem('maxLength', typeof maxLength !== 'number' || String(value).length <= maxLength),
    ...problem('minimum', !(Number(keyword('minimum')) > Number(value))),
    ...(Array.isArray(value)
      ? value.flatMap((item, index) => schemaProblems(keyword('items'), item, `${path}[${index}]`))
      : []),
    ...(isJsonObject(value) ? fieldProblems(schema, value, path) : []),
  ];
}

function fieldProblems(schema: unknown, value: Readonly<Record<string, unknown>>, path: string) {
  const required = ownMember(schema, 'required');
  const properties = ownMember(schema, 'properties');
  const others = ownMember(schema, 'additionalProperties');
  const missing = (Array.isArray(required) ? required : []).filter(
    (name) => !Object.hasOwn(value, String(name)),
  );
  return [
    ...missing.map((name) => `${path}: required ${String(name)}`),
    ...Object.entries(value).flatMap(([name, field]) => {
      const known = ownMember(properties, name);
      if (known !== undefined) return schemaProblems(known, field, `${path}.${name}`);
      if (others === false) return [`${path}: unknown ${name}`];
      return others === undefined ? [] : schemaProblems(others, field, `${path}.${name}`);
    }),
  ];
}

function hasType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return type === undefined || typeof value === type;
  }
}
