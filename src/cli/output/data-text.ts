// Writes an output for programs, as JSON or YAML with its version first.
import type { cliApiVersion } from '../../api/names.ts';
import { stringifyYaml } from '../../base/yaml.ts';

interface Output extends Readonly<Record<string, unknown>> {
  readonly apiVersion: typeof cliApiVersion;
  readonly kind: string;
}

/** `/schemas` has the schema of each kind. */
export function jsonText(output: Output): string {
  const text = JSON.stringify(inOrder(output), undefined, 2);
  return `${text.replaceAll(unprintable, escaped).replaceAll('##[', String.raw`#\u0023[`)}\n`;
}

export function yamlText(output: Output): string {
  return stringifyYaml(inOrder(output));
}

export function dataText(format: 'json' | 'yaml', output: Output): string {
  return format === 'json' ? jsonText(output) : yamlText(output);
}

/** JSON itself escapes only the other control characters. What is cleaned later would be another text. */
const unprintable = /[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}

function inOrder({ apiVersion, kind, ...rest }: Output): Output {
  return { apiVersion, kind, ...rest };
}
