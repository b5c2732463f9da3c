// Derives the content of a copy from the source of a share, or the reason why no copy is possible.
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { type KubeObject, annotationsOf, labelsOf, valueOf } from '../../base/metadata.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import { defaultEvaluationUnits } from '../terms/budget.ts';
import { utf8Of } from '../../base/text.ts';
import { parseProviderId } from '../terms/provider-id.ts';
import { managedByLabel, managedByReeve, ownerAnnotation } from '../../schema/names.ts';
import { isSameObjectType, secretObjectType } from '../../base/object-type.ts';
import { configMapCopyOf } from './config-map-copy.ts';
import type { CopyRefusal } from './config-map-values.ts';
import { copyFacts, type CopyFacts } from './observed.ts';
import type { PemBundle } from './pem-bundle.ts';
import { dockerConfigKey, uncopiedTypes, missingKeys } from '../../api/secret-share/target.ts';

export interface CopyPayload {
  /** The fields of the copy, without its metadata. */
  readonly body: JsonObject;
  readonly facts: CopyFacts;
  /** What a bundle holds. It must be built again when its next certificate expires. */
  readonly bundle?: PemBundle | undefined;
}

type CopyReason =
  | 'SourceMissing'
  | 'SourceNotAllowed'
  | 'SourceTypeForbidden'
  | 'SourceUnreadable'
  | CopyRefusal['reason']
  | 'TemplateFailed';

/** The state of the source of a share. `unread`: the source exists, and its payload must be read first. */
export type CopyState =
  | { readonly kind: 'ready'; readonly payload: CopyPayload }
  | { readonly kind: 'unread' }
  | { readonly kind: 'unavailable'; readonly reason: CopyReason; readonly message: string };

/** `sources` are the objects of `share.sources`, in that order. */
export function copyOf(share: CompiledShare, sources: readonly KubeObject[], now: Date): CopyState {
  const { copy } = share;
  const types = sources.map(typeOf);
  const type = copy.type === '' ? (types[0] ?? '') : copy.type;
  const forbidden = [...types, type].find((each) => uncopiedTypes.includes(each));
  if (forbidden !== undefined)
    return unavailable('SourceTypeForbidden', `Secrets of type ${forbidden} are never copied`);
  if (sources.some(isManagedCopy))
    return unavailable('SourceNotAllowed', 'the source is itself a copy that Reeve manages');
  return isSameObjectType(share.type, secretObjectType)
    ? secretOf(share, type, sources)
    : configMapOf(share, sources, now);
}

function configMapOf(share: CompiledShare, sources: readonly KubeObject[], now: Date): CopyState {
  const made = configMapCopyOf(share, sources, now);
  return 'reason' in made ? unavailable(made.reason, made.message) : ready(made.body, made.bundle);
}

function ready(body: JsonObject, bundle?: PemBundle): CopyState {
  return { kind: 'ready', payload: { body, facts: copyFacts({ metadata: {}, ...body }), bundle } };
}

function secretOf(share: CompiledShare, type: string, sources: readonly KubeObject[]): CopyState {
  const data = joined(sources);
  if ('kind' in data) return data;
  const entries = entriesOf(share, data);
  if ('kind' in entries) return entries;
  const problem = refusalOf(type, entries, share.values.length > 0);
  if (problem !== undefined) return problem;
  // fromEntries creates own properties, also for `__proto__`, which is a legal key of a Secret.
  const copied = Object.fromEntries(entries);
  return ready({ type, data: copied, ...(share.copy.isImmutable ? { immutable: true } : {}) });
}

/** https://kubernetes.io/docs/concepts/configuration/secret/#restriction-data-size */
const maxBytes = 1_048_576;
const dockerKeys = new Map([
  ['kubernetes.io/dockerconfigjson', dockerConfigKey],
  ['kubernetes.io/dockercfg', '.dockercfg'],
]);

// The API server refuses such Secrets. So an immutable copy would be deleted, and could not be created again.

function refusalOf(type: string, entries: readonly Entry[], isBuilt: boolean): Unavailable | undefined {
  // A template can put a value into JSON that no longer parses. The API server names the key of any other invalid value.
  return keyProblem(type, entries) ?? tooLarge(entries) ?? (isBuilt ? notJson(type, entries) : undefined);
}

function keyProblem(type: string, entries: readonly Entry[]): Unavailable | undefined {
  const keys = entries.map(([key]) => key);
  const lacked = missingKeys(type, keys);
  if (lacked === undefined) return undefined;
  const message = `copies of type ${type} need ${lacked}, which the source does not give them`;
  return unavailable('KeyMissing', message);
}

