// Derives the content of a ConfigMap from the sources of its share, or the reason why no copy is possible.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { CompileResult, Problem } from '../../base/problem.ts';
import type { CompiledShare, SourceRef } from '../compile/compile-share.ts';
import { configMapData, valuesOf, type CopyRefusal, type KeyValues } from './config-map-values.ts';
import { pemBundleOf, type PemBundle } from './pem-bundle.ts';
import { holdsPrivateKey } from './private-keys.ts';

interface ConfigMapCopy {
  readonly body: JsonObject;
  /** Undefined if the share does not ask for a bundle. */
  readonly bundle?: PemBundle;
}

/** `sources` are the objects of `share.sources`, in that order. */
export function configMapCopyOf(
  { copy, sources: refs }: CompiledShare,
  sources: readonly KubeObject[],
  now: Date,
): ConfigMapCopy | CopyRefusal {
  const entries = refs.flatMap((ref, index) => entriesOf(ref, sources[index]));
  const missing = entries.find((each) => 'reason' in each);
  if (missing !== undefined) return missing;
  const found = entries.filter((each) => 'value' in each);
  const { bundleKey, isImmutable } = copy;
  if (bundleKey === undefined) {
    const values = joined(found);
    return 'reason' in values ? values : bodyOf(values, isImmutable);
  }
  const key = found.find(({ value }) => holdsPrivateKey(value));
  if (key !== undefined) return privateKey(key);
  const bundle = bundleOf(found, now);
  if (!bundle.ok) return { reason: 'CertificateInvalid', message: bundle.problems.map(textOf).join('; ') };
  const body = bodyOf(new Map([[bundleKey, Buffer.from(bundle.value.text)]]), isImmutable);
  return 'reason' in body ? body : { ...body, bundle: bundle.value };
}

interface Entry {
  readonly source: SourceRef;
  readonly from: string;
  readonly to: string;
  readonly value: Buffer;
}

function entriesOf(source: SourceRef, object: KubeObject | undefined): readonly (Entry | CopyRefusal)[] {
  // An answer of the API server can lack the kind.
  const values = valuesOf({ metadata: {}, ...object, ...source.type });
  const keys = source.keys ?? [...values.keys()].map((key) => ({ from: key, to: key }));
  return keys.map(({ from, to }): Entry | CopyRefusal => {
    const value = values.get(from);
    if (value !== undefined) return { source, from, to, value };
    return { reason: 'KeyMissing', message: `${nameOf(source)} has no key ${from}` };
  });
}

function nameOf({ type, namespace, name }: SourceRef): string {
  return `${type.kind} ${namespace}/${name}`;
}

function privateKey({ source, from }: Entry): CopyRefusal {
  const message = `key ${from} of ${nameOf(source)} holds a private key, and private keys are never written to ConfigMaps`;
  return { reason: 'PrivateKey', message };
}

function joined(entries: readonly Entry[]): KeyValues | CopyRefusal {
  const key = entries.find(({ value }) => holdsPrivateKey(value));
  if (key !== undefined) return privateKey(key);
  const values = new Map<string, Buffer>();
  for (const { to, value } of entries) {
    if (values.has(to)) return { reason: 'KeyTwice', message: `two sources give the key ${to}` };
    values.set(to, value);
  }
  return values;
}

function bodyOf(values: KeyValues, isImmutable: boolean): ConfigMapCopy | CopyRefusal {
  const made = configMapData(values);
  if ('reason' in made) return made;
  const { data, binaryData } = made;
  const binary = Object.keys(binaryData).length === 0 ? {} : { binaryData };
  return { body: { data, ...binary, ...(isImmutable ? { immutable: true } : {}) } };
}

function bundleOf(entries: readonly Entry[], now: Date): CompileResult<PemBundle> {
  const parts = entries.map(({ source, from, value }) => ({
    path: [nameOf(source), from],
    text: value.toString(),
  }));
  return pemBundleOf(parts, now);
}

/** The problem quotes no value. */
function textOf({ path, found, accepted }: Problem): string {
  const [source, key] = path;
  const where = source === undefined ? 'the sources hold' : `key ${String(key)} of ${String(source)} holds`;
  return `${where} ${found}; accepted: ${accepted}`;
}
