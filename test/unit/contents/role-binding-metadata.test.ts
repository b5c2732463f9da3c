// Labels and annotations of RoleBindings, and the one group of system: that a subject may be.
import { describe, expect, test } from 'vitest';
import { unlimitedBudget } from '../../../src/policy/terms/budget.ts';
import { compareRoleBinding } from '../../../src/policy/plan/plan-claim.ts';
import { aNamespace, aPolicy, problemsOf } from '../../support/engine.ts';

const binding = {
  name: 'edit',
  labels: { team: "${namespaceObject.metadata.labels['team']}" },
  annotations: { note: 'for ${namespaceObject.metadata.name}' },
  roleRef: { kind: 'ClusterRole', name: 'edit' },
  subjects: [{ kind: 'Group', name: 'system:serviceaccounts:${namespaceObject.metadata.name}' }],
};
const namespace = (team: string) => aNamespace({ name: 'shop', labels: { team } });

function rendered(roleBinding: object, team = 'red') {
  const [content] = aPolicy('p', { contents: { roleBindings: [roleBinding] } }).contents;
  return content?.render(namespace(team), unlimitedBudget)[0];
}

function problemIn(roleBinding: object, team?: string): string | undefined {
  const result = rendered(roleBinding, team);
  return result?.kind === 'error' ? result.message : undefined;
}

test('labels, annotations and the group of the own ServiceAccounts are rendered', () => {
  expect(rendered(binding)).toMatchObject({
    value: {
      form: {
        body: {
          metadata: { name: 'edit', labels: { team: 'red' }, annotations: { note: 'for shop' } },
          subjects: [{ kind: 'Group', name: 'system:serviceaccounts:shop' }],
        },
      },
    },
  });
});

test('a RoleBinding without labels and annotations has the metadata that it always had', () => {
  const { labels: _labels, annotations: _annotations, ...plain } = binding;
  expect(rendered(plain)).toMatchObject({ value: { form: { body: { metadata: { name: 'edit' } } } } });
  expect(JSON.stringify(rendered(plain))).not.toContain('labels');
});

test('a label that gives no legal value is an error', () => {
  expect(problemIn(binding, 'red team')).toContain(
    'labels.team (from label team) is "red team"; accepted: a label value',
  );
});

test('an expression cannot give a group of system: in another way', () => {
  const other = "${'system:' + 'serviceaccounts:' + namespaceObject.metadata.name}";
  expect(problemIn({ ...binding, subjects: [{ kind: 'Group', name: other }] })).toContain(
    '"system:serviceaccounts:shop"; accepted: a Group outside system:',
  );
});

describe('a live RoleBinding', () => {
  const stored = (annotations: object) => ({
    metadata: { name: 'edit', labels: { team: 'red' }, annotations: { ...annotations } },
    roleRef: binding.roleRef,
    subjects: [],
  });

  test.each([
    ['the same form', { 'reeve.dev/applied': 'a' }, 'none'],
    ['another form', { 'reeve.dev/applied': 'b' }, 'update'],
    ['a form of labels that the policy no longer has', {}, 'update'],
  ])('a live RoleBinding with %s needs the right write', (_, wanted, write) => {
    expect(compareRoleBinding(stored(wanted), stored({ 'reeve.dev/applied': 'a' }))).toBe(write);
  });
});

test.each([
  ['a reserved label', { labels: { 'app.kubernetes.io/managed-by': 'helm' } }, 'must not set'],
  ['a reserved annotation', { annotations: { 'reeve.dev/owner': 'x' } }, 'which Reeve sets'],
])('%s is refused with the reason', (_, more, reason) => {
  expect(problemsOf('p', { contents: { roleBindings: [{ ...binding, ...more }] } }).join()).toContain(reason);
});
