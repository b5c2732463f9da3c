import { describe, expect, test } from 'vitest';
import { roleBindingType } from '../../../src/base/object-type.ts';
import { unlimitedBudget } from '../../../src/policy/terms/budget.ts';
import { aNamespace, aPolicy, problemsOf } from '../../support/engine.ts';

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
    subjects: [{ kind: '${namespaceObject.metadata.name}' }],
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
  test('the name of a RoleBinding and the names of its subjects are rendered', () => {
    expect(roleBinding?.render(namespace, unlimitedBudget)[0]).toEqual({
      kind: 'present',
      value: {
        name: 'ad-kubernetes-n',
        form: {
          kind: 'object',
          body: {
            apiVersion: `${rbac}/v1`,
            kind: 'RoleBinding',
            metadata: { name: 'ad-kubernetes-n' },
            roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' },
            subjects: [{ apiGroup: rbac, kind: 'Group', name: 'team-red' }],
          },
        },
        expiresAt: Date.parse('2026-11-21T20:00:00Z'),
      },
    });
  });

  test('in a resource every text is rendered, and no key', () => {
    expect(resource?.render(namespace, unlimitedBudget)[0]).toEqual({
      kind: 'present',
      value: {
        name: 'team',
        form: {
          kind: 'object',
          body: {
            ...quota,
            metadata: { name: 'team', annotations: { 'example.com/${x}': 'literal ${x}' } },
            spec: { hard: { pods: '50' }, list: ['n', 5, true, null], kind: 'n', subjects: [{ kind: 'n' }] },
          },
        },
      },
    });
  });

  test('in fields of a ServiceAccount its name and the names of its Secrets are rendered, each Secret once', () => {
    const team = "${namespaceObject.metadata.labels['team']}";
    const imagePullSecrets = [`${team}-pull`, 'red-pull', 'regcred'];
    const [content] = aPolicy('p', {
      contents: { serviceAccounts: [{ name: `${team}-ci`, imagePullSecrets }] },
    }).contents;
    expect(content?.contentKind.ownership).toBe('fields');
    expect(content?.render(namespace, unlimitedBudget)[0]).toEqual({
      kind: 'present',
      value: {
        name: 'red-ci',
        form: { kind: 'fields', fields: { pullSecrets: ['red-pull', 'regcred'], automount: undefined } },
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
    expect(content?.render(namespace, unlimitedBudget)[0]).toMatchObject({
      value: { form: { body: { subjects: [{ kind: 'ServiceAccount', name: 'ci', namespace: 'n' }] } } },
    });
  });

  test.each([{ labels: {} }, {}])('an object that needs a missing label is skipped in %j', (metadata) => {
    expect(roleBinding?.render(aNamespace({ name: 'n', ...metadata }), unlimitedBudget)[0]).toEqual({
      kind: 'skipped',
      object: { type: roleBindingType, name: 'ad-kubernetes-n' },
      message: 'label team is missing',
    });
  });

  test.each([
    ['User', 'system:masters', 'outside system:'],
    ['Group', 'system:authenticated', 'outside system:'],
    ['Group', '', 'not empty'],
    ['User', ' jane', 'without spaces at its ends'],
    ['ServiceAccount', 'ci:cd', 'small letters, digits'],
  ])('a label never makes the %s %j a subject', (kind, value, accepted) => {
    const name = "${namespaceObject.metadata.annotations['team']}";
    const subject = kind === 'ServiceAccount' ? { kind, name, namespace: 'n' } : { kind, name };
    const [content] = aPolicy('p', {
      contents: { roleBindings: [{ ...binding, name: 'b', subjects: [subject] }] },
    }).contents;
    const renderedFor = (team: string) =>
      content?.render(aNamespace({ name: 'n', annotations: { team } }), unlimitedBudget)[0];
    expect(renderedFor('system')).toMatchObject({ kind: 'present' });
    expect(renderedFor(value)).toMatchObject({
      kind: 'error',
      object: { type: roleBindingType, name: 'b' },
      message: expect.stringMatching(
        new RegExp(
          `^subjects\\[0\\]\\.name \\(from annotation team\\) is "${value}"; accepted: .*${accepted}`,
        ),
      ) as string,
    });
  });

  test('a label never makes a ServiceAccount of a namespace with an invalid name a subject', () => {
    const subject = {
      kind: 'ServiceAccount',
      name: 'ci',
      namespace: "${namespaceObject.metadata.labels['x']}",
    };
    const [content] = aPolicy('p', {
      contents: { roleBindings: [{ ...binding, subjects: [subject] }] },
    }).contents;
    const rendered = content?.render(aNamespace({ name: 'n', labels: { x: 'A_b' } }), unlimitedBudget)[0];
    expect(rendered).toMatchObject({
      message: expect.stringContaining('subjects[0].namespace (from label x) is "A_b"') as string,
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
        expect(content.render(aNamespace({ name: 'n', labels: { team } }), unlimitedBudget)[0]).toMatchObject(
          {
            kind: 'error',
            message: expect.stringContaining(`name (from label team) is "${team}"; accepted: `) as string,
          },
        );
      expect(contents).toHaveLength(2);
    },
  );

  test.each([
    ['v1', 'error'],
    ['apps/v1', 'error'],
    ['networking.k8s.io/v1', 'error'],
    ['image.openshift.io/v1', 'present'],
  ])('a name with a capital letter in group %s is: %s', (apiVersion, kind) => {
    const name = "${namespaceObject.metadata.labels['team']}";
    const [content] = aPolicy('p', {
      contents: { resources: [{ apiVersion, kind: 'Thing', metadata: { name } }] },
    }).contents;
    const rendered = content?.render(aNamespace({ name: 'n', labels: { team: 'Red' } }), unlimitedBudget)[0];
    expect(rendered).toMatchObject({ kind });
  });

  test('an annotation never makes an invalid label of an object', () => {
    const labels = { team: "${namespaceObject.metadata.annotations['team']}" };
    const [content] = aPolicy('p', {
      contents: { resources: [{ ...quota, metadata: { name: 'q', labels } }] },
    }).contents;
    const rendered = content?.render(
      aNamespace({ name: 'n', annotations: { team: 'a b' } }),
      unlimitedBudget,
    )[0];
    expect(rendered).toMatchObject({
      message: expect.stringContaining('metadata.labels.team (from annotation team) is "a b"') as string,
    });
  });

  test('no further text is rendered once the budget is spent', () => {
    const spent = { ...unlimitedBudget, isSpent: () => true };
    expect(roleBinding?.render(namespace, spent)[0]).toMatchObject({ kind: 'error' });
  });
});

describe('a content that can never be right does not load', () => {
  const goTemplate =
    'Go templates are not evaluated; use ${ } with CEL, such as ${namespaceObject.metadata.name}';

  test.each([
    [{ ...binding, name: '{{ .Name }}' }, `spec.contents.roleBindings[0].name: ${goTemplate}`],
    [
      { ...binding, subjects: [{ kind: 'User', name: '{{.Annotations.owner}}' }] },
      `spec.contents.roleBindings[0].subjects[0].name: ${goTemplate}`,
    ],
    [
      { ...binding, subjects: [{ kind: 'ServiceAccount', name: 'ci', namespace: '{{ns}}' }] },
      `spec.contents.roleBindings[0].subjects[0].namespace: ${goTemplate}`,
    ],
    [
      { ...binding, name: 'a/b' },
      'spec.contents.roleBindings[0].name: found "a/b"; accepted: a name that is not empty, not "." or "..", and has no "/" or "%"',
    ],
    [
      { ...binding, name: "${namespaceObject.metadata.annotatons['x']}" },
      'spec.contents.roleBindings[0].name: found a value of type kubernetes.NamespaceMetadata has no field annotatons; did you mean annotations?; accepted: text with CEL in ${ }, over namespaceObject',
    ],
  ])('%j: %s', (content, problem) => {
    expect(problemsOf('p', { contents: { roleBindings: [content] } })).toEqual([problem]);
  });

  test('no policy provides the ConfigMap of Kubernetes with its authority', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt' } };
    expect(problemsOf('p', { contents: { resources: [object] } })).toEqual([
      expect.stringMatching(
        /^spec\.contents\.resources\[0\]\.metadata\.name: .*Kubernetes keeps this ConfigMap/,
      ) as string,
    ]);
    expect(problemsOf('p', { contents: { resources: [{ ...quota, metadata: object.metadata }] } })).toEqual(
      [],
    );
  });

  test('a Go template in the name or a label of a resource does not load', () => {
    const metadata = { name: 'a-{{ .Name }}', labels: { team: '{{ .Team }}' } };
    expect(problemsOf('p', { contents: { resources: [{ ...quota, metadata }] } })).toEqual([
      `spec.contents.resources[0].metadata.name: ${goTemplate}`,
      `spec.contents.resources[0].metadata.labels.team: ${goTemplate}`,
    ]);
  });

  test('a Go template in other texts of a resource loads, because it can be for another program', () => {
    const rule = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'up', annotations: { note: '{{ x }}' } },
      spec: { summary: '{{ $labels.instance }} of ${namespaceObject.metadata.name} is down' },
    };
    expect(problemsOf('p', { contents: { resources: [rule] } })).toEqual([]);
  });

  test('braces within an expression are CEL', () => {
    expect(
      problemsOf('p', { contents: { roleBindings: [{ ...binding, name: "${{'a': 'b'}['a']}" }] } }),
    ).toEqual([]);
  });
});
