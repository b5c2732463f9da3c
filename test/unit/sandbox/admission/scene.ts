// Builds a store with namespaces and valid configurations, and writes to review.
import { kindDefinitions } from '../../../../src/api/kinds.ts';
import { isJsonObject, type JsonObject } from '../../../../src/base/json.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { createAdmission } from '../../../../src/sandbox/admission/admission.ts';
import type { ReviewedWrite } from '../../../../src/sandbox/admission/reviewed-write.ts';
import type { ClientConfig } from '../../../../src/sandbox/admission/configurations.ts';
import { ApiError, type ErrorStatus } from '../../../../src/sandbox/api-error.ts';
import { kindsServedFrom } from '../../../../src/sandbox/kinds/served-kinds.ts';
import type { Resource } from '../../../../src/sandbox/resource.ts';
import { MemoryStore } from '../../../../src/sandbox/store.ts';

export type Answer = (request: JsonObject, clientConfig: ClientConfig) => unknown;

const kinds = kindsServedFrom(new MemoryStore(), kindDefinitions);

export function kind(apiVersion: string, name: string): Resource {
  const found = kinds.ofKind(apiVersion, name);
  if (found === undefined) throw new Error(`${name} is not served`);
  return found;
}

export class Scene {
  readonly store = new MemoryStore();
  readonly warnings: string[] = [];
  /** The reviews that the webhooks received, with the name of the service. */
  readonly asked: { readonly service: string; readonly request: JsonObject }[] = [];
  readonly answers = new Map<string, Answer>();
  readonly admission = createAdmission({
    store: this.store,
    kinds,
    uid: () => 'the-uid',
    call: async (clientConfig, review) => {
      const request = isJsonObject(review['request']) ? review['request'] : {};
      const service = clientConfig.service?.name ?? '';
      this.asked.push({ service, request });
      const response = await this.answers.get(service)?.(request, clientConfig);
      return { ...review, response: { uid: request['uid'], allowed: true, ...(response as JsonObject) } };
    },
  });

  put(object: JsonObject): KubeObject {
    const resource = kind(String(object['apiVersion']), String(object['kind']));
    const prepared = resource.rules.prepare(object as KubeObject, undefined, new Date(0));
    const problems = resource.rules.problems(prepared, undefined);
    if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join());
    const stored = this.store.put(resource, prepared, undefined);
    if (stored === undefined) throw new Error('it is there already');
    return stored;
  }

  namespace(name: string, metadata: JsonObject = {}): KubeObject {
    return this.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } });
  }

  write(changes: Partial<ReviewedWrite> & { readonly resource: Resource }): ReviewedWrite {
    const { object, oldObject } = changes;
    const operation = object === undefined ? 'DELETE' : oldObject === undefined ? 'CREATE' : 'UPDATE';
    const metadata = object?.metadata ?? oldObject?.metadata;
    return {
      operation,
      subresource: undefined,
      namespace: metadata?.namespace,
      name: metadata?.name ?? '',
      object: undefined,
      oldObject: undefined,
      user: { username: 'jane', groups: ['dev'] },
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      warn: (text) => this.warnings.push(text),
      signal: new AbortController().signal,
      ...changes,
    };
  }

  async refusal(write: ReviewedWrite): Promise<ErrorStatus | undefined> {
    return await errorStatusOf(this.admission.validate(write));
  }
}

/** Returns undefined when nothing was refused. */
export async function errorStatusOf(promise: Promise<unknown>): Promise<ErrorStatus | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}

const review = {
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  failurePolicy: 'Fail',
};
const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };

/** Returns a webhook that matches every write and calls the service of its name. */
export function webhook(name: string, changes: JsonObject = {}): JsonObject {
  const clientConfig = { service: { name, namespace: 'default' } };
  return { name: `${name}.example.com`, clientConfig, rules: [everything], ...review, ...changes };
}

export function configuration(
  kindName: 'Mutating' | 'Validating',
  name: string,
  ...webhooks: readonly JsonObject[]
): JsonObject {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  return { apiVersion, kind: `${kindName}WebhookConfiguration`, metadata: { name }, webhooks };
}

export function configMap(metadata: JsonObject = {}, fields: JsonObject = {}): KubeObject {
  const given = { name: 'one', namespace: 'here', ...metadata };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: given, ...fields };
}

export const configMaps = kind('v1', 'ConfigMap');
export const namespaces = kind('v1', 'Namespace');
export const clusterRoles = kind('rbac.authorization.k8s.io/v1', 'ClusterRole');
