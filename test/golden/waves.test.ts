// What `reeve plan` and `reeve explain` say of enforced values that move in waves.
import { expect, test } from 'vitest';
import { aNamespace, namespacePolicy, planObjects } from '../support/plan-command.ts';
import { runCommand } from '../support/run-command.ts';

const key = 'istio.io/rev';
const policy = namespacePolicy('mesh', {
  match: { names: ['mesh-*'] },
  existing: 'Repair',
  namespaces: { enforced: { labels: { [key]: '1-22' }, waves: { percent: 50 } } },
});
const namespaces = ['mesh-a', 'mesh-b'].map((name) => aNamespace(name, { [key]: '1-20' }));
const install = `--enforced-key=${key}`;

test('a plan names the waves, and each namespace that waits for its own', async () => {
  const { stdout } = await planObjects([policy], namespaces, install);
  expect(stdout).toContain(
    'NamespacePolicy/mesh moves enforced values in waves: 50 percent of the namespaces at a time',
  );
  expect(stdout).toContain(`2 namespaces: mesh-a, mesh-b
  ! kept  Namespace/<namespace>  NamespacePolicy/mesh
      label ${key} is "1-20" and not "1-22", until its wave begins
`);
});

const explained = async (...args: readonly string[]): Promise<string> => {
  const stdin = [policy, ...namespaces].map((each) => JSON.stringify(each)).join('\n---\n');
  return (await runCommand(['explain', ...args, '-f', '-', install], { stdin })).stdout;
};

test('an explanation of a namespace says that its value waits for a wave', async () => {
  expect(await explained('namespace/mesh-a')).toContain(
    `NamespacePolicy/mesh: label ${key} is "1-20" and not "1-22", until its wave begins`,
  );
});

test('an explanation of the policy says that no wave has begun', async () => {
  expect(await explained('policy/mesh')).toContain('no wave of its enforced values has begun');
});
