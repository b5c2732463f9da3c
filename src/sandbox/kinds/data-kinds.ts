// Defines Secrets and ConfigMaps: their keys, their sizes, and the data that each type of Secret must hold.
// https://kubernetes.io/docs/concepts/configuration/secret/#secret-types
import { isJsonObject } from '../../base/json.ts';
import type { Path } from '../../base/problem.ts';
import { text, withDefault } from '../../schema/build.ts';
import { valueAt } from '../../schema/report.ts';
import type { MapSchema, SchemaRule, TextSchema } from '../../schema/schema.ts';
import type { Resource } from '../resource.ts';
import { age, column, keysAt, sizeColumn, textAt } from './column.ts';
import { define } from './define.ts';
import { anyText, flag, textMap, ruled } from './shape.ts';

const maxDataBytes = 1024 * 1024;
const accepted = "a key of alphanumeric characters, '-', '_' or '.', which does not start with '..'";
const pattern = '^(?!\\.$|\\.\\.)[-._a-zA-Z0-9]+$';
const dataKey = text({ description: '', maxLength: 253, pattern, accepted });
/** Go ignores line breaks: https://pkg.go.dev/encoding/base64#Encoding.Decode */
const base64 = ruled(anyText, 'illegal base64 data', (given) =>
  recoded(given, 'base64') === given.replaceAll(/[\r\n]/g, '') ? undefined : [],
);

function dataOf(values: TextSchema, encoding: BufferEncoding): MapSchema<string> {
  return ruled(textMap(dataKey, values), `must have at most ${maxDataBytes} bytes`, (data) => {
    const sizes = Object.values(data).map((value) => Buffer.byteLength(value, encoding));
    return sizes.reduce((sum, size) => sum + size, 0) > maxDataBytes ? [] : undefined;
  });
}

const data = dataOf(base64, 'base64');
const stringData = textMap(anyText, anyText);

const secret = define('', 'Secret', {
  description: 'Secret data, of at most 1 MiB.',
  columns: [column('Type', '.type'), sizeColumn('Data', '.data'), age],
  optional: { immutable: flag, data, stringData, type: withDefault(anyText, 'Opaque') },
  unchanging: ['type'],
  finish: ({ stringData: written, ...object }) => {
    const entries = [...recodedMembers(object['data'], 'base64'), ...recodedMembers(written, 'utf8')];
    return entries.length === 0 ? object : { ...object, data: Object.fromEntries(entries) };
  },
  constraints: [
    needs('tls', ['data', 'tls.crt']),
    needs('tls', ['data', 'tls.key']),
    needs('dockerconfigjson', ['data', '.dockerconfigjson'], isJson),
    needs('ssh-auth', ['data', 'ssh-privatekey']),
    needs('basic-auth', ['data', 'username'], (_, object) => keysAt(object, 'data').length > 0),
    needs('basic-auth', ['data', 'password'], (_, object) => keysAt(object, 'data').length > 0),
    needs('service-account-token', ['metadata', 'annotations', 'kubernetes.io/service-account.name']),
  ],
});

function needs(
  type: string,
  path: Path,
  isMet: (value: unknown, object: object) => boolean = (value) => value !== undefined,
): SchemaRule<object> {
  const isMeant = (object: object): boolean => textAt(object, 'type') === `kubernetes.io/${type}`;
  return {
    accepted: `what a Secret of type kubernetes.io/${type} must hold`,
    offender: (object) => (isMeant(object) && !isMet(valueAt(object, path), object) ? path : undefined),
  };
}

function isJson(base64Text: unknown): boolean {
  try {
    return isJsonObject(JSON.parse(Buffer.from(String(base64Text), 'base64').toString()));
  } catch {
    return false;
  }
}

function recodedMembers(part: unknown, from: BufferEncoding): readonly (readonly [string, string])[] {
  return keysAt(part).map((key) => [key, recoded(textAt(part, key), from)] as const);
}

function recoded(given: string, from: BufferEncoding): string {
  return Buffer.from(given, from).toString('base64');
}

const configMap = define('', 'ConfigMap', {
  description: 'Data that is not secret, of at most 1 MiB.',
  shortNames: ['cm'],
  columns: [sizeColumn('Data', '.data', '.binaryData'), age],
  optional: { immutable: flag, data: dataOf(anyText, 'utf8'), binaryData: data },
  constraints: [
    {
      accepted: 'must not be in binaryData too',
      offender: (object) => {
        const twice = keysAt(object, 'data').find((key) => keysAt(object, 'binaryData').includes(key));
        return twice === undefined ? undefined : ['data', twice];
      },
    },
  ],
});

export const dataKinds: readonly Resource[] = [secret, configMap];
