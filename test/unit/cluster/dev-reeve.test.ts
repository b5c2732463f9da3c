// The cluster for people runs Reeve with the kinds and adapters that its accounts have rights for.
import { expect, test } from 'vitest';
import { reeveArguments } from '../../cluster/dev-reeve.ts';

test('Reeve from source allows the kinds of the adapters, each once, as the shipped install does', () => {
  const args = reeveArguments({ kubeconfig: 'k', port: 1, probesPort: 2 });
  expect(args.filter((argument) => argument.endsWith('/NetworkPolicy'))).toHaveLength(1);
  expect(args).toContain('--resource-kind=security.kubearmor.com/v1/KubeArmorPolicy');
  expect(args).toContain('--intent-adapter=kubearmor');
  expect(args.filter((argument) => argument.startsWith('--role='))).toEqual(['--role=all']);
});
