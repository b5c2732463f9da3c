// Existing Roles, RoleBindings and Secrets are judged by policies, through the whole reconciler.
import { describe, expect, test } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import { team, teams } from '../../../support/provided.ts';
import { refTo, type Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();
const rbac = { allowedRoleRefs: ['ClusterRole/view'], forbidWildcardRules: true };
const apiGroup = 'rbac.authorization.k8s.io';

function binding(h: Harness, namespace: string, name: string, granted: string): void {
  h.memory.put({
    ...refTo('RoleBinding', name, namespace),
    metadata: { name, namespace },
    roleRef: { apiGroup, kind: 'ClusterRole', name: granted },
  });
}

function role(h: Harness, namespace: string, name: string, verb: string): void {
  h.memory.put({
    apiVersion: `${apiGroup}/v1`,
    kind: 'Role',
    metadata: { name, namespace },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: [verb] }],
  });
}

async function running(options = {}, spec: object = { match: teams, rbac }): Promise<Harness> {
  const h = harness(options);
  for (const name of ['a', 'b']) h.namespace(name, team);
  h.namespace('other');
  binding(h, 'a', 'admins', 'cluster-admin');
  binding(h, 'a', 'viewers', 'view');
  binding(h, 'other', 'admins', 'cluster-admin');
  role(h, 'b', 'all', '*');
  h.policy('p', spec);
  h.start();
  await h.settle();
  return h;
}

const violationsOf = (h: Harness) => {
  const { violations, violationsByResource } = h.status('NamespacePolicy', 'p');
  return [violations, violationsByResource];
};

describe('existing Roles and RoleBindings', () => {
  test.each(['Deny', 'Warn', 'Audit'])(
    'with %s, a RoleBinding to cluster-admin and a Role with a wildcard are counted and listed',
    async (action) => {
      const h = await running({}, { match: teams, rbac, validationActions: [action] });
      expect(h.status('NamespacePolicy', 'p')).toMatchObject({
        violations: 2,
        violationsByResource: { namespaces: 0, roles: 1, roleBindings: 1 },
        topViolations: [
          {
            namespace: 'a',
            kind: 'RoleBinding',
            name: 'admins',
            rule: 'rbac.allowedRoleRefs',
            path: 'roleRef',
            found: 'ClusterRole/cluster-admin',
          },
          { namespace: 'b', kind: 'Role', name: 'all', rule: 'rbac.forbidWildcardRules' },
        ],
      });
      expect(h.condition('NamespacePolicy', 'p')?.['message']).toMatch(
        /^2 violations, first RoleBinding admins in namespace a: rbac\.allowedRoleRefs; /,
      );
      expect(h.status('NamespacePolicy', 'p')['matchedNamespaces']).toEqual(['a', 'b']);
    },
  );

  test('a new, a changed and a deleted object change the count', async () => {
    const h = await running();
    binding(h, 'b', 'late', 'edit');
    await h.settle();
    expect(violationsOf(h)).toEqual([3, { namespaces: 0, roles: 1, roleBindings: 2 }]);
    h.memory.delete(refTo('RoleBinding', 'late', 'b'));
    binding(h, 'b', 'late', 'view');
    role(h, 'b', 'all', 'get');
    await h.settle();
    expect(violationsOf(h)).toEqual([1, { namespaces: 0, roles: 0, roleBindings: 1 }]);
    h.memory.delete(refTo('RoleBinding', 'admins', 'a'));
    await h.settle();
    expect(violationsOf(h)).toEqual([0, { namespaces: 0, roles: 0, roleBindings: 0 }]);
  });

  test('a changed policy judges everything again', async () => {
    const h = await running();
    h.policy('p', { match: teams, rbac: { ...rbac, allowedRoleRefs: ['ClusterRole/cluster-admin'] } });
    await h.settle();
    expect(violationsOf(h)).toEqual([2, { namespaces: 0, roles: 1, roleBindings: 1 }]);
    expect(h.status('NamespacePolicy', 'p')['topViolations']).toMatchObject([
      { name: 'viewers' },
      { name: 'all' },
    ]);
    h.policy('p', { match: teams });
    await h.settle();
    expect(violationsOf(h)).toEqual([0, { namespaces: 0 }]);
  });

  test('a namespace whose labels bring it under the policy is judged, and one that leaves is not', async () => {
    const h = await running();
    h.namespace('other', team);
    h.namespace('a');
    h.namespace('b');
    await h.settle();
    expect(violationsOf(h)).toEqual([1, { namespaces: 0, roles: 0, roleBindings: 1 }]);
    expect(h.status('NamespacePolicy', 'p')['topViolations']).toMatchObject([{ namespace: 'other' }]);
  });

  test('objects of a deleted namespace are forgotten', async () => {
    const h = await running();
    h.memory.delete(refTo('Namespace', 'a'));
    await h.settle();
    expect(violationsOf(h)).toEqual([1, { namespaces: 0, roles: 1, roleBindings: 0 }]);
  });

  test('an exception covers existing objects until it ends, and not until the next round', async () => {
    const exception = { namespaces: ['a'], rules: ['rbac.allowedRoleRefs'], reason: 'X' };
    const expiresAt = '2026-11-21T12:05:00Z';
    const h = await running({}, { match: teams, rbac, exceptions: [{ ...exception, expiresAt }] });
    expect(violationsOf(h)).toEqual([1, { namespaces: 0, roles: 1, roleBindings: 0 }]);
    await h.clock.advance(280_000);
    await h.settle();
    expect(violationsOf(h)).toEqual([1, { namespaces: 0, roles: 1, roleBindings: 0 }]);
    await h.clock.advance(20_000);
    await h.settle();
    expect(violationsOf(h)).toEqual([2, { namespaces: 0, roles: 1, roleBindings: 1 }]);
  });

  test('a corrected object makes room for the next one in the list', async () => {
    const h = harness();
    h.namespace('a', team);
    for (let index = 10; index < 40; index += 1) binding(h, 'a', `b${index}`, 'edit');
    h.policy('p', { match: teams, rbac });
    h.start();
    await h.settle();
    for (const name of ['b10', 'b11', 'b12']) h.memory.delete(refTo('RoleBinding', name, 'a'));
    await h.settle(20_000);
    const { violations, topViolations } = h.status('NamespacePolicy', 'p');
    const names = (topViolations as { name: string }[]).map(({ name }) => name);
    expect([violations, names.length, names[0], names.at(-1)]).toEqual([27, 20, 'b13', 'b32']);
  });

  test('without rbac rules nothing is listed, and no resource is counted', async () => {
    const h = harness();
    const listed: unknown[] = [];
    h.memory.before = ({ verb, ref }) => {
      // Reeve lists ServiceAccounts once, to find fields that it added.
      if (verb === 'list' && !['Secret', 'ServiceAccount'].includes(ref.kind)) listed.push(ref.kind);
      return Promise.resolve();
    };
    h.namespace('a', team);
    h.policy('p', { match: teams });
    h.start();
    await h.settle();
    expect(listed).toEqual([]);
    expect(violationsOf(h)).toEqual([0, { namespaces: 0 }]);
  });

  test('the first policy with rules has existing objects judged, and later objects and namespaces too', async () => {
    const h = await running({}, { match: teams });
    expect(violationsOf(h)).toEqual([0, { namespaces: 0 }]);
    h.policy('p', { match: teams, rbac });
    await h.settle();
    expect(violationsOf(h)).toEqual([2, { namespaces: 0, roles: 1, roleBindings: 1 }]);
    binding(h, 'b', 'late', 'edit');
    await h.settle();
    expect(violationsOf(h)).toEqual([3, { namespaces: 0, roles: 1, roleBindings: 2 }]);
    h.namespace('other', team);
    h.namespace('b');
    await h.settle();
    expect(violationsOf(h)).toEqual([2, { namespaces: 0, roles: 0, roleBindings: 2 }]);
  });

  test('a list that fails is tried again', async () => {
    const h = harness();
    let faults = 2;
    h.memory.fault = (verb, { kind }) => {
      if (verb !== 'list' || kind !== 'RoleBinding' || faults === 0) return undefined;
      faults -= 1;
      return new KubeError({ code: 500, reason: 'InternalError', retryable: true });
    };
    h.namespace('a', team);
    h.policy('p', { match: teams, rbac });
    h.start();
    binding(h, 'a', 'admins', 'cluster-admin');
    await h.settle();
    expect(violationsOf(h)).toEqual([1, { namespaces: 0, roles: 0, roleBindings: 1 }]);
  });
});

