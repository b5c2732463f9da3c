// What may be said of a request in logs, metrics and answers, also when it could not be decoded: short texts only.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';

export interface RequestSummary {
  readonly uid: string;
  /** One of those that exist, or `unknown`: a label of metrics must not grow with what people send. */
  readonly operation: string;
  /** `secrets`, `namespaces/status`, or `other`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  /** Nothing comes of it, whatever is answered. */
  readonly isDryRun: boolean;
}

const operations: readonly unknown[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const resources: readonly unknown[] = [
  'namespaces',
  'secrets',
  'roles',
  'rolebindings',
  'namespacepolicies',
  'secretshares',
];
const subresources: readonly unknown[] = ['status', 'finalize'];

export function summaryOf(uid: string, request: JsonObject): RequestSummary {
  const { operation, userInfo } = request;
  return {
    uid,
    operation: operations.includes(operation) ? String(operation) : 'unknown',
    resource: describeResource(request),
    namespace: describeText(request['namespace']),
    name: describeText(request['name']) || nameOf(request['object']) || nameOf(request['oldObject']),
    user: isJsonObject(userInfo) ? describeText(userInfo['username']) : '',
    isDryRun: request['dryRun'] === true,
  };
}

function describeResource({ resource, subResource }: JsonObject): string {
  const name = isJsonObject(resource) ? resource['resource'] : undefined;
  if (!resources.includes(name)) return 'other';
  return subresources.includes(subResource) ? `${String(name)}/${String(subResource)}` : String(name);
}

/** The object of a deletecollection, or of a `generateName`, says what the request does not. */
function nameOf(object: unknown): string {
  if (!isJsonObject(object) || !isJsonObject(object['metadata'])) return '';
  return describeText(object['metadata']['name']);
}

/** The longest name of Kubernetes; no line of a log grows with what somebody sends. */
const longest = 253;

function describeText(value: unknown): string {
  return typeof value === 'string' ? clipped(value, longest) : '';
}
