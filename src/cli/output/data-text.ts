// Writes an output for programs, as JSON or YAML with its version first.
import type { cliApiVersion } from '../../api/names.ts';
import { stringifyYaml } from '../../base/yaml.ts';

interface Output extends Readonly<Record<string, unknown>> {
  readonly apiVersion: typeof cliApiVersion;
  readonly kind: string;
}

/** `/schemas` has the schema of each kind. */
export function jsonText(output: Output): string {
  return `${JSON.stringify(inOrder(output), undefined, 2)}\n`;
}

export function yamlText(output: Output): string {
  return stringifyYaml(inOrder(output));
}

export function dataText(format: 'json' | 'yaml', output: Output): string {
  return format === 'json' ? jsonText(output) : yamlText(output);
}

function inOrder({ apiVersion, kind, ...rest }: Output): Output {
  return { apiVersion, kind, ...rest };
}
