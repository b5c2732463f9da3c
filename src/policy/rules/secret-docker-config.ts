// secrets.dockerConfig: image pull Secrets must be readable and list only allowed registries.
import type { DockerConfigRule } from '../../api/namespace-policy/namespace-policy.ts';
import { compileGlob } from '../../cel/patterns.ts';
import { alternatives, quoted } from '../../base/text.ts';
import type { RuleViolation, Rule } from './rule.ts';
import { registriesOf, registryHost } from './docker-config.ts';
import { fingerprintOf, secretType, secretValue } from './secret-values.ts';

/** https://kubernetes.io/docs/concepts/configuration/secret/#docker-config-secrets */
const keys = new Map([
  ['kubernetes.io/dockerconfigjson', '.dockerconfigjson'],
  ['kubernetes.io/dockercfg', '.dockercfg'],
]);

export function secretDockerConfigRule(spec: DockerConfigRule): Rule {
  const allowed = spec.allowedRegistries?.map((registry) => compileGlob(registryHost(registry) ?? registry));
  const accepted = alternatives(spec.allowedRegistries ?? []);
  return {
    shape: 'state',
    id: 'secrets.dockerConfig',
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
