// A namespace gets its RoleBinding: an old or a new namespace, after a restart, and again after a deletion.
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const policy = `
apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: {name: rb-ad-groups}
spec:
  match: {names: ["rb-*"]}
  contents:
    roleBindings:
    - name: ad-kubernetes-\${namespaceObject.metadata.name}
      roleRef: {kind: ClusterRole, name: edit}
      subjects: [{kind: Group, name: "ad-kubernetes-\${namespaceObject.metadata.name}"}]
`;

describeControllers('RoleBindings', () => {
  const cluster = sharedCluster();
  const { kubeconfig } = cluster;
  const reeve = withReeve(new Stage(cluster, 'rb-'));

  const bindingIn = async (namespace: string): Promise<string> => {
    const name = `ad-kubernetes-${namespace}`;
    const columns = '-o=jsonpath={.roleRef.kind}/{.roleRef.name} {.subjects[*].kind}/{.subjects[*].name}';
    const { stdout, stderr } = await kubectl(['get', 'rolebinding', name, '-n', namespace, columns], cluster);
    return stdout || stderr;
  };
  const bindingOf = (namespace: string): string => `ClusterRole/edit Group/ad-kubernetes-${namespace}`;

  test('a namespace that existed before the policy gets its RoleBinding', async () => {
    await mustKubectl(['create', 'namespace', 'rb-before'], cluster);
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input: policy });
    await eventually(() => bindingIn('rb-before')).toBe(bindingOf('rb-before'));
  });

  test('a new namespace gets its RoleBinding', async () => {
    await mustKubectl(['create', 'namespace', 'rb-new'], cluster);
    await eventually(() => bindingIn('rb-new')).toBe(bindingOf('rb-new'));
  });

  test('the group may edit in its namespace, and nowhere else', async () => {
    const as = { kubeconfig, as: 'ann', asGroup: ['ad-kubernetes-rb-new', 'system:authenticated'] };
    expect((await kubectl(['auth', 'can-i', 'create', 'configmaps', '-n', 'rb-new'], as)).stdout).toBe(
      'yes\n',
    );
    expect((await kubectl(['auth', 'can-i', 'create', 'configmaps', '-n', 'rb-before'], as)).stdout).toBe(
      'no\n',
    );
  });

  const emergency = { kubeconfig, as: 'admin', asGroup: ['system:masters', 'reeve:break-glass'] };

  test('a deleted RoleBinding is created again', async () => {
    await mustKubectl(['delete', 'rolebinding', 'ad-kubernetes-rb-new', '-n', 'rb-new'], emergency);
    await eventually(() => bindingIn('rb-new')).toBe(bindingOf('rb-new'));
  });

  test('a changed RoleBinding is restored', async () => {
    const more = '{"subjects":[{"kind":"Group","name":"everybody","apiGroup":"rbac.authorization.k8s.io"}]}';
    const patch = [
      'patch',
      'rolebinding',
      'ad-kubernetes-rb-new',
      '-n',
      'rb-new',
      '--type=merge',
      '-p',
      more,
    ];
    expect(await mustKubectl(patch, emergency)).toContain('patched');
    await eventually(() => bindingIn('rb-new')).toBe(bindingOf('rb-new'));
  });

  test('a restart restores what changed while Reeve was down', async () => {
    await reeve.process.stop();
    await mustKubectl(['delete', 'rolebinding', 'ad-kubernetes-rb-before', '-n', 'rb-before'], emergency);
    // The webhook is down too, so creating a namespace requires the same right.
    await mustKubectl(['create', 'namespace', 'rb-meanwhile'], emergency);
    await reeve.start();
    await eventually(() => bindingIn('rb-before')).toBe(bindingOf('rb-before'));
    await eventually(() => bindingIn('rb-meanwhile')).toBe(bindingOf('rb-meanwhile'));
  });

  test('labels and annotations are set, restored and removed with the policy field', async () => {
    const metadataIn = async (): Promise<string> => {
      const columns = '-o=jsonpath={.metadata.labels.team} {.metadata.annotations.note}';
      return (await kubectl(['get', 'rolebinding', 'marked', '-n', 'rb-marked', columns], cluster)).stdout;
    };
    const marked = (fields: string): string => `
apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: {name: rb-marked}
spec:
  match: {names: [rb-marked]}
  contents:
    roleBindings:
    - name: marked
      roleRef: {kind: ClusterRole, name: view}
      subjects: [{kind: Group, name: "system:serviceaccounts:\${namespaceObject.metadata.name}"}]
      ${fields}
`;
    const both = 'labels: {team: "${namespaceObject.metadata.name}"}\n      annotations: {note: x}';
    await mustKubectl(['create', 'namespace', 'rb-marked'], cluster);
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input: marked(both) });
    await eventually(metadataIn).toBe('rb-marked x');
    const other = ['label', 'rolebinding', 'marked', '-n', 'rb-marked', '--overwrite', 'team=other'];
    await mustKubectl(other, emergency);
    await eventually(metadataIn).toBe('rb-marked x');
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input: marked('annotations: {note: z}') });
    await eventually(metadataIn).toBe(' z');
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input: marked('') });
    await eventually(metadataIn).toBe(' ');
  });

  test('the service accounts of the namespace have the role, and those of another namespace do not', async () => {
    const mayRead = async (account: string): Promise<string> => {
      const asGroup = ['system:serviceaccounts', `system:serviceaccounts:${account}`, 'system:authenticated'];
      const as = { kubeconfig, as: `system:serviceaccount:${account}:x`, asGroup };
      return (await kubectl(['auth', 'can-i', 'get', 'configmaps', '-n', 'rb-marked'], as)).stdout;
    };
    await eventually(() => mayRead('rb-marked')).toBe('yes\n');
    expect(await mayRead('rb-before')).toBe('no\n');
  });
});
