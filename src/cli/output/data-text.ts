// Writes an output for programs, as JSON or YAML with its version first.
import type { cliApiVersion } from '../../schema/names.ts';
import { escapedInQuotes } from '../../base/text.ts';
import { stringifyYaml } from '../../base/yaml.ts';

interface Output extends Readonly<Record<string, unknown>> {
  readonly apiVersion: typeof cliApiVersion;
  readonly kind: string;
}

/** `/schemas` has the schema of each kind. */
export function jsonText(output: Output): string {
  return printableJson(inOrder(output));
}

export function printableJson(value: unknown): string {
  return `${escapedInQuotes(JSON.stringify(value, undefined, 2).replaceAll(invisible, escaped))}\n`;
}

export function yamlText(output: Output): string {
  return stringifyYaml(inOrder(output));
}

export function dataText(format: 'json' | 'yaml', output: Output): string {
  return format === 'json' ? jsonText(output) : yamlText(output);
}

const invisible = /\p{Cf}/gu;

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}

function inOrder({ apiVersion, kind, ...rest }: Output): Output {
  return { apiVersion, kind, ...rest };
}
