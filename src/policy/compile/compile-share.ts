// Compiles a share: the namespaces that get a copy, the sources, and the form of the copy.
import type { ConfigMapShare } from '../../api/config-map-share.ts';
import type { ShareKind } from '../../api/kinds.ts';
import type { SecretShare } from '../../api/secret-share/secret-share.ts';
import { writtenMetadata, type StringMap } from '../../base/metadata.ts';
import { configMapType, secretObjectType, type ObjectType } from '../../base/object-type.ts';
import { allOf, andThen, both, compiled, mapped, refused, type CompileResult } from '../../base/problem.ts';
import { compileTemplate, type Template } from '../../cel/template.ts';
import { compileTexts } from '../../contents/compile-content.ts';
import { labelText } from '../../contents/content-fields.ts';
import { nameCheckOf } from '../../contents/resources.ts';
import type { CompiledTexts, TextCheck } from '../../contents/content.ts';
import { createOnce } from '../../contents/create-once.ts';
import { compileMatch, type CompiledMatch } from '../terms/match.ts';
import { providerId, type ProviderId } from '../terms/provider-id.ts';

export interface CompiledShare {
  readonly id: ProviderId;
  readonly name: string;
  readonly contact: string | undefined;
  readonly match: CompiledMatch;
  /** The kind of the copies. */
  readonly type: ObjectType;
  /** At least one. */
  readonly sources: readonly SourceRef[];
  readonly copy: CopySpec;
  /** The compiled templates of values. */
  readonly values: readonly ValueTemplate[];
  /** True when a template of the copies reads the Namespace. */
  readonly readsNamespace: boolean;
  /** True if a copy is created once and then left to its namespace. */
  readonly isCreatedOnce: boolean;
  /** Returns the metadata of the copy in a namespace. */
  readonly copyIn: CompiledTexts<CopyMetadata>['render'];
  readonly isSuspended: boolean;
}

export interface SourceRef {
  readonly type: ObjectType;
  readonly namespace: string;
  readonly name: string;
  /** The keys to copy into a ConfigMap. Undefined: as `copy` says, or all. */
  readonly keys?: readonly KeyMapping[] | undefined;
}

interface KeyMapping {
  readonly from: string;
  readonly to: string;
}

/** The value of one key, built from the values of the sources. */
interface ValueTemplate {
  readonly key: string;
  readonly template: Template;
}

/** As the share has it, the texts can be templates. */
export interface CopyMetadata {
  readonly name: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

export interface CopySpec extends CopyMetadata {
  /** Empty: the type of the source. */
  readonly type: string;
  /** Undefined: all keys, under their own names. */
  readonly keys: readonly KeyMapping[] | undefined;
  readonly template?: Readonly<Record<string, string>> | undefined;
  readonly dockerConfig?: {
    readonly registry: string;
    readonly usernameKey: string;
    readonly passwordKey: string;
  };
  /** The key of a ConfigMap that gets the certificates of all sources. */
  readonly bundleKey?: string | undefined;
  readonly isImmutable: boolean;
}

/** Returns what decides the type and the values of the copies. Their metadata is compared namespace by namespace. */
export function payloadForm({ sources, copy }: CompiledShare): unknown {
  const { name: _name, labels: _labels, annotations: _annotations, ...form } = copy;
  return [sources, form];
}

export function compileShare({ metadata, spec }: SecretShare): CompileResult<CompiledShare> {
  const type = secretObjectType;
  const listed = spec.source === undefined ? (spec.sources ?? []) : [spec.source];
  const sources = listed.map((source) => ({ type, ...source }));
  const form = copySpec(spec.target);
  const copies = compileCopies('SecretShare', metadata.name, spec, { type, sources, form });
  return mapped(both(copies, compileValues(spec.target?.template)), ([share, values]) => ({
    ...share,
    values,
  }));
}

export function compileConfigMapShare({ metadata, spec }: ConfigMapShare): CompileResult<CompiledShare> {
  const sources = spec.sources.map(({ kind, namespace, name, keys }) => ({
    type: kind === 'Secret' ? secretObjectType : configMapType,
    namespace,
    name,
    keys: keys?.map(({ from, to = from }) => ({ from, to })),
  }));
  const { key: bundleKey, immutable: isImmutable = false } = spec.target ?? {};
  const form = { type: '', keys: undefined, bundleKey, isImmutable };
  return compileCopies('ConfigMapShare', metadata.name, spec, { type: configMapType, sources, form });
}

interface WrittenShare extends Pick<SecretShare['spec'], 'contact' | 'suspend' | 'mode' | 'targets'> {
  readonly target?: { readonly [F in keyof CopyMetadata]?: CopyMetadata[F] | undefined } | undefined;
}

interface CopyParts extends Pick<CompiledShare, 'type' | 'sources'> {
  readonly form: Omit<CopySpec, keyof CopyMetadata>;
}

/** Compiles what the kinds of shares have in common. */
// oxlint-disable-next-line max-params -- two callers, which have them all at hand
function compileCopies(
  kind: ShareKind,
  shareName: string,
  { contact, suspend, mode, targets, target }: WrittenShare,
  { type, sources, form }: CopyParts,
): CompileResult<CompiledShare> {
  const { name = sources[0]?.name ?? '', labels = {}, annotations = {} } = target ?? {};
  const written: CopyMetadata = { name, labels, annotations };
  const texts = compileTexts(
    {
      path: ['spec', 'target'],
      type,
      name,
      template: {
        value: written,
        isFixed: () => false,
        checks: ([field]) => copyCheckOf(field, type),
      },
    },
    writtenMetadata,
  );
  return andThen(texts, ({ isTemplated, render }) =>
    mapped(compileMatch(targets), (match) => ({
      id: providerId(kind, shareName),
      name: shareName,
      contact,
      match,
      type,
      sources,
      copy: { ...written, ...form },
      values: [],
      readsNamespace: isTemplated,
      isCreatedOnce: mode === createOnce,
      copyIn: render,
      isSuspended: suspend,
    })),
  );
}

function copySpec(target: SecretShare['spec']['target']): Omit<CopySpec, keyof CopyMetadata> {
  const { type = '', keys, template, dockerConfig, immutable = false } = target ?? {};
  return {
    type: dockerConfig === undefined ? type : 'kubernetes.io/dockerconfigjson',
    keys,
    ...(template === undefined ? {} : { template }),
    ...(dockerConfig === undefined ? {} : { dockerConfig }),
    isImmutable: immutable,
  };
}

function compileValues(
  texts: Readonly<Record<string, string>> = {},
): CompileResult<readonly ValueTemplate[]> {
  return allOf(
    Object.entries(texts).map(([key, source]): CompileResult<ValueTemplate> => {
      const result = compileTemplate(source, { variables: ['data'] });
      if (result.ok) return compiled({ key, template: result.template });
      const { message, offset } = result.problem;
      const accepted = 'text with CEL in ${ }, over data, the values of the sources';
      return refused([{ path: ['spec', 'target', 'template', key], found: message, accepted, offset }]);
    }),
  );
}

function copyCheckOf(field: string | number | undefined, type: ObjectType): TextCheck | undefined {
  if (field === 'name') return nameCheckOf(type);
  return field === 'labels' ? labelText : undefined;
}
