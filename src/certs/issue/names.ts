// Lists the DNS names and addresses in the webhook's serving certificate.
import { isIP } from 'node:net';
import { isNamespaceName as isDnsLabel } from '../../base/kubernetes-names.ts';

export interface ServingNames {
  readonly dns: readonly string[];
  readonly ips: readonly string[];
}

/** The name of the Service and, as subject, of the serving certificate. */
export const serviceName = 'reeve-webhook';

/**
 * The API server calls `<service>.<namespace>.svc`, whatever address that leads to:
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference
 * The other names are for people and tests; the addresses for a `url` on the same machine.
 */
export function servingNames(namespace: string, extraNames: readonly string[]): ServingNames {
  if (!isDnsLabel(namespace)) throw new RangeError('the namespace is not an RFC 1123 label');
  const service = `${serviceName}.${namespace}`;
  const own = [serviceName, service, `${service}.svc`, `${service}.svc.cluster.local`, 'localhost'];
  const extra = extraNames.map((name) => name.toLowerCase());
  const extraDns = extra.filter((name) => isIP(name) === 0);
  if (!extraDns.every(isDnsName)) throw new RangeError('an extra name is neither a DNS name nor an address');
  const extraIps = extra.filter((name) => isIP(name) !== 0);
  return { dns: unique([...own, ...extraDns]), ips: unique(['127.0.0.1', '::1', ...extraIps]) };
}

/** Refuses wildcards, because no caller of the webhook needs one. */
function isDnsName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((part) => isDnsLabel(part));
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
