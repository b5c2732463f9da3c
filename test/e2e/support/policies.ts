// Applies policies for a test of admission, and waits until the webhook enforces them.
import { randomUUID } from 'node:crypto';
import { kubectl, mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';
import { policy, type WrittenObject } from './objects.ts';

/** Resolves once the webhook enforces the policies. The prefix is for the names of the probe objects. */
export async function applyPolicies(
  prefix: string,
  policies: readonly WrittenObject[],
  administrator: KubectlOptions,
): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: policies };
  await mustKubectl(['apply', '-f', '-'], { ...administrator, input: JSON.stringify(list) });
  await policiesInForce(prefix, administrator);
}

/** Resolves once all policies written before are in force. It writes one more policy: a watch keeps the order of writes. */
export async function policiesInForce(prefix: string, administrator: KubectlOptions): Promise<void> {
  const name = `${prefix}canary`;
  const message = randomUUID();
  const never = { name: 'never', expression: 'false', message };
  const canary = policy(name, { match: { names: [name] }, validations: [never] });
  await mustKubectl(['apply', '-f', '-'], { ...administrator, input: JSON.stringify(canary) });
  let last = '';
  await until(
    async () => {
      last = (await kubectl(['create', 'namespace', name, '--dry-run=server'], administrator)).stderr;
      return last.includes(message);
    },
    () => `the policy ${name} in force: ${last}`,
  );
}