function tooLarge(entries: readonly Entry[]): Unavailable | undefined {
  const sizes = entries.map(([, value]) => Buffer.byteLength(String(value), 'base64'));
  const bytes = sizes.reduce((sum, each) => sum + each, 0);
  const message = `a Secret holds at most ${maxBytes} bytes, and the copy would have ${bytes}`;
  return bytes > maxBytes ? unavailable('NotStorable', message) : undefined;
}

function notJson(type: string, entries: readonly Entry[]): Unavailable | undefined {
  const key = dockerKeys.get(type);
  const value = entries.find(([name]) => name === key)?.[1];
  return key === undefined || value === undefined || isJsonText(value)
    ? undefined
    : unavailable('NotStorable', `copies of type ${type} need a JSON object in ${key}`);
}

/** Drops the error, because it quotes the text. */
function isJsonText(value: unknown): boolean {
  try {
    return isJsonObject(JSON.parse(Buffer.from(String(value), 'base64').toString()));
  } catch {
    return false;
  }
}

type Unavailable = CopyState & { readonly kind: 'unavailable' };
/** Values in base64, by key. */
type Data = ReadonlyMap<string, unknown>;
type Entry = readonly [key: string, value: unknown];

/** Joins the keys of all sources. Names the key that two of them have. */
function joined(sources: readonly KubeObject[]): Data | Unavailable {
  const data = new Map<string, unknown>();
  for (const source of sources)
    for (const [key, value] of Object.entries(isJsonObject(source['data']) ? source['data'] : {})) {
      if (data.has(key)) return unavailable('KeyTwice', `two sources have the key ${key}`);
      data.set(key, value);
    }
  return data;
}

function entriesOf(share: CompiledShare, data: Data): readonly Entry[] | Unavailable {
  const { keys, template, dockerConfig } = share.copy;
  const isBuilt = Object.keys(template ?? {}).length > 0 || dockerConfig !== undefined;
  if (keys === undefined && !isBuilt) return [...data].map(([key, value]) => [key, value ?? '']);
  const needed = [
    ...(keys ?? []).map(({ from }) => from),
    ...(dockerConfig === undefined ? [] : [dockerConfig.usernameKey, dockerConfig.passwordKey]),
  ];
  const missing = needed.find((key) => !data.has(key));
  if (missing !== undefined) return unavailable('KeyMissing', `the source has no key ${missing}`);
  const mapped = (keys ?? []).map(({ from, to }): Entry => [to, data.get(from) ?? '']);
  const built = builtEntries(share, data);
  return 'kind' in built ? built : [...mapped, ...built];
}

/** One budget for all templates of a copy, as for one review. */
function limitedWork() {
  let spent = 0;
  return {
    spend(units: number): void {
      spent += units;
    },
    isSpent: () => spent > defaultEvaluationUnits,
  };
}

/** Shows no text of an error, because an expression can put a value into a key that is then missing. */
function builtEntries(
  { values, copy: { dockerConfig } }: CompiledShare,
  data: Data,
): readonly Entry[] | Unavailable {
  const texts = new Map(
    [...data].flatMap(([key, value]) => {
      const text = utf8Of(Buffer.from(typeof value === 'string' ? value : '', 'base64'));
      return text === undefined ? [] : [[key, text] as const];
    }),
  );
  const entries: Entry[] = [];
  const bindings = { data: Object.fromEntries(texts) };
  const work = limitedWork();
  for (const { key, template } of values) {
    const rendered = template.render(bindings, work);
    if (!rendered.ok)
      return unavailable(
        'TemplateFailed',
        `the template of key ${key} has an error: a key that it reads is missing or holds no text, an expression fails, or it needs too much work`,
      );
    entries.push([key, encoded(rendered.value)]);
  }
  if (dockerConfig === undefined) return entries;
  const { registry, usernameKey, passwordKey } = dockerConfig;
  const [username, password] = [texts.get(usernameKey), texts.get(passwordKey)];
  if (username === undefined || password === undefined)
    return unavailable('TemplateFailed', 'the user name or password of dockerConfig holds no text');
  const auth = encoded(`${username}:${password}`);
  const config = { auths: { [registry]: { username, password, auth } } };
  return [...entries, [dockerConfigKey, encoded(JSON.stringify(config))]];
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function unavailable(reason: CopyReason, message: string): Unavailable {
  return { kind: 'unavailable', reason, message };
}

function typeOf(secret: KubeObject): string {
  const type = ownMember(secret, 'type');
  return typeof type === 'string' && type !== '' ? type : 'Opaque';
}

function isManagedCopy(secret: KubeObject): boolean {
  return (
    valueOf(labelsOf(secret), managedByLabel) === managedByReeve &&
    parseProviderId(valueOf(annotationsOf(secret), ownerAnnotation)) !== undefined
  );
}
