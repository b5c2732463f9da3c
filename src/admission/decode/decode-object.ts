// Reads one of the two objects of a request.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { decodeMetadata } from './decode-metadata.ts';
import { decodePayload } from './decode-payload.ts';
import type { Target } from './decode-target.ts';
import { badRequest, decoded, faulty, wrongType } from './fault.ts';
import type { Decoding, Fault } from './fault.ts';
import { isAbsent } from './json-value.ts';

export function decodeObject(value: unknown, target: Target, path: string): Decoding<KubeObject> {
  if (!isJsonObject(value)) return faulty(wrongType(path, value, 'an object'));
  const fault = kindFault(value, target, path);
  if (fault !== undefined) return faulty(fault);
  const metadata = decodeMetadata(value['metadata'], `${path}.metadata`);
  if (!metadata.ok) return metadata;
  const payload = decodePayload(target.resource, value, path);
  if (!payload.ok) return payload;
  return decoded({ ...payload.value, metadata: metadata.value });
}

/** The API server always says them, people with curl do not: the request has said what the object is. */
function kindFault(object: JsonObject, { kind }: Target, path: string): Fault | undefined {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  if (!isAbsent(object['kind']) && object['kind'] !== kind.kind) {
    return badRequest(`${path}.kind`, 'it is not the kind of the request');
  }
  if (!isAbsent(object['apiVersion']) && object['apiVersion'] !== apiVersion) {
    return badRequest(`${path}.apiVersion`, 'it is not the version of the request');
  }
  return undefined;
}
