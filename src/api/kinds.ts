// Lists our kinds, each in one line, and writes their CustomResourceDefinitions.
import type { KubeObject } from '../base/metadata.ts';
import { apiVersion, category, group, version } from '../schema/names.ts';
import { toOpenApi, type OpenApi } from '../schema/openapi.ts';
import { clusterIntentBinding } from './intents/cluster-intent-binding.ts';
import { intentBinding } from './intents/intent-binding.ts';
import { securityIntent } from './intents/security-intent.ts';
import type { KindDefinition } from './kind.ts';
import { namespaceClaim } from './namespace-claim/namespace-claim.ts';
import { namespacePolicy } from './namespace-policy/namespace-policy.ts';
import { configMapShare } from './config-map-share.ts';
import { secretShare } from './secret-share/secret-share.ts';

/** Ordered by precedence: where two providers want one object, or default one key, the first kind wins. */
export const kinds = {
  [namespacePolicy.kind]: namespacePolicy,
  [secretShare.kind]: secretShare,
  [configMapShare.kind]: configMapShare,
  [securityIntent.kind]: securityIntent,
  [clusterIntentBinding.kind]: clusterIntentBinding,
  [intentBinding.kind]: intentBinding,
  [namespaceClaim.kind]: namespaceClaim,
} as const satisfies Readonly<Record<string, KindDefinition>>;

type ListedKind = (typeof kinds)[keyof typeof kinds];
export type Kind = ListedKind['kind'];
/** A kind whose objects provide objects in namespaces. An intent provides nothing itself, and a claim is no policy. */
export type ProviderKind = Exclude<ListedKind, { readonly word: 'intent' | 'claim' }>['kind'];
export type ShareKind = Extract<ListedKind, { readonly word: 'share' }>['kind'];
export type BindingKind = Extract<ListedKind, { readonly word: 'binding' }>['kind'];
/** A kind whose writes decide about objects in namespaces. */
export type DecidingKind = Exclude<ListedKind, { readonly word: 'claim' }>;

/** The kinds in their order. */
export const kindDefinitions: readonly ListedKind[] = Object.values(kinds);

/** The kinds that each process keeps. Only the reconciler keeps claims, and the webhook reads one when it needs it. */
export const decidingKinds: readonly DecidingKind[] = kindDefinitions.filter(
  (each): each is DecidingKind => each.word !== 'claim',
);

export function crdOf(definition: KindDefinition): KubeObject {
  const { kind, plural, shortName, scope, schemas, columns } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: [category],
      },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          ...(schemas.status === undefined ? {} : { subresources: { status: {} } }),
          schema: { openAPIV3Schema: rootSchema(definition) },
        },
      ],
    },
  };
}

function rootSchema({ kind, schemas: { description, name, spec, status } }: KindDefinition): OpenApi {
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      // `kubectl explain` prints these descriptions too.
      apiVersion: { type: 'string', description: `The group and version of this object: ${apiVersion}.` },
      kind: { type: 'string', description: `The kind of this object: ${kind}.` },
      // For metadata, the API server accepts a schema of the name only, without a description.
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: name.maxLength } } },
      spec: toOpenApi(spec),
      ...(status === undefined ? {} : { status: toOpenApi(status) }),
    },
  };
}
