// Lets the API server refuse some writes in one namespace, for every user.
import { until } from '../../support/until.ts';
import type { Stage } from './stage.ts';

const api = '/apis/admissionregistration.k8s.io/v1';
const collections = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'] as const;

export interface ForbiddenWrites {
  readonly namespace: string;
  /** A resource of the core group. */
  readonly resource: string;
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
}

/** Refuses the writes until the result is disposed of. `probe` returns true while such a write still passes. */
export async function forbidden(
  { cluster: { admin } }: Stage,
  { namespace, resource, operations }: ForbiddenWrites,
  probe: () => Promise<boolean>,
): Promise<AsyncDisposable> {
  const name = `forbidden-in-${namespace}`;
  const policy = {
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations }],
    },
    validations: [{ expression: 'false', reason: 'Forbidden' }],
  };
  const specs = [policy, { policyName: name, validationActions: ['Deny'] }];
  for (const [index, collection] of collections.entries())
    await admin.mustSend('POST', `${api}/${collection}`, { metadata: { name }, spec: specs[index] });
  await until(
    async () => !(await probe()),
    () => `${operations.join(' and ')} of ${resource} refused in ${namespace}`,
  );
  return {
    async [Symbol.asyncDispose]() {
      for (const collection of collections.toReversed())
        await admin.send('DELETE', `${api}/${collection}/${name}`);
    },
  };
}

/** Refuses every new ConfigMap in the namespace until the result is disposed of. */
export async function forbiddenConfigMaps(stage: Stage, namespace: string): Promise<AsyncDisposable> {
  const { admin } = stage.cluster;
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  const isLetThrough = async (): Promise<boolean> =>
    (await admin.send('POST', path, { metadata: { name: 'probe' } })).status === 201;
  const writes = { namespace, resource: 'configmaps', operations: ['CREATE'] } as const;
  const prohibition = await forbidden(stage, writes, isLetThrough);
  return {
    async [Symbol.asyncDispose]() {
      await prohibition[Symbol.asyncDispose]();
      await until(isLetThrough, () => `ConfigMaps are made in ${namespace}`);
    },
  };
}
