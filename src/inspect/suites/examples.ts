// Writes requests that the rules of one policy may allow or refuse. The engine says which of them do.
import type { MetadataField } from '../../base/metadata.ts';
import { metadataMap, nameOf } from '../../base/metadata.ts';
import { allowDeletionAnnotation, useVerb } from '../../schema/names.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { kindOfProvider, providerResources } from '../../policy/terms/provider-id.ts';
import {
  labelPairs,
  matchingPolicies,
  quotaFillers,
  textsIn,
  withLabels,
  type ExampleNamespace,
  type ExamplePolicy,
} from './example-namespaces.ts';
import { objectExamples, type Example } from './example-objects.ts';
import type { SuiteRequest } from './suite.ts';

/** The sender of the requests. Only a person can create a Namespace whose contents name its creator. */
export type Sender = 'administrator' | 'person';

/** Returns the creation of a Namespace by a sender whom all matching policies accept as requester. */
export function creating(
  namespace: ExampleNamespace,
  all: readonly ProviderDefinition[],
  sender: Sender,
): SuiteRequest {
  const requesters = matchingPolicies(namespace, all).flatMap(({ compiled }) => compiled.requesters ?? []);
  const groups = [...new Set(requesters.flatMap((each) => each.groups?.slice(0, 1) ?? []))];
  const [user = 'example-user'] = requesters
    .filter((each) => (each.groups ?? []).length === 0)
    .flatMap(({ users = [], serviceAccounts = [] }) => [
      ...users,
      ...serviceAccounts.map((account) => `serviceaccount:${account}`),
    ]);
  return {
    ...(sender === 'person' && { as: user, may: rightsToUse(all) }),
    ...(groups.length > 0 && { groups }),
    create: namespace,
  };
}

/** Returns rights with which no request is refused for steering a Namespace. */
function rightsToUse(all: readonly ProviderDefinition[]): readonly string[] {
  const kinds = new Set(all.map(({ compiled }) => kindOfProvider(compiled.id)));
  return [...kinds].map((kind) => `${useVerb} ${providerResources[kind]}`);
}

export function examplesOf(
  provider: ProviderDefinition,
  namespace: ExampleNamespace,
  all: readonly ProviderDefinition[],
  sender: Sender,
): readonly Example[] {
  const text = `Namespace ${nameOf(namespace)}`;
  const create = (variant: ExampleNamespace, title: string): Example => ({
    title: `creating ${title}`,
    request: creating(variant, all, sender),
  });
  const first = {
    ...create(namespace, `${text}, which ${provider.compiled.id} matches,`),
    isFirst: true as const,
  };
  if (provider.kind === 'SecretShare') return [first];
  return [
    first,
    {
      title: `creating ${text} as another user`,
      request: { as: 'another-user', may: rightsToUse(all), create: namespace },
    },
    ...withoutEach(namespace).map(([variant, key]) => create(variant, `${text} without ${key}`)),
    ...otherNames(namespace).map((variant) => create(variant, `Namespace ${nameOf(variant)}`)),
    ...otherValues(provider, namespace).map(([variant, key]) => create(variant, `${text} with ${key}`)),
    ...updates(provider, namespace),
    ...deletions(namespace),
    ...objectExamples(provider, nameOf(namespace)),
  ];
}

type Variant = readonly [variant: ExampleNamespace, key: string];

const fields = ['labels', 'annotations'] as const satisfies readonly MetadataField[];
const words = { labels: 'label', annotations: 'annotation' } as const;

function withoutEach(namespace: ExampleNamespace): readonly Variant[] {
  return fields.flatMap((field) => {
    const entries = Object.entries(metadataMap(namespace, field));
    return entries.map(([key]): Variant => {
      const left = Object.fromEntries(entries.filter(([each]) => each !== key));
      const metadata = { ...namespace.metadata, [field]: left };
      return [{ ...namespace, metadata }, `${words[field]} ${key}`];
    });
  });
}

function otherNames(namespace: ExampleNamespace): readonly ExampleNamespace[] {
  const longest = 63;
  const names = ['x', 'another', nameOf(namespace).padEnd(longest, 'x')];
  return names.map((name) => ({ ...namespace, metadata: { ...namespace.metadata, name } }));
}

function otherValues(policy: ExamplePolicy, namespace: ExampleNamespace): readonly Variant[] {
  const quota = quotaFillers(policy, namespace);
  const { label = '' } = policy.object.spec.namespaces?.quota ?? {};
  const labels = Object.keys(metadataMap(namespace, 'labels'));
  const pairs: readonly (readonly [string, string])[] = [
    ...(quota === undefined ? [] : [[label, quota.value] as const]),
    ...labels.map((key) => [key, 'another'] as const),
    ...labelPairs(textsIn(policy)),
  ];
  return pairs.map(([key, value]) => [
    withLabels(namespace, new Map([[key, value]])),
    `label ${key} ${value}`,
  ]);
}

function updates({ object }: ExamplePolicy, namespace: ExampleNamespace): readonly Example[] {
  const name = nameOf(namespace);
  const immutable = object.spec.namespaces?.immutable ?? {};
  const kept = fields.flatMap((field) => (immutable[field] ?? []).map((key) => [field, key] as const));
  const update = (from: ExampleNamespace, field: MetadataField, key: string): SuiteRequest => ({
    update: `namespace/${name}`,
    from,
    set: { metadata: { [field]: { [key]: 'changed' } } },
  });
  return [
    { title: `changing label example of Namespace ${name}`, request: update(namespace, 'labels', 'example') },
    ...kept.map(([field, key]) => {
      const isSet = Object.hasOwn(metadataMap(namespace, field), key);
      const from = isSet ? namespace : withLabels(namespace, new Map([[key, 'example']]), field);
      return {
        title: `changing ${words[field]} ${key} of Namespace ${name}`,
        request: update(from, field, key),
      };
    }),
  ];
}

function deletions(namespace: ExampleNamespace): readonly Example[] {
  const name = nameOf(namespace);
  const released = withLabels(namespace, new Map([[allowDeletionAnnotation, name]]), 'annotations');
  return [
    { title: `deleting Namespace ${name}`, request: { delete: `namespace/${name}`, from: namespace } },
    {
      title: `deleting Namespace ${name} with annotation ${allowDeletionAnnotation}`,
      request: { delete: `namespace/${name}`, from: released },
    },
  ];
}
