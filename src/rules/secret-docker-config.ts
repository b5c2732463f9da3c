// secrets.dockerConfig: image pull Secrets must be readable and list only allowed registries.
import { compileGlob } from '../cel/regex.ts';
import { alternatives, quoted } from '../base/text.ts';
import { list, object, text, type Infer } from '../schema/schema.ts';
import { everyOperation, ruleForm, type ExampleWrite, type RuleViolation, type Rule } from './rule.ts';
import { comparedNames, fingerprintOf, secretType, secretValue } from './secret-values.ts';
import { isJsonObject } from '../base/json.ts';

// Returns the registries that a Docker configuration lists, as the kubelet reads it.

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** More registries than any cluster pulls from. Each registry costs time. */
const maxRegistries = 1000;

/**
 * Returns the hosts. A host is undefined if its entry is not a registry. The result is undefined if the text is not a Docker
 * configuration. `legacy` is the form of `.dockercfg`, which has the registries at the top level.
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
    const json = decoder.decode(bytes);
    const value: unknown = JSON.parse(json);
    // JavaScript keeps only the last of repeated keys, and Go merges them, so the text could hide registries from us.
    return isJsonObject(value) && !hasRepeatedKey(json) ? value : undefined;
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

/** https://kubernetes.io/docs/concepts/configuration/secret/#docker-config-secrets */
const keys = new Map([
  ['kubernetes.io/dockerconfigjson', '.dockerconfigjson'],
  ['kubernetes.io/dockercfg', '.dockercfg'],
]);

const field = object({
  description:
    'What Secrets of type kubernetes.io/dockerconfigjson and kubernetes.io/dockercfg must contain: a valid configuration that names only allowed registries. {} only requires a valid configuration.',
  fields: {
    allowedRegistries: list({
      description:
        'The hosts of the allowed registries, with the port if one is used; globs are allowed. Without it any registry is allowed. Example: ["registry.example.com", "*.corp.example.com", "localhost:5000"].',
      items: text({
        description: 'A registry.',
        maxLength: 261,
        pattern: '^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?(:[0-9*]{1,5})?$',
        accepted:
          'the host of a registry such as registry.example.com or localhost:5000, in small letters, without scheme and path; or a glob',
      }),
      minItems: 1,
      maxItems: 100,
      unique: 'set',
    }),
  },
});

export const secretDockerConfig = ruleForm({
  id: 'secrets.dockerConfig',
  judges: 'secrets',
  field,
  operations: everyOperation,
  compile: dockerConfigRule,
  examples: ({ allowedRegistries: [registry = 'registry.example.com'] = [] }) => ({
    writes: [registry.replaceAll('*', 'example'), 'another-registry.example.net'].map(registryExample),
  }),
});

function registryExample(host: string): ExampleWrite {
  const config = JSON.stringify({ auths: { [host]: {} } });
  return {
    title: `for registry ${host}`,
    object: { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': config } },
  };
}

function dockerConfigRule(spec: Infer<typeof field>): Rule {
  const allowed = spec.allowedRegistries?.map((registry) => compileGlob(registryHost(registry) ?? registry));
  const accepted = alternatives(spec.allowedRegistries ?? []);
  return {
    shape: 'state',
    graced: true,
    judge(secret, { budget }) {
      const key = keys.get(secretType(secret));
      if (key === undefined) return [];
      const value = secretValue(secret, key, budget);
      const path = `data[${JSON.stringify(key)}]`;
      const registries = value.kind === 'bytes' ? registriesOf(value.bytes, key === '.dockercfg') : undefined;
      if (registries === undefined) return [unreadable(path, value.kind, fingerprintOf(value))];
      // Without a list every entry is allowed, even when it is not a registry.
      if (allowed === undefined) return [];
      budget.spend((registries.length * allowed.length) >> 2);
      return registries
        .filter((host) => host === undefined || !allowed.some((glob) => glob.matches(host)))
        .map((host) => violation(path, host, accepted));
    },
    compared: (secret) => [comparedNames(secret, `in a Docker configuration: ${accepted || 'any registry'}`)],
  };
}

function unreadable(path: string, kind: string, identity: string): RuleViolation {
  const found = kind === 'absent' ? 'nothing' : 'something else';
  return {
    path,
    found,
    accepted: 'a Docker configuration in JSON form, each key once, with at most 1000 registries',
    identity,
  };
}

function violation(path: string, host: string | undefined, accepted: string): RuleViolation {
  if (host !== undefined) return { path, found: `registry ${quoted(host)}`, accepted, identity: host };
  // Only host names are shown. Other text could be part of a password in the wrong place.
  return { path, found: 'an entry that is not a registry', accepted, identity: undefined };
}
