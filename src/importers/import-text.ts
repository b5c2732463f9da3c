// Writes the result of an import: our objects as YAML, and as comments their origin, the steps, and what is lost.
import { clipped } from '../base/text.ts';
import { stringifyYaml } from '../base/yaml.ts';
import type { ImportOrigin, ImportOutput, LostField } from '../inspect/output-schemas/import-output.ts';
import { idOf } from './reader.ts';

/** Longer than any step or loss. Names of the input must not end a comment. */
const maxLine = 100_000;

/** The text is valid input for `kubectl apply -f`. */
export function importText({ objects, steps, notes, lost }: ImportOutput): string {
  const documents = objects.map(({ from, object }) =>
    [...from.map((each) => comment(`from ${originText(each)}`)), stringifyYaml(object)].join(''),
  );
  const sections = [
    ...section(
      'Steps, in this order:',
      steps.map((step, index) => `${index + 1}. ${step}`),
    ),
    ...section(
      'Notes:',
      notes.map((note) => `- ${note}`),
    ),
    ...section(`Not carried over (${lost.length}):`, lostLines(lost)),
  ];
  return [...documents, sections.map(comment).join('')].join('---\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function comment(text: string): string {
  return `# ${clipped(text, maxLine)}\n`;
}

/** Example: `Tenant/oil, spec.a, spec.b (tenants.yaml:3)`. */
function originText({ object, path, file, line }: ImportOrigin, paths = path === undefined ? [] : [path]) {
  const place = file === undefined ? '' : ` (${file}:${line ?? 1})`;
  return `${[idOf(object), ...paths].join(', ')}${place}`;
}

/** A reason that many objects share is written once, with the first objects and every field. */
const maxObjects = 3;

function lostLines(lost: readonly LostField[]): readonly string[] {
  const groups = Map.groupBy(lost, ({ why, instead }) => JSON.stringify([why, instead]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { why, instead } = first;
    const places = placesText(group.map(({ from }) => from));
    return [`- ${places}: ${why}${instead === undefined ? '' : `; instead, ${instead}`}`];
  });
}

function placesText(origins: readonly ImportOrigin[]): string {
  const objects = Map.groupBy(origins, ({ path: _path, ...object }) => JSON.stringify(object));
  const named = new Set<string | undefined>();
  const shown = [...objects.values()].filter((each, index) => {
    const isNamed = each.every(({ path }) => named.has(path));
    for (const { path } of each) named.add(path);
    return index < maxObjects || !isNamed;
  });
  const left = objects.size - shown.length;
  const more = `and ${left} more object${left === 1 ? '' : 's'} with such fields (-o json lists all)`;
  return [...shown.flatMap(placeText), ...(left === 0 ? [] : [more])].join('; ');
}

/** Returns all fields of one object. */
function placeText(origins: readonly ImportOrigin[]): readonly string[] {
  const paths = origins.flatMap(({ path }) => path ?? []);
  return origins.slice(0, 1).map((origin) => originText(origin, paths));
}
