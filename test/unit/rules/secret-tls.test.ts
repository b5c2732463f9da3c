// Minimums of a certificate: the bits of its RSA key, where the policy has such a minimum, and the time that it has left.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unlimitedBudget } from '../../../src/policy/terms/budget.ts';
import type { RuleContext } from '../../../src/rules/rule.ts';
import { secretTlsRule } from '../../../src/rules/secret-tls.ts';

const data = { 'tls.crt': readFileSync('test/fixtures/pki/weak.crt').toString('base64') };
const metadata = { name: 's' };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data };

test.each([
  ['no minimum', {}, 0],
  ['a minimum of 1024 bits', { minRsaBits: 1024 }, 0],
  ['a minimum of 2048 bits', { minRsaBits: 2048 }, 1],
] as const)('a key of 1024 bits under %s: %o gives %i violations', (_name, minimum, violations) => {
  const rule = secretTlsRule({ keyMatchesCertificate: false, ...minimum });
  if (rule.shape !== 'state') throw new Error('a rule of states is expected');
  // The rule reads only the time and the budget.
  const context = { now: new Date(0), budget: unlimitedBudget } as unknown as RuleContext;
  expect(rule.judge(secret, context)).toHaveLength(violations);
});

test.for([
  ['exactly one hour', 0, 0],
  ['a millisecond less than one hour', 1, 1],
] as const)('a certificate that is valid for %s is judged by a minimum of 1h', ([, lateMs, violations]) => {
  const rule = secretTlsRule({ keyMatchesCertificate: false, minRemaining: '1h' });
  if (rule.shape !== 'state') throw new Error('a rule of states is expected');
  const end = new X509Certificate(Buffer.from(data['tls.crt'], 'base64')).validToDate.getTime();
  const context = { now: new Date(end - 3_600_000 + lateMs), budget: unlimitedBudget };
  expect(rule.judge(secret, context as unknown as RuleContext)).toHaveLength(violations);
});
