// Checks the strength of an RSA key only where the policy has a minimum.
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
