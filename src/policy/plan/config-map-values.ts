// Reads the values of Secrets and ConfigMaps, and builds the data of a ConfigMap from them.
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { utf8Of } from '../../base/text.ts';

/** https://kubernetes.io/docs/concepts/configuration/configmap/#motivation */
const maxBytes = 1_048_576;

export type KeyValues = ReadonlyMap<string, Buffer>;

/** The values of a Secret and the `binaryData` of a ConfigMap are in base64. The `data` of a ConfigMap is text. */
export function valuesOf(source: KubeObject): KeyValues {
  const isSecret = source.kind === 'Secret';
  return new Map([
    ...entriesOf(source, 'data', isSecret ? 'base64' : 'utf8'),
    ...(isSecret ? [] : entriesOf(source, 'binaryData', 'base64')),
  ]);
}

function entriesOf(source: KubeObject, field: string, encoding: BufferEncoding) {
  const values = ownMember(source, field);
  return Object.entries(isJsonObject(values) ? values : {}).map(
    ([key, value]) => [key, Buffer.from(typeof value === 'string' ? value : '', encoding)] as const,
  );
}

interface ConfigMapData {
  readonly data: JsonObject;
  readonly binaryData: JsonObject;
}

export interface CopyRefusal {
  readonly reason: 'KeyMissing' | 'KeyTwice' | 'PrivateKey' | 'CertificateInvalid' | 'NotStorable';
  readonly message: string;
}

/** No value may hold a private key. Names sizes alone, because a value of a Secret must not be in a message. */
export function configMapData(values: KeyValues): ConfigMapData | CopyRefusal {
  const bytes = [...values].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (bytes > maxBytes)
    return {
      reason: 'NotStorable',
      message: `a ConfigMap holds at most ${maxBytes} bytes, and the copy would have ${bytes}`,
    };
  const texts = [...values].map(([key, value]) => [key, value, utf8Of(value)] as const);
  // fromEntries makes every key an own member, `__proto__` too.
  return {
    data: Object.fromEntries(texts.flatMap(([key, , text]) => (text === undefined ? [] : [[key, text]]))),
    binaryData: Object.fromEntries(
      texts.flatMap(([key, value, text]) => (text === undefined ? [[key, value.toString('base64')]] : [])),
    ),
  };
}
