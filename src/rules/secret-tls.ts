// secrets.tls: key and certificate of a kubernetes.io/tls Secret must match, remain valid and be strong enough.
import { X509Certificate, createPrivateKey, type KeyObject } from 'node:crypto';
import { parseDuration } from '../base/time.ts';
import type { Work } from '../cel/expression.ts';
import type { KubeObject } from '../base/metadata.ts';
import { boolean, integer, object, withDefault, type Infer } from '../schema/schema.ts';
import { duration } from '../schema/common-fields.ts';
import { everyOperation, ruleForm, type RuleViolation, type Rule } from './rule.ts';
import { comparedNames, fingerprintOf, secretType, secretValue, type SecretValue } from './secret-values.ts';

// Reads the certificate and the private key of a kubernetes.io/tls Secret. Parser errors stay in this file.

/** Enough for a certificate with a thousand names, and for a key of 16384 bits. */
const maxCertificateLength = 65_536;
const maxKeyLength = 16_384;

/** Returns the first certificate, which is the server's own. The others are its chain. */
export function readCertificate(value: SecretValue): X509Certificate | undefined {
  const block = pemBlock(
    value,
    /^-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/m,
    maxCertificateLength,
  );
  if (block === undefined) return undefined;
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}

/** Returns the private key, if it is of a kind that TLS uses and not encrypted. */
export function readPrivateKey(value: SecretValue): KeyObject | undefined {
  const block = pemBlock(
    value,
    /^-----BEGIN ([A-Z]+ )?PRIVATE KEY-----[^-]+-----END \1?PRIVATE KEY-----/m,
    maxKeyLength,
  );
  if (block === undefined || !isServingKey(block)) return undefined;
  try {
    return createPrivateKey(block);
  } catch {
    return undefined;
  }
}

function pemBlock(value: SecretValue, block: RegExp, maxLength: number): string | undefined {
  if (value.kind !== 'bytes') return undefined;
  const found = block.exec(value.bytes.toString('latin1'))?.[0];
  return found !== undefined && found.length <= maxLength ? found : undefined;
}

/** The object identifiers, in DER, of RSA, RSA-PSS, elliptic curves, Ed25519 and Ed448 (RFC 8017, 5480 and 8410). */
const servingAlgorithms = [
  '06092a864886f70d010101',
  '06092a864886f70d01010a',
  '06072a8648ce3d0201',
  '06032b6570',
  '06032b6571',
];

/**
 * Checks the kind before the key is parsed, because parsing some kinds computes for minutes: for DSA and
 * Diffie-Hellman the public key is derived from numbers of any size in the text.
 */
function isServingKey(pem: string): boolean {
  if (pem.startsWith('-----BEGIN RSA ') || pem.startsWith('-----BEGIN EC ')) return true;
  if (!pem.startsWith('-----BEGIN PRIVATE KEY-----')) return false;
  const algorithm = algorithmOf(Buffer.from(pem.split('-----')[2] ?? '', 'base64'));
  return algorithm !== undefined && servingAlgorithms.includes(algorithm);
}

/** Reads PrivateKeyInfo (RFC 5208): a sequence of the version, and of a sequence with the identifier. */
function algorithmOf(der: Buffer): string | undefined {
  const version = contentOf(der, 0, 0x30);
  if (version === undefined || der[version] !== 0x02 || der[version + 1] !== 0x01) return undefined;
  const identifier = contentOf(der, version + 3, 0x30);
  if (identifier === undefined || der[identifier] !== 0x06) return undefined;
  return der.toString('hex', identifier, identifier + 2 + (der[identifier + 1] ?? 0));
}

/** Returns the offset of the content of the element; undefined when its tag is another one. */
function contentOf(der: Buffer, start: number, tag: number): number | undefined {
  if (der[start] !== tag) return undefined;
  const length = der[start + 1] ?? 0;
  // For a length above 127, the low bits are the number of further length bytes.
  return length < 0x80 ? start + 2 : start + 2 + (length & 0x7f);
}

const certificatePath = 'data["tls.crt"]';
/** The price of reading and comparing a certificate and a key, which takes 0.1 ms. */
const pairUnits = 1000;
const keyPath = 'data["tls.key"]';

