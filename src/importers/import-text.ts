// Writes the result of an import: our objects as YAML, and as comments their origin, the steps, and what is lost.
import { clipped } from '../base/text.ts';
import { stringifyYaml } from '../base/yaml.ts';
import type { ImportOrigin, ImportOutput, LostField } from '../inspect/output-schemas/import-output.ts';
import { idOf } from './tool-object.ts';

/** Longer than any step. Names of the input must not end a comment. */
const maxLine = 2000;

/** `kubectl apply -f` takes this text. */
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

function originText({ object, path, file, line }: ImportOrigin): string {
  const place = file === undefined ? '' : ` (${file}:${line ?? 1})`;
  return `${idOf(object)}${path === undefined ? '' : `, ${path}`}${place}`;
}

/** A reason that many places share is written once, with the first of them. */
const maxPlaces = 3;

function lostLines(lost: readonly LostField[]): readonly string[] {
  const groups = Map.groupBy(lost, ({ why, instead }) => JSON.stringify([why, instead]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const places = group.slice(0, maxPlaces).map(({ from }) => originText(from));
    const more = group.length > maxPlaces ? [`and ${group.length - maxPlaces} more (-o json lists all)`] : [];
    const { why, instead } = first;
    return [
      `- ${[...places, ...more].join('; ')}: ${why}${instead === undefined ? '' : `; instead, ${instead}`}`,
    ];
  });
}
