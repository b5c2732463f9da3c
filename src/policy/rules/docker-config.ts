// Finds the registries that a Docker configuration names, as the kubelet will read it.
import { isJsonObject } from '../../base/json.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Nobody pulls from more, and each one costs time. */
const mostRegistries = 1000;

/**
 * The hosts (undefined for an entry that is none), or undefined when the text is no Docker configuration.
 * `legacy` is the form of `.dockercfg`, where the registries stand at the top.
 */
export function registriesOf(bytes: Buffer, legacy: boolean): readonly (string | undefined)[] | undefined {
  const config = parse(bytes);
  if (config === undefined) return undefined;
  const maps = legacy ? [config] : sections(config);
  if (!maps.every(isJsonObject)) return undefined;
  const entries = maps.flatMap((map) => Object.keys(map));
  return entries.length > mostRegistries ? undefined : entries.map(registryHost);
}

/** `https://Registry.example.com:5000/v1/` -> `registry.example.com:5000` */
export function registryHost(entry: string): string | undefined {
  // The kubelet adds a scheme and parses a URL; what is not plainly host, port and path could mean two things.
  const parts =
    /^(?:https?:\/\/)?((?:[a-z0-9*][a-z0-9*._-]*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)(?:\/[^\\@]*)?$/i.exec(
      entry,
    );
  return parts?.[1]?.toLowerCase();
}

/** Go matches the names of fields in any case, so `Auths` is `auths`; the letters are folded as Go does. */
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
    // Of a repeated key JavaScript keeps the last and Go merges all, so such a text would hide registries from us.
    return isJsonObject(value) && !hasRepeatedKey(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The text must be valid JSON: it has been parsed before. */
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

/** Only an escape makes a key differ from how it is written. */
function keyOf(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
}

/** Brackets, and strings that a colon follows; a string that is a value is passed over. */
function* tokensOf(json: string): Generator<string> {
  const pattern = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
  for (const match of json.matchAll(pattern)) {
    const [token, colon] = match;
    if (colon !== undefined || !token.startsWith('"')) yield token;
  }
}
