// Writes the JSON of an output, with its version first.
import type { cliApiVersion } from '../../api/names.ts';

interface Output extends Readonly<Record<string, unknown>> {
  readonly apiVersion: typeof cliApiVersion;
  readonly kind: string;
}

/** `/schemas` has the schema of each kind. */
export function jsonText({ apiVersion, kind, ...rest }: Output): string {
  return `${JSON.stringify({ apiVersion, kind, ...rest }, undefined, 2)}\n`;
}
