import { describe, expect, test } from 'vitest';
import { unlimitedBudget } from '../../../../src/policy/terms/budget.ts';
import { aNamespace, aPolicy } from '../../../support/engine.ts';

const binding = {
  name: 'ad-kubernetes-${namespaceObject.metadata.name}',
  roleRef: { kind: 'ClusterRole', name: 'edit' },
  subjects: [{ kind: 'Group', name: "team-${namespaceObject.metadata.labels['team']}" }],
  expiresAfter: '8h',
};
const quota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'team', annotations: { 'example.com/${x}': 'literal $${x}' } },
  spec: {
    hard: { pods: '50' },
    list: ['${namespaceObject.metadata.name}', 5, true, null],
    kind: '${namespaceObject.metadata.name}',
  },
};
const [roleBinding, resource] = aPolicy('p', {
  contents: { roleBindings: [binding], resources: [quota] },
}).contents;
const namespace = aNamespace({
  name: 'n',
  labels: { team: 'red' },
  creationTimestamp: '2026-11-21T12:00:00Z',
});
const rbac = 'rbac.authorization.k8s.io';

describe('what a policy provides is rendered for a namespace', () => {
  test('in a RoleBinding its name and the names of its subjects are rendered', () => {
    expect(roleBinding?.render(namespace, unlimitedBudget)).toEqual({
      kind: 'present',
      value: {
        name: 'ad-kubernetes-n',
        body: {
          apiVersion: `${rbac}/v1`,
          kind: 'RoleBinding',
          metadata: { name: 'ad-kubernetes-n' },
          roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' },
          subjects: [{ apiGroup: rbac, kind: 'Group', name: 'team-red' }],
        },
        expiresAt: Date.parse('2026-11-21T20:00:00Z'),
      },
    });
  });

  test('in a resource every text is rendered, and no key', () => {
    expect(resource?.render(namespace, unlimitedBudget)).toEqual({
      kind: 'present',
      value: {
        name: 'team',
        body: {
          ...quota,
          metadata: { name: 'team', annotations: { 'example.com/${x}': 'literal ${x}' } },
          spec: { hard: { pods: '50' }, list: ['n', 5, true, null], kind: 'n' },
        },
      },
    });
  });

  test('a subject of kind ServiceAccount has no API group, as in the API server', () => {
    const [content] = aPolicy('p', {
      contents: {
        roleBindings: [
          {
            ...binding,
            subjects: [{ kind: 'ServiceAccount', name: 'ci', namespace: '${namespaceObject.metadata.name}' }],
          },
        ],
      },
    }).contents;
    expect(content?.render(namespace, unlimitedBudget)).toMatchObject({
      value: { body: { subjects: [{ kind: 'ServiceAccount', name: 'ci', namespace: 'n' }] } },
    });
  });

  test('an object that needs a missing value of the namespace is not desired', () => {
    expect(roleBinding?.render(aNamespace({ name: 'n', labels: {} }), unlimitedBudget)).toEqual({
      kind: 'absent',
    });
  });

  test.each(['User', 'Group'])('a label never makes a %s of system: a subject', (kind) => {
    const [content] = aPolicy('p', {
      contents: {
        roleBindings: [
          { ...binding, subjects: [{ kind, name: "${namespaceObject.metadata.labels['team']}" }] },
        ],
      },
    }).contents;
    const renderedFor = (team: string) =>
      content?.render(aNamespace({ name: 'n', labels: { team } }), unlimitedBudget);
    expect(renderedFor('system')).toMatchObject({ kind: 'present' });
    expect(renderedFor('system:masters')).toEqual({
      kind: 'error',
      message:
        'a subject has become a user or group whose name begins with system:, which Kubernetes keeps for itself',
    });
  });

  test.each(['', '.', '..', '../../kube-system/configmaps/x', 'a%2Fb'])(
    'a label never makes the name %j',
    (team) => {
      const name = "${namespaceObject.metadata.labels['team']}";
      const { contents } = aPolicy('p', {
        contents: { roleBindings: [{ ...binding, name }], resources: [{ ...quota, metadata: { name } }] },
      });
      for (const content of contents)
        expect(content.render(aNamespace({ name: 'n', labels: { team } }), unlimitedBudget)).toMatchObject({
          kind: 'error',
          message: expect.stringContaining('has become invalid') as string,
        });
      expect(contents).toHaveLength(2);
    },
  );

  test('no further text is rendered once the budget is spent', () => {
    const spent = { isSpent: () => true };
    expect(roleBinding?.render(namespace, spent)).toMatchObject({ kind: 'error' });
  });
});
