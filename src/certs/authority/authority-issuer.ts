// Issues the shared authorities, and the serving certificates that they sign.
import { authorityOf, type Authority } from './authority-state.ts';
import { issueAuthority, issueServing } from '../issue/issue.ts';
import { servingNames } from '../issue/names.ts';
import { parseServingPair, type ServingPair } from '../files/serving-pair.ts';

export interface IssuerSettings {
  readonly namespace: string;
  readonly serviceName: string;
  /** In milliseconds, as the next one. */
  readonly caLifetime: number;
  readonly certLifetime: number;
}

export interface AuthorityIssuer {
  authority(now: number): Promise<Authority>;
  /** Returns undefined when this authority cannot sign. */
  serving(signer: Authority, now: number): Promise<ServingPair | undefined>;
}

export function authorityIssuer(settings: IssuerSettings): AuthorityIssuer {
  const { namespace, serviceName, caLifetime, certLifetime } = settings;
  const names = servingNames(namespace, [`${serviceName}.${namespace}.svc`]);
  return {
    authority: async (now) => authorityOf(await issueAuthority(caLifetime, new Date(now))),
    serving: async (signer, now) => {
      try {
        const { certPem, keyPem } = await issueServing(signer, names, certLifetime, new Date(now));
        const reading = parseServingPair(certPem, keyPem, { cert: 'memory', key: 'memory' }, new Date(now));
        return reading.ok ? reading.value : undefined;
      } catch {
        // A stranger may have written this authority into the Secret. It parses, but its certificates fail their check.
        return undefined;
      }
    },
  };
}
