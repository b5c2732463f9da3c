// Makes the authorities that replicas share, and the serving certificates that those sign.
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
  /** Undefined when this authority cannot sign. */
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
        // Somebody has put one of their own into the Secret: it looks right, but a certificate of it fails its check.
        return undefined;
      }
    },
  };
}
