// Returns the registries that a Docker configuration lists, as the kubelet reads it.
import { isJsonObject } from '../base/json.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** More than any cluster pulls from. Each registry costs time. */
const maxRegistries = 1000;

/**
 * Returns the hosts, undefined for an entry that is not a registry; undefined when the text is not a Docker configuration.
 * `legacy` is the form of `.dockercfg`, which has the registries at the top level.
 */
export function registriesOf(bytes: Buffer, legacy: boolean): readonly (string | undefined)[] | undefined {
  const config = parse(bytes);
  if (config === undefined) return undefined;
  const maps = legacy ? [config] : sections(config);
  if (!maps.every(isJsonObject)) return undefined;
  const entries = maps.flatMap((map) => Object.keys(map));
  return entries.length > maxRegistries ? undefined : entries.map(registryHost);
}

/** `https://Registry.example.com:5000/v1/` -> `registry.example.com:5000` */
export function registryHost(entry: string): string | undefined {
  // The kubelet adds a scheme and parses a URL. Only host, port and path have one meaning for both parsers.
  const parts =
    /^(?:https?:\/\/)?((?:[a-z0-9*][a-z0-9*._-]*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)(?:\/[^\\@]*)?$/i.exec(
      entry,
    );
  return parts?.[1]?.toLowerCase();
}

/** Go matches field names in any case, so `Auths` is `auths`. https://pkg.go.dev/encoding/json#Unmarshal */
function sections(config: Readonly<Record<string, unknown>>): readonly unknown[] {
  const named = ['AUTHS', 'CREDHELPERS'];
  return Object.entries(config)
    .filter(([name, value]) => named.includes(name.toUpperCase()) && value !== null)
    .map(([, value]) => value);
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = decoder.decode(bytes);
    const value: unknown = JSON.parse(text);
    // JavaScript keeps only the last of repeated keys, and Go merges them, so the text could hide registries from us.
    return isJsonObject(value) && !hasRepeatedKey(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** JSON.parse accepts repeated keys in silence. The text must be valid JSON. */
export function hasRepeatedKey(json: string): boolean {
  const objects: (Set<string> | undefined)[] = [];
  for (const token of tokensOf(json)) {
    if (token === '{') objects.push(new Set());
    else if (token === '[') objects.push(undefined);
    else if (token === '}' || token === ']') objects.pop();
    else {
      const keys = objects.at(-1);
      const key = keyOf(token.slice(0, token.lastIndexOf('"') + 1));
      if (keys === undefined) continue;
      if (keys.has(key)) return true;
      keys.add(key);
    }
  }
  return false;
}

/** Without an escape, the key is the text between the quotes. */
function keyOf(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
}

/** Returns brackets, and strings before a colon. Strings that are values are skipped. */
function* tokensOf(json: string): Generator<string> {
  const pattern = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
  for (const match of json.matchAll(pattern)) {
    const [token, colon] = match;
    if (colon !== undefined || !token.startsWith('"')) yield token;
  }
}
