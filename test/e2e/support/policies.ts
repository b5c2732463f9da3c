// Applies policies for a test of admission, and waits until the webhook judges by them.
import { randomUUID } from 'node:crypto';
import { kubectl, mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';
import { policy, type WrittenObject } from './objects.ts';

/** Settled once the webhook judges by them; the prefix is for the names of what it takes to find that out. */
export async function applyPolicies(
  prefix: string,
  policies: readonly WrittenObject[],
  administrator: KubectlOptions,
): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: policies };
  await mustKubectl(['apply', '-f', '-'], { ...administrator, input: JSON.stringify(list) });
  await policiesInForce(prefix, administrator);
}

/** Whatever was written to policies before is in force when it is settled: a watch keeps the order of the writes. */
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
