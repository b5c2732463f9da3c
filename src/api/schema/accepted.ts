// What a schema accepts, in words.
import { clipped } from '../text.ts';
import type { IntegerSchema, ListSchema, ObjectSchema, Schema, TextSchema } from './schema.ts';

export function describeSchema(schema: Schema): string {
  switch (schema.kind) {
    case 'text':
      return describeText(schema);
    case 'integer':
      return describeInteger(schema);
    case 'boolean':
      return 'true or false';
    case 'list':
      return describeList(schema);
    case 'map':
      return `a map of at most ${schema.maxProperties} keys`;
    case 'object':
      return describeObject(schema);
  }
}

function describeText(schema: TextSchema): string {
  if (schema.values !== undefined) return oneOf(schema.values);
  if (schema.accepted !== undefined) return schema.accepted;
  return (schema.minLength ?? 0) > 0 ? 'text that is not empty' : 'text';
}

function describeObject({ open, required, fields }: ObjectSchema): string {
  if (open) return 'an object';
  return `${required.length === 0 ? '{} or ' : ''}an object with ${fieldNames(fields)}`;
}

function describeInteger({ minimum, maximum }: IntegerSchema): string {
  return `a whole number from ${minimum} to ${maximum}`;
}

function describeList({ minItems, maxItems }: ListSchema): string {
  return minItems === undefined ? 'a list' : `a list of ${minItems} to ${maxItems}`;
}

/** `a, b or c` */
export function oneOf(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

export function fieldNames(fields: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields);
  return names.length === 0 ? 'no fields' : names.join(', ');
}

/** For an unknown field: what there is, and which of it was probably meant. */
export function describeFields(fields: Readonly<Record<string, unknown>>, given: string): string {
  const near = nearest(clipped(given), Object.keys(fields));
  return near === undefined ? fieldNames(fields) : `${fieldNames(fields)} (did you mean ${near}?)`;
}

function nearest(given: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(given.length / 3));
  const ranked = known
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.name;
}

/** Levenshtein's distance, one row at a time; a swap of two neighbors counts as two changes. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
