// Summarizes a request for logs, metrics and answers in short texts, even if it could not be decoded.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';

export interface RequestSummary {
  readonly uid: string;
  /** A known operation or `unknown`, because clients must not be able to add values of a metric label. */
  readonly operation: string;
  /** `secrets`, `namespaces/status`, or `other`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  /** Nothing is stored, whatever the answer is. */
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
  'securityintents',
  'clustersecurityintentbindings',
  'securityintentbindings',
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

/** With a deletecollection or `generateName`, only the object has the name. */
function nameOf(object: unknown): string {
  if (!isJsonObject(object) || !isJsonObject(object['metadata'])) return '';
  return describeText(object['metadata']['name']);
}

/** The maximum length of a Kubernetes name. It also limits the lines of the log. */
const maxLength = 253;

function describeText(value: unknown): string {
  return typeof value === 'string' ? clipped(value, maxLength) : '';
}
