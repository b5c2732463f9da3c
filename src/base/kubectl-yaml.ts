// What kubectl reads of YAML where it differs from YAML 1.2: unquoted words and numbers, and merge keys.
// kubectl converts files to JSON before it sends them: https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go
import { clipped } from './text.ts';
import type { YamlEntry, YamlNode } from './yaml-tree.ts';

const yes = /^(?:y|Y|yes|Yes|YES|on|On|ON|true|True|TRUE)$/;
const no = /^(?:n|N|no|No|NO|off|Off|OFF|false|False|FALSE)$/;
const integer = /^[-+]?(?:0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/;
const decimal = /^[-+]?(?:\.\d+|\d+\.?\d*)(?:[eE][-+]?\d+)?$/;

/** Returns the text itself if it is a text for kubectl. https://github.com/yaml/go-yaml/blob/v2.4.2/resolve.go */
export function readByKubectl(plain: string): boolean | number | string {
  if (yes.test(plain)) return true;
  if (no.test(plain)) return false;
  if (!/^[-+.\d]/.test(plain)) return plain;
  const digits = plain.startsWith('._') ? plain : plain.replaceAll('_', '');
  if (integer.test(digits)) {
    const sign = digits.startsWith('-') ? -1 : 1;
    // A leading 0 alone means octal, which JavaScript writes as 0o.
    return sign * Number(digits.replace(/^[-+]/, '').replace(/^0(?=[0-7])/, '0o'));
  }
  return decimal.test(digits) ? Number(digits) : plain;
}

/** Returns the problem if kubectl reads another value here. Never quotes the value: it may be part of a Secret. */
export function misreadValue(plain: string, value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const read = readByKubectl(plain);
  if (read === value) return undefined;
  if (typeof read === 'string')
    return 'kubectl refuses this value, because JSON has no such number; quote it';
  if (typeof read === 'boolean') return misread('this value as a boolean', 'true or false');
  return misread(`this value as ${typeof value === 'number' ? 'another' : 'a'} number`, 'a decimal number');
}

/** Returns the problem if kubectl reads another key here. */
export function misreadKey(plain: string): string | undefined {
  // A number can have more digits than JavaScript can hold.
  if (/^[1-9]\d*$/.test(plain)) return undefined;
  const read = String(readByKubectl(plain));
  const shown = JSON.stringify(clipped(read));
  return read === plain ? undefined : misread(`the key ${JSON.stringify(clipped(plain))} as ${shown}`, shown);
}

function misread(what: string, instead: string): string {
  return `kubectl reads ${what}, because it is not quoted (YAML 1.1); quote it, or write ${instead}`;
}

export const mergeKey = '<<';

/** For the YAML library, which otherwise quotes merge keys that it writes, and makes them common keys. */
export const mergeTag = {
  tag: 'tag:yaml.org,2002:merge',
  default: true,
  identify: (value: unknown) => typeof value === 'symbol',
  resolve: (text: string) => text,
  stringify: () => mergeKey,
};

/** Returns the entries that a merge key `<<` adds, the winning ones last. Undefined if it has a value of another kind. */
export function mergedEntries(node: YamlNode): readonly YamlEntry[] | undefined {
  if (node.kind === 'map') return node.entries;
  if (node.kind !== 'list') return undefined;
  const maps = node.items.map((item) => (item.kind === 'map' ? item.entries : undefined));
  const known = maps.filter((entries) => entries !== undefined);
  return known.length < maps.length ? undefined : known.toReversed().flat();
}
