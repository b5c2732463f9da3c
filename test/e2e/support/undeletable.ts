// Holds up the end of a namespace: its Secrets cannot be deleted, so that they are seen in a namespace that is going.
import { until } from '../../support/until.ts';
import type { Stage } from './stage.ts';

const api = '/apis/admissionregistration.k8s.io/v1';
const collections = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'] as const;

/** `probe` is a Secret in the namespace that nobody keeps. Until it is disposed of; it can be more than once. */
export async function undeletableSecrets(
  { cluster: { admin } }: Stage,
  namespace: string,
  probe: string,
): Promise<AsyncDisposable> {
  const name = `undeletable-in-${namespace}`;
  const policy = {
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['DELETE'] },
      ],
    },
    validations: [{ expression: 'false' }],
  };
  const specs = [policy, { policyName: name, validationActions: ['Deny'] }];
  for (const [index, collection] of collections.entries())
    await admin.mustSend('POST', `${api}/${collection}`, { metadata: { name }, spec: specs[index] });
  const path = `/api/v1/namespaces/${namespace}/secrets/${probe}?dryRun=All`;
  await until(
    async () => (await admin.send('DELETE', path)).status !== 200,
    () => `nobody can delete Secrets in ${namespace}`,
  );
  return {
    async [Symbol.asyncDispose]() {
      for (const collection of collections.toReversed())
        await admin.send('DELETE', `${api}/${collection}/${name}`);
    },
  };
}
