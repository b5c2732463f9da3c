// Reads and compiles one policy, share or binding of intents from any source, or returns all of its problems.
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { ClusterIntentBindingSpec } from '../../api/intents/cluster-intent-binding.ts';
import type { IntentBinding } from '../../api/intents/intent-binding.ts';
import { apiVersion as ownVersion } from '../../schema/names.ts';
import type { NamespacePolicy } from '../../api/namespace-policy/namespace-policy.ts';
import type { Intent } from '../intents/adapter.ts';
import { compileBinding, type BindingFacts } from '../intents/compile-binding.ts';
import { noIntents, type IntentContext } from '../intents/intent-context.ts';
import {
  compiled,
  mapped,
  refused,
  andThen,
  type CompileResult,
  type Path,
  type Problem,
} from '../../base/problem.ts';
import { compileMatch } from '../terms/match.ts';
import { kinds, type Kind, type ProviderKind, type ShareKind } from '../../api/kinds.ts';
import { isSameObjectType, secretObjectType, type ObjectType } from '../../base/object-type.ts';
import { providerId, shortName } from '../terms/provider-id.ts';
import { isContentAllowed, mayCreate, type Install } from '../terms/install.ts';
import type { CompiledContent } from '../../contents/content.ts';
import type { ConfigMapShare } from '../../api/config-map-share.ts';
import type { SecretShare } from '../../api/secret-share/secret-share.ts';
import type { QuotaSpec } from '../../rules/namespace-quota.ts';
import { compilePolicy, type CompiledPolicy } from './compile-policy.ts';
import { compileConfigMapShare, compileShare, type CompiledShare } from './compile-share.ts';
import { ownMember } from '../../base/json.ts';
import { alternatives, quoted } from '../../base/text.ts';

/** A policy, or a binding in the form of a policy: that is what its intents mean. */
export interface PolicyDefinition {
  readonly kind: 'NamespacePolicy';
  readonly object: NamespacePolicy;
  readonly compiled: CompiledPolicy;
  /** Only for a binding. */
  readonly intents?: BindingFacts;
}

interface ShareOf<K extends ShareKind, O> {
  readonly kind: K;
  readonly object: O;
  readonly compiled: CompiledShare;
  readonly intents?: undefined;
}

export type ShareDefinition = ShareOf<'SecretShare', SecretShare> | ShareOf<'ConfigMapShare', ConfigMapShare>;

/**
 * A provider as it is written, and its compiled form. A switch over `kind` stands where each form needs an answer of its own:
 * then the compiler names the places that a new form needs. Elsewhere `policyIn` and `shareIn` give the parts of one form.
 */
export type ProviderDefinition = PolicyDefinition | ShareDefinition;

export type ProviderLoad = CompileResult<ProviderDefinition>;

export function policyIn(definition: ProviderDefinition | undefined): PolicyDefinition | undefined {
  return definition?.kind === 'NamespacePolicy' ? definition : undefined;
}

export function shareIn(definition: ProviderDefinition | undefined): ShareDefinition | undefined {
  return definition?.kind === 'NamespacePolicy' ? undefined : definition;
}

export function quotaIn(definition: ProviderDefinition | undefined): QuotaSpec | undefined {
  return policyIn(definition)?.object.spec.namespaces?.quota;
}

/** True for a policy that adds fields to ServiceAccounts of other owners. */
export function providesFields(definition: ProviderDefinition | undefined): boolean {
  const contents = policyIn(definition)?.compiled.contents ?? [];
  return contents.some(({ contentKind }) => contentKind.ownership === 'fields');
}