const field = object({
  description:
    'What Secrets of type kubernetes.io/tls must contain. The key and the certificate never leave the webhook, not even in a message.',
  fields: {
    keyMatchesCertificate: withDefault(
      boolean('Whether tls.key must be the private key of the first certificate in tls.crt. Default: false.'),
      false,
    ),
    minRemaining: duration(
      'How long the certificate must still be valid when the Secret is written, in hours, minutes and seconds. Example: 168h.',
    ),
    minRsaBits: integer({
      description:
        'The minimum number of bits of an RSA key. Other kinds of keys are not checked. Example: 2048.',
      minimum: 1024,
      maximum: 16_384,
    }),
  },
});

type TlsRule = Infer<typeof field>;

export const secretTls = ruleForm({
  id: 'secrets.tls',
  judges: 'secrets',
  field,
  operations: everyOperation,
  compile: secretTlsRule,
  examples: () => ({
    writes: [
      {
        title: 'without a certificate',
        object: { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'example', 'tls.key': 'example' } },
      },
    ],
  }),
});

export function secretTlsRule(spec: TlsRule): Rule {
  return {
    shape: 'state',
    graced: true,
    judge: (secret, { now, budget }) =>
      secretType(secret) === 'kubernetes.io/tls' ? judgePair(spec, secret, now, budget) : [],
    compared: (secret) => [comparedNames(secret, 'in a Secret of type kubernetes.io/tls: a valid pair')],
  };
}

function judgePair(spec: TlsRule, secret: KubeObject, now: Date, budget: Work): readonly RuleViolation[] {
  budget.spend(pairUnits);
  const certificateValue = secretValue(secret, 'tls.crt', budget);
  const certificate = readCertificate(certificateValue);
  const identity = fingerprintOf(certificateValue);
  return [
    ...(certificate === undefined
      ? [unreadable(certificatePath, certificateValue, 'a certificate in PEM form')]
      : [
          ...judgeRemaining(spec.minRemaining, certificate, now, identity),
          ...judgeStrength(spec.minRsaBits, certificate, identity),
        ]),
    ...(spec.keyMatchesCertificate
      ? judgeKey(certificate, certificateValue, secretValue(secret, 'tls.key', budget))
      : []),
  ];
}

function judgeKey(
  certificate: X509Certificate | undefined,
  certificateValue: SecretValue,
  keyValue: SecretValue,
): readonly RuleViolation[] {
  const key = readPrivateKey(keyValue);
  if (key === undefined) {
    return [unreadable(keyPath, keyValue, 'a private key in PEM form that is not encrypted')];
  }
  if (certificate === undefined || certificate.checkPrivateKey(key)) return [];
  const found = 'the private key of another certificate';
  const accepted = 'the private key of the certificate in tls.crt';
  return [{ path: keyPath, found, accepted, identity: fingerprintOf(certificateValue, keyValue) }];
}

function judgeRemaining(
  minRemaining: string | undefined,
  certificate: X509Certificate,
  now: Date,
  identity: string,
): readonly RuleViolation[] {
  if (minRemaining === undefined) return [];
  const notAfter = certificate.validToDate;
  if (notAfter.getTime() - now.getTime() >= (parseDuration(minRemaining) ?? 0)) return [];
  const found = `a certificate that expires at ${notAfter.toISOString()}`;
  return [{ path: certificatePath, found, accepted: `at least ${minRemaining} left`, identity }];
}

/** Checks RSA only: keys of other kinds, such as ECDSA, are strong with far fewer bits. */
function judgeStrength(
  minRsaBits: number | undefined,
  certificate: X509Certificate,
  identity: string,
): readonly RuleViolation[] {
  if (minRsaBits === undefined) return [];
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
  const isRsa = asymmetricKeyType === 'rsa' || asymmetricKeyType === 'rsa-pss';
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  if (!isRsa || bits >= minRsaBits) return [];
  const found = `an RSA key of ${bits} bits`;
  return [{ path: certificatePath, found, accepted: `at least ${minRsaBits} bits`, identity }];
}

function unreadable(path: string, value: SecretValue, accepted: string): RuleViolation {
  const isEmpty = value.kind === 'absent' || (value.kind === 'bytes' && value.bytes.length === 0);
  return { path, found: isEmpty ? 'nothing' : 'something else', accepted, identity: fingerprintOf(value) };
}
