// The rules on Secrets, each with a Secret that follows it and the message for one that violates it.
import { readFileSync } from 'node:fs';

type Texts = Readonly<Record<string, string>>;

export interface SecretSource {
  readonly type?: string;
  readonly annotations?: Texts;
  readonly stringData: Texts;
}

interface SecretCase {
  readonly what: string;
  readonly good: SecretSource;
  readonly bad: SecretSource;
  /** The texts of the refusal after the name of the policy. */
  readonly says: readonly string[];
}

/** A value that no message may contain, even about an invalid Secret that holds it. */
export const canary = 'ad-sr-canary-5f1';

export const secretRules = {
  forbiddenTypes: ['kubernetes.io/service-account-token'],
  maxBytes: 6000,
  tls: { keyMatchesCertificate: true, minRemaining: '168h', minRsaBits: 2048 },
  dockerConfig: { allowedRegistries: ['registry.example.com', '*.corp.example.com'] },
  defaults: {
    labels: { team: "${namespaceObject.metadata.labels['team']}" },
    annotations: { 'created-by': '${request.userInfo.username}' },
  },
};

const pem = (file: string): string => readFileSync(`test/fixtures/pki/${file}`, 'utf8');

const tls = (certificate: string, key: string): SecretSource => ({
  type: 'kubernetes.io/tls',
  stringData: { 'tls.crt': certificate, 'tls.key': key },
});

const docker = (...registries: readonly string[]): SecretSource => {
  const auths = Object.fromEntries(registries.map((name) => [name, { username: 'me', password: canary }]));
  return {
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
  };
};

export const secretCases: readonly SecretCase[] = [
  {
    what: 'type',
    good: { stringData: { a: canary } },
    bad: {
      type: 'kubernetes.io/service-account-token',
      annotations: { 'kubernetes.io/service-account.name': 'default' },
      stringData: { token: canary },
    },
    says: [
      'secrets.forbiddenTypes: type: found "kubernetes.io/service-account-token"; accepted: a type other than "kubernetes.io/service-account-token"',
    ],
  },
  {
    what: 'size',
    good: { stringData: { a: 'x'.repeat(6000) } },
    bad: { stringData: { a: canary.repeat(400), b: 'x' } },
    says: ['secrets.maxBytes: data: found 6401 bytes; accepted: at most 6000 bytes'],
  },
  {
    what: 'pair',
    good: tls(pem('good.crt'), pem('good.key')),
    bad: tls(pem('good.crt'), pem('other.key')),
    says: [
      'secrets.tls: data["tls.key"]: found the private key of another certificate; accepted: the private key of the certificate in tls.crt',
    ],
  },
  {
    what: 'age',
    good: tls(pem('ec.crt'), pem('ec.key')),
    bad: tls(pem('expiring.crt'), pem('expiring.key')),
    says: [
      'secrets.tls: data["tls.crt"]: found a certificate that expires at 2026-11-24T00:00:00.000Z; accepted: at least 168h left',
    ],
  },
  {
    what: 'strength',
    good: tls(pem('good.crt') + pem('ec.crt'), pem('good.key')),
    bad: tls(pem('weak.crt'), pem('weak.key')),
    says: ['secrets.tls: data["tls.crt"]: found an RSA key of 1024 bits; accepted: at least 2048 bits'],
  },
  {
    what: 'form',
    good: tls(`${pem('good.crt')}\n`, pem('good.key')),
    bad: tls(canary, canary),
    says: [
      'secrets.tls: data["tls.crt"]: found something else; accepted: a certificate in PEM form',
      'secrets.tls: data["tls.key"]: found something else; accepted: a private key in PEM form that is not encrypted',
    ],
  },
  {
    what: 'registry',
    good: docker('https://registry.example.com/v1/', 'a.corp.example.com'),
    bad: docker('registry.example.com', 'evil.example.net'),
    says: [
      'secrets.dockerConfig: data[".dockerconfigjson"]: found registry "evil.example.net"; accepted: registry.example.com or *.corp.example.com',
    ],
  },
];