/** The compilers of the kinds. A kind without one is missing here by its type. */
const compilers: Readonly<Record<ProviderKind, (value: unknown, context: IntentContext) => ProviderLoad>> &
  Readonly<Record<Kind, (value: unknown, context: IntentContext) => CompileResult<unknown>>> = {
  NamespacePolicy: (value, { cluster }) =>
    andThen(kinds.NamespacePolicy.parse(value), (object) =>
      mapped(compilePolicy(object, cluster), (policy) => ({
        kind: 'NamespacePolicy',
        object,
        compiled: policy,
      })),
    ),
  SecretShare: (value) =>
    andThen(kinds.SecretShare.parse(value), (object) =>
      mapped(compileShare(object), (share) => ({ kind: 'SecretShare', object, compiled: share })),
    ),
  ConfigMapShare: (value) =>
    andThen(kinds.ConfigMapShare.parse(value), (object) =>
      mapped(compileConfigMapShare(object), (share) => ({ kind: 'ConfigMapShare', object, compiled: share })),
    ),
  SecurityIntent: readIntent,
  ClusterSecurityIntentBinding: (value, context) =>
    andThen(kinds.ClusterSecurityIntentBinding.parse(value), ({ metadata, spec }) =>
      loadBinding(metadata.name, undefined, spec, context),
    ),
  NamespaceClaim: (value) => kinds.NamespaceClaim.parse(value),
  SecurityIntentBinding: (value, context) =>
    andThen(kinds.SecurityIntentBinding.parse(value), (binding) => loadTenants(binding, context)),
};

/** Without a context, the intents of bindings count as missing, and a policy may read any variable of the cluster. */
export function loadProvider(kind: ProviderKind, value: unknown, context = noIntents): ProviderLoad {
  return compilers[kind](value, context);
}

/** Loads an object of any of our kinds. */
export function loadObject(kind: Kind, value: unknown): CompileResult<unknown> {
  return compilers[kind](value, noIntents);
}

/** Loads an object of the API server. Its metadata is ignored, because a later API server may accept more of it. */
export function loadSubmitted(
  kind: ProviderKind,
  { metadata, spec }: KubeObject,
  context = noIntents,
): ProviderLoad {
  const { name, namespace } = metadata;
  const kept = namespace === undefined ? { name } : { name, namespace };
  return loadProvider(kind, { apiVersion: ownVersion, kind, metadata: kept, spec }, context);
}

/** Loads an intent of the API server, in the same way. */
export function loadIntent({ metadata: { name }, spec }: KubeObject): CompileResult<Intent> {
  return readIntent({ apiVersion: ownVersion, kind: 'SecurityIntent', metadata: { name }, spec });
}

/** Loads an intent of a file. */
export function readIntent(value: unknown): CompileResult<Intent> {
  return mapped(kinds.SecurityIntent.parse(value), ({ metadata, spec }) => ({
    name: metadata.name,
    ...spec,
  }));
}

/** A tenant's binding differs from another one of its form in little more than its name and namespace. */
function loadTenants(binding: IntentBinding, context: IntentContext): ProviderLoad {
  const { metadata, spec } = binding;
  const { name, namespace } = metadata;
  const load = (): BindingLoad => loadBinding(name, namespace, spec, context);
  if (context.forms === undefined) return load();
  const form = context.forms.of(JSON.stringify([spec.intents, spec.workloads]), load);
  if (!form.ok) return form;
  const { object, compiled: policy, ...rest } = form.value;
  const match = { names: [namespace] };
  const { contact, suspend, maxDeletions, deletionPolicy } = spec;
  const { contact: _contact, ...shared } = object.spec;
  const own = { match, suspend, maxDeletions, deletionPolicy, ...(contact === undefined ? {} : { contact }) };
  const id = providerId('SecurityIntentBinding', name, namespace);
  return mapped(compileMatch(match), (compiledMatch) => ({
    ...rest,
    object: { ...object, metadata: { name }, spec: { ...shared, ...own } },
    compiled: { ...policy, id, name: shortName(id), contact, match: compiledMatch, isSuspended: suspend },
  }));
}

type BindingLoad = CompileResult<PolicyDefinition>;

