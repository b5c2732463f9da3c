// A namespace with an exception lacks a content until the exception ends, and its owners see why.
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { namespaceObject, policy, roleBinding } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

describeCluster('an exception from a content', () => {
  const stage = new Stage(sharedCluster(), 'ce-');
  const bindings = async (): Promise<readonly string[]> => {
    const list = ['get', 'rolebindings', '-A', '-l=reeve.dev/namespacepolicy=ce-policy', '-o=name'];
    return (await stage.kubectl(...list)).split('\n').filter((line) => line !== '');
  };
  const written = (exceptions: readonly object[], maxDeletions = 20) =>
    policy('ce-policy', {
      match: { names: ['ce-open', 'ce-closed'] },
      maxDeletions,
      contents: {
        roleBindings: [roleBinding('ce-readers', 'readers'), roleBinding('ce-editors', 'editors')],
      },
      exceptions,
    });
  const exception = {
    namespaces: ['ce-closed'],
    contents: ['RoleBinding/ce-readers'],
    expiresAt: '2099-01-31T00:00:00Z',
    reason: 'SEC-1234',
  };
  withReeve(stage);

  beforeAll(async () => {
    await stage.apply(namespaceObject('ce-open'), namespaceObject('ce-closed'), written([]));
  });

  test('both namespaces get all contents without an exception', async () => {
    await eventually(() => stage.condition({ kind: 'NamespacePolicy', name: 'ce-policy' })).toBe(
      'True Synced',
    );
    expect(await bindings()).toHaveLength(4);
  });

  test('a name that the policy does not have is refused, with the name that was meant', async () => {
    const { code, stderr } = await stage.dryRun(
      written([{ ...exception, contents: ['RoleBinding/ce-raeders'] }]),
    );
    expect(code).toBe(1);
    expect(stderr).toContain('did you mean RoleBinding/ce-readers?');
  });

  test('the exception counts for maxDeletions', async () => {
    await stage.apply(written([], 0));
    const { code, stderr } = await stage.dryRun(written([exception], 0));
    await stage.apply(written([]));
    expect(code).toBe(1);
    // The number is exact once the status of this version says that all objects exist.
    expect(stderr).toMatch(/this write would delete (up to )?1 object in 1 namespace \(ce-closed\)/);
  });

  test('the object is deleted there alone, and the condition of the namespace says why', async () => {
    await stage.apply(written([exception]));
    await eventually(bindings).toHaveLength(3);
    await eventually(async () => {
      const { status } = await stage.mustGet({ kind: 'Namespace', name: 'ce-closed' });
      return status?.conditions?.find(({ type }) => type === 'reeve.dev/Ready')?.message;
    }).toBe('1 of 2 provided; RoleBinding ce-readers skipped: SEC-1234, until 2099-01-31T00:00:00Z');
  });

  test('the object is there again without the exception', async () => {
    await stage.apply(written([]));
    await eventually(bindings).toHaveLength(4);
  });
});
