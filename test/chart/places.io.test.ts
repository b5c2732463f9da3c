// A value that several objects need reaches all of them: flags of both roles, rights, the jail, and the Pods of hooks.
import { beforeAll, expect, it } from 'vitest';
import { renderChart, type Rendered } from '../checks/chart/rendered-chart.ts';
import type { Helm } from '../cluster/helm/helm.ts';
import { describeHelm, neededHelm } from './helm-versions.ts';

const digest = `sha256:${'b'.repeat(64)}`;
const values = {
  image: { digest, pullPolicy: 'Always', pullSecrets: ['pull'] },
  webhook: { failurePolicy: 'Fail' },
  bindableClusterRoles: ['auditor'],
  resourceKinds: [{ apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments' }],
  intentAdapters: ['network', 'tls-scan'],
  tlsScan: { image: 'registry.example.com/k8tls:1' },
  secretNames: ['regcred'],
  enforcedKeys: ['istio.io/rev'],
  sharedNamespaces: ['sources'],
  excludeNamespaces: ['legacy'],
  clusterVariables: { region: 'eu' },
  certificates: { source: 'files', secretName: 'own-tls' },
  priorityClassName: 'system-node-critical',
  nodeSelector: { pool: 'platform' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  lostNodeSeconds: 45,
  extraArgs: ['--resync=5m'],
};

const roles = ['install/60-webhook.yaml', 'install/61-reconciler.yaml'];
const pods = [...roles, 'hooks/90-uninstall.yaml', 'hooks/91-test.yaml'];
const rights = {
  secrets: 'install/22-reconciler-secrets.yaml',
  kinds: 'install/23-reconciler-resources.yaml',
};
const jail = 'install/41-jail.yaml';

/** Each text, and all templates that must have it. */
const places: readonly (readonly [value: string, text: RegExp, templates: readonly string[]])[] = [
  ['image.digest', /image: reeve@sha256:b{64}\n/, pods],
  ['image.pullPolicy', /imagePullPolicy: Always\n/, pods],
  ['image.pullSecrets', /imagePullSecrets:\n +- \{ name: pull \}/, pods],
  ['priorityClassName', /priorityClassName: system-node-critical\n/, pods],
  ['priorityClassName', /values: \[system-node-critical\]/, ['install/52-quota.yaml']],
  ['nodeSelector', /nodeSelector:[^]*?pool"?: ?"?platform/, pods],
  ['tolerations', /key"?: ?"?dedicated/, pods],
  ['lostNodeSeconds', /unreachable\n.*\n.*\n +tolerationSeconds: 45\n/, roles],
  ['extraArgs', /- "--resync=5m"\n/, roles],
  ['webhook.failurePolicy', /- --secrets-rbac-failure-policy=Fail\n/, roles],
  ['webhook.failurePolicy', /- name: secretsAndRbac\n +expression: '"Fail"'/, [jail]],
  ['bindableClusterRoles', /resourceNames:\n +- auditor\n/, ['install/21-reconciler-bind.yaml']],
  ['bindableClusterRoles', /- name: bindableRoles\n +expression: '\["auditor"\]'/, [jail]],
  ['resourceKinds', /- --resource-kind=apps\/v1\/Deployment\n/, roles],
  ['resourceKinds', /apiGroups: \[apps\]\n +resources: \[deployments\]\n/, [rights.kinds]],
  ['resourceKinds', /- name: providedResources\n +expression: '\["apps\/deployments", /, [jail]],
  ['intentAdapters', /- --intent-adapter=network\n +- --intent-adapter=tls-scan\n/, roles],
  ['intentAdapters', /- --resource-kind=networking\.k8s\.io\/v1\/NetworkPolicy\n/, roles],
  [
    'intentAdapters',
    /apiGroups: \[networking\.k8s\.io\]\n +resources: \[networkpolicies\]\n/,
    [rights.kinds],
  ],
  ['intentAdapters', /"apps\/deployments", "networking\.k8s\.io\/networkpolicies", /, [jail]],
  ['tlsScan.image', /- --tls-scan-image=registry\.example\.com\/k8tls:1\n/, roles],
  ['tlsScan.image', /- --resource-kind=batch\/v1\/CronJob\n/, roles],
  ['tlsScan.image', /apiGroups: \[batch\]\n +resources: \[cronjobs\]\n/, [rights.kinds]],
  ['tlsScan.image', /"networking\.k8s\.io\/networkpolicies", "batch\/cronjobs", "configmaps"\]/, [jail]],
  ['secretNames', /- --secret-name=regcred\n/, roles],
  ['secretNames', /resourceNames:\n +- regcred\n/, [rights.secrets]],
  ['enforcedKeys', /- --enforced-key=istio\.io\/rev\n/, roles],
  ['enforcedKeys', /- name: enforcedKeys\n +expression: '\["istio\.io\/rev"\]'/, [jail]],
  ['sharedNamespaces', /- --shared-namespace=sources\n/, roles],
  ['sharedNamespaces', /kind: Namespace\nmetadata:\n +name: sources\n/, ['install/00-namespaces.yaml']],
  ['sharedNamespaces', /kind: Role\nmetadata:\n.*\n +namespace: sources\n/, [rights.secrets]],
  ['excludeNamespaces', /- --exclude-namespace=legacy\n/, roles],
  ['clusterVariables', /- "--variable=cluster\.region=eu"\n/, roles],
  [
    'sharedNamespaces and excludeNamespaces',
    /expression: '\["kube-system", "kube-public", "kube-node-lease", "reeve-system", "sources", "legacy"\]'/,
    [jail],
  ],
  ['certificates.source', /- --certs-dir=\/etc\/reeve\/certificates\n/, ['install/60-webhook.yaml']],
  ['certificates.secretName', /secret: \{ secretName: own-tls \}/, ['install/60-webhook.yaml']],
];

describeHelm('a value of the chart', () => {
  let helm: Helm;
  let ha: Rendered;
  let single: Rendered;

  beforeAll(async () => {
    helm = await neededHelm(4);
    ha = await renderChart(helm, values);
    single = await renderChart(helm, { ...values, ha: { enabled: false } });
  });

  const textOf = ({ documents, hooks }: Rendered, name: string): string =>
    [...documents, ...hooks].flatMap(({ template, text }) => (template === name ? [`${text}\n`] : [])).join();

  it.each(places)('%s reaches every place that needs it: %s', (_, text, templates) => {
    for (const template of templates) expect(textOf(ha, template), template).toMatch(text);
    // One Pod with both roles needs what each role needs.
    const inOnePod = templates.map((each) => (roles.includes(each) ? 'all-in-one/20-reeve.yaml' : each));
    for (const template of inOnePod) expect(textOf(single, template), template).toMatch(text);
  });

  it('certificates.source=cert-manager gives the Secret of the Certificate to the webhook', async () => {
    const rendered = await renderChart(helm, { certificates: { source: 'cert-manager' } });
    expect(textOf(rendered, 'cert-manager/70-certificates.yaml')).toContain(
      'secretName: reeve-webhook-tls\n',
    );
    expect(textOf(rendered, 'install/60-webhook.yaml')).toContain(
      'secret: { secretName: reeve-webhook-tls }',
    );
    expect(textOf(rendered, 'install/61-reconciler.yaml')).not.toContain('volumes:');
  });

  it('the network policy lets every Pod of the chart reach the API server, those of the hooks included', async () => {
    const rendered = await renderChart(helm, { networkPolicy: { enabled: true } });
    const [, label = ''] =
      /podSelector:[^]*?matchLabels: \{ (.+) \}/.exec(textOf(rendered, 'network/71-network.yaml')) ?? [];
    for (const template of pods)
      expect(textOf(rendered, template), template).toMatch(
        /labels:(?:\n +| \{ )[^}]*app\.kubernetes\.io\/part-of: reeve/,
      );
    expect(label).toBe('app.kubernetes.io/part-of: reeve');
  });

  it('the Pods of a lost node are replaced after 30 seconds', async () => {
    const rendered = await renderChart(helm);
    for (const role of roles)
      expect(textOf(rendered, role).match(/effect: NoExecute\n +tolerationSeconds: 30\n/g)).toHaveLength(2);
  });
});
