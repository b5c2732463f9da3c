// Objects as the API server answers with them, and what it means when it says that there is none.
import { isJsonObject } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { malformedAnswer } from './answer-fault.ts';

/** Throws a KubeError when it is none. */
export function answeredObject(answer: JsonObject): KubeObject {
  if (isKubeObject(answer)) return answer;
  throw malformedAnswer();
}

function isKubeObject(value: JsonObject): value is JsonObject & KubeObject {
  return isJsonObject(value['metadata']);
}

/** What the work gives, or undefined when the API server says 404. */
export async function unlessNotFound<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KubeError && error.code === 404) return undefined;
    throw error;
  }
}