describe('existing Secrets', () => {
  const spec = { match: teams, secrets: { forbiddenTypes: ['Opaque'] } };
  const withSecret = async (options = {}): Promise<Harness> => {
    const h = harness(options);
    h.namespace('a', team);
    h.secret('a', 'plain', { password: 'sesame-street' });
    h.policy('p', spec);
    h.start();
    await h.settle();
    return h;
  };

  test('the status says without --audit-secrets that Secrets are judged when written', async () => {
    const h = await withSecret();
    expect(violationsOf(h)).toEqual([0, { namespaces: 0 }]);
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      status: 'True',
      message: 'this policy has rules only and provides no objects; Secrets: judged when written',
    });
  });

  test('with --audit-secrets they are counted, and no output has a value of a Secret', async () => {
    const h = await withSecret({ install: { auditSecrets: true } });
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      violations: 1,
      violationsByResource: { namespaces: 0, secrets: 1 },
      topViolations: [{ namespace: 'a', kind: 'Secret', name: 'plain', rule: 'secrets.forbiddenTypes' }],
    });
    expect(JSON.stringify([h.get('NamespacePolicy', 'p'), h.told])).not.toContain('sesame');
    expect(JSON.stringify([h.get('NamespacePolicy', 'p'), h.told])).not.toContain(btoa('sesame-street'));
    h.secret('a', 'another', {});
    await h.settle();
    expect(violationsOf(h)[0]).toBe(1);
    await h.clock.advance(600_000);
    await h.settle();
    expect(violationsOf(h)[0]).toBe(2);
  });

  test('a missing right is a reason in the status, and the rest goes on', async () => {
    const h = harness({ install: { auditSecrets: true } });
    h.rights.set('list secrets', 'no');
    h.memory.fault = (verb, { kind }) =>
      verb === 'list' && kind === 'Secret'
        ? new KubeError({ code: 403, reason: 'Forbidden', retryable: false })
        : undefined;
    h.namespace('a', team);
    h.policy('p', spec);
    h.start();
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ reason: 'InsufficientPermissions' });
    expect(h.condition('NamespacePolicy', 'p')?.['message']).toContain('manifests/audit-secrets/');
    h.memory.fault = () => undefined;
    h.rights.clear();
    h.secret('a', 'plain', {});
    await h.settle(40_000);
    expect(violationsOf(h)[0]).toBe(1);
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
  });
});
