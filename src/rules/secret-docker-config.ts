// secrets.dockerConfig: image pull Secrets must be readable and list only allowed registries.
import { compileGlob } from '../cel/patterns.ts';
import { alternatives, quoted } from '../base/text.ts';
import { list, object, text } from '../schema/build.ts';
import type { Infer } from '../schema/schema.ts';
import { everyOperation, ruleForm, type ExampleWrite, type RuleViolation, type Rule } from './rule.ts';
import { registriesOf, registryHost } from './docker-config.ts';
import { comparedNames, fingerprintOf, secretType, secretValue } from './secret-values.ts';

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