// oxlint-disable-next-line max-params -- two callers, which have them all at hand
function loadBinding(
  name: string,
  namespace: string | undefined,
  spec: ClusterIntentBindingSpec,
  context: IntentContext,
): BindingLoad {
  const rendered = compileBinding({ namespace, spec }, context);
  if (!rendered.ok) return rendered;
  const { spec: policySpec, facts } = rendered.value;
  const kind = namespace === undefined ? 'ClusterSecurityIntentBinding' : 'SecurityIntentBinding';
  const object = {
    apiVersion: ownVersion,
    kind: 'NamespacePolicy',
    metadata: { name },
    spec: policySpec,
  } as const;
  const policy = compilePolicy(object, context.cluster, providerId(kind, name, namespace));
  if (!policy.ok)
    return refused(policy.problems.map((each) => ({ ...each, path: facts.sourceOf(each.path) })));
  const contents = policy.value.contents.map((content, index) => onlyIn(facts.onlyIn[index], content));
  return compiled({
    kind: 'NamespacePolicy',
    object,
    compiled: { ...policy.value, contents },
    intents: facts,
  });
}

/** Such an object differs between namespaces, as a template does. */
function onlyIn(namespace: string | undefined, content: CompiledContent): CompiledContent {
  if (namespace === undefined) return content;
  return {
    ...content,
    isTemplated: true,
    render: (namespaceObject, budget) =>
      nameOf(namespaceObject) === namespace ? content.render(namespaceObject, budget) : [],
  };
}

// What of a definition the installation does not allow: source namespaces, kinds of contents, names of copies.

/** Returns the sources of a share that the schema has not checked, each with its path. */
export function writtenSources(spec: unknown): readonly (readonly [Path, unknown])[] {
  const several = ownMember(spec, 'sources');
  const listed: readonly unknown[] = Array.isArray(several) ? several : [];
  return [
    [['spec', 'source'], ownMember(spec, 'source')],
    ...listed.map((each, index) => [['spec', 'sources', index], each] as const),
  ];
}

/** Reads the object without the schema, so that this problem is reported together with those of the schema. */
export function sourceProblems(
  kind: ProviderKind,
  { spec }: Pick<KubeObject, string>,
  { sourceNamespaces }: Install,
): readonly Problem[] {
  if (kinds[kind].copies === undefined) return [];
  return writtenSources(spec).flatMap(([path, source]) => {
    const namespace = ownMember(source, 'namespace');
    // The schema reports a value that is not text.
    if (typeof namespace !== 'string' || sourceNamespaces.includes(namespace)) return [];
    const names = alternatives(sourceNamespaces);
    const accepted = names === '' ? 'nothing: the installation has no namespaces for sources' : names;
    return [{ path: [...path, 'namespace'], found: quoted(namespace), accepted }];
  });
}

/** Returns the field with a source of the share. */
export function sourceField({ object: { spec } }: ShareDefinition, index: number): Path {
  return 'source' in spec ? ['spec', 'source'] : ['spec', 'sources', index];
}

/** Returns the kinds of the provided objects that the installation does not allow, each once. */
export function kindsNotAllowed(definition: ProviderDefinition, install: Install): readonly ObjectType[] {
  const share = shareIn(definition)?.compiled;
  if (share !== undefined) {
    const { type, copy } = share;
    return isOfSecrets(share) || mayCreate({ type, name: copy.name }, install) ? [] : [type];
  }
  const unlike = new Map<string, ObjectType>();
  for (const content of policyIn(definition)?.compiled.contents ?? []) {
    const { type } = content;
    if (!isContentAllowed(content, install)) unlike.set(`${type.apiVersion}/${type.kind}`, type);
  }
  return [...unlike.values()];
}

function isOfSecrets({ type }: Pick<CompiledShare, 'type'>): boolean {
  return isSameObjectType(type, secretObjectType);
}

/** Returns the name of the copies when the installation does not allow it. A template gives a name only with a namespace. */
export function nameNotAllowed(definition: ProviderDefinition, install: Install): string | undefined {
  const share = shareIn(definition)?.compiled;
  if (share === undefined || !isOfSecrets(share) || share.copy.name.includes('${')) return undefined;
  const { type, copy } = share;
  return mayCreate({ type, name: copy.name }, install) ? undefined : copy.name;
}
