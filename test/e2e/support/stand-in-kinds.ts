// Stands in for the kinds of cert-manager and of the Prometheus operator, which the chart can create objects of.
import { kindsAreServed } from '../../cluster/reeve-install.ts';
import { mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';

const kinds = [
  ['cert-manager.io', 'Issuer', 'issuers'],
  ['cert-manager.io', 'Certificate', 'certificates'],
  ['monitoring.coreos.com', 'PodMonitor', 'podmonitors'],
  ['monitoring.coreos.com', 'PrometheusRule', 'prometheusrules'],
] as const;

/** Any spec is valid: `test/chart/other-kinds.io.test.ts` checks the fields against the types of those projects. */
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
};

export async function installStandInKinds(administrator: KubectlOptions): Promise<void> {
  const items = kinds.map(([group, kind, plural]) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }));
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await mustKubectl(['apply', '-f', '-'], { ...administrator, input });
  await kindsAreServed(administrator, ...items.map(({ metadata }) => `crd/${metadata.name}`));
}
