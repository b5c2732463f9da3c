// Shows the values that a rule compared although it holds. Of a Secret only its type, its size and the names of its keys.
import type { NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { RuleId } from '../../api/namespace-policy/rule-ids.ts';
import { allowDeletionAnnotation } from '../../schema/names.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { keyPath, metadataMap, nameOf, valueOf, type MetadataField } from '../../base/metadata.ts';
import { alternatives, clipped, quoted } from '../../base/text.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import { describeRequesters } from '../../policy/rules/requesters.ts';
import { secretSize, secretType } from '../../policy/rules/secret-values.ts';
import type { Review } from '../../policy/terms/review.ts';
import type { ExplainedRule } from '../output-schemas/explanation.ts';

type Compared = NonNullable<ExplainedRule['compared']>;

interface Judged {
  readonly policy: CompiledPolicy;
  readonly spec: NamespacePolicySpec;
  readonly review: Pick<Review, 'object' | 'oldObject' | 'operation' | 'requester'>;
}

/** Nothing for a rule that has nothing to compare in such a request. */
export function comparedValues(rule: RuleId, judged: Judged): Compared {
  const object = judged.review.object ?? judged.review.oldObject ?? { metadata: {} };
  return (
    ofKeys[rule]?.(judged, object) ??
    ofObjects[rule]?.(judged.spec, object) ??
    ofValidation(rule, judged.spec)
  );
}

const ofKeys: Readonly<Record<string, (judged: Judged, object: KubeObject) => Compared>> = {
  'namespaces.name': ({ spec: { namespaces } }, object) => [
    {
      path: 'metadata.name',
      found: quoted(nameOf(object)),
      accepted: `a name that matches ${namespaces?.name?.pattern ?? ''}`,
    },
  ],
  'namespaces.required': ({ policy: { requirements } }, object) =>
    requirements.map(({ field, key, accepted }) => ({ ...keyOf(object, field, key), accepted })),
  'namespaces.defaults': ({ policy: { namespaceDefaults } }, object) =>
    namespaceDefaults.map(({ field, key }) => ({ ...keyOf(object, field, key), accepted: 'a value' })),
  'namespaces.immutable': ({ spec: { namespaces }, review: { object: after, oldObject } }, object) =>
    (['labels', 'annotations'] as const).flatMap((field) =>
      (after === undefined || oldObject === undefined ? [] : (namespaces?.immutable?.[field] ?? [])).map(
        (key) => ({
          ...keyOf(object, field, key),
          accepted: setBefore(oldObject, field, key),
        }),
      ),
    ),
  'namespaces.requesters': ({ spec: { namespaces }, review: { operation, requester } }) =>
    operation === 'CREATE'
      ? [
          {
            path: 'request.userInfo',
            found: `user ${quoted(requester.username)}`,
            accepted: describeRequesters(namespaces?.requesters ?? {}),
          },
        ]
      : [],
  'namespaces.quota': ({ spec: { namespaces: { quota } = {} }, review }, object) =>
    quota === undefined || review.object === undefined
      ? []
      : [
          {
            ...keyOf(object, 'labels', quota.label),
            accepted: `at most ${quota.max} namespaces with one value`,
          },
        ],
  'namespaces.deletion': ({ review: { operation } }, object) =>
    operation === 'DELETE'
      ? [{ ...keyOf(object, 'annotations', allowDeletionAnnotation), accepted: quoted(nameOf(object)) }]
      : [],
  // kubectl apply stores the data of a Secret in an annotation.
  'secrets.defaults': ({ policy: { secretDefaults } }, object) =>
    secretDefaults.map(({ field, key }) => {
      const hasKey = valueOf(metadataMap(object, field), key) !== undefined;
      return { path: keyPath(field, key), found: hasKey ? 'a value' : 'nothing', accepted: 'a value' };
    }),
};

function keyOf(object: KubeObject, field: MetadataField, key: string) {
  const value = valueOf(metadataMap(object, field), key);
  return { path: keyPath(field, key), found: value === undefined ? 'nothing' : quoted(value) };
}

function setBefore(oldObject: KubeObject | undefined, field: MetadataField, key: string): string {
  const before = valueOf(metadataMap(oldObject, field), key);
  return before === undefined ? 'any value' : `${quoted(before)}, which it was set to`;
}

const ofObjects: Readonly<Record<string, (spec: NamespacePolicySpec, object: KubeObject) => Compared>> = {
  'secrets.forbiddenTypes': ({ secrets: { forbiddenTypes = [] } = {} }, secret) => [
    {
      path: 'type',
      found: quoted(secretType(secret)),
      accepted: `a type other than ${alternatives(forbiddenTypes.map(quoted))}`,
    },
  ],
  'secrets.allowedTypes': ({ secrets: { allowedTypes = [] } = {} }, secret) => [
    { path: 'type', found: quoted(secretType(secret)), accepted: alternatives(allowedTypes.map(quoted)) },
  ],
  'secrets.maxBytes': ({ secrets: { maxBytes = 0 } = {} }, secret) => [
    { path: 'data', found: `${secretSize(secret)} bytes`, accepted: `at most ${maxBytes} bytes` },
  ],
  'secrets.tls': (_, secret) => [
    {
      path: 'data',
      found: keyNames(secret),
      accepted: 'in a Secret of type kubernetes.io/tls: a valid pair',
    },
  ],
  'secrets.dockerConfig': ({ secrets: { dockerConfig = {} } = {} }, secret) => [
    {
      path: 'data',
      found: keyNames(secret),
      accepted: `in a Docker configuration: ${alternatives(dockerConfig.allowedRegistries ?? ['any registry'])}`,
    },
  ],
  'rbac.allowedRoleRefs': ({ rbac }, object) => [
    {
      path: 'roleRef',
      found: nameIn(object['roleRef']),
      accepted: alternatives(rbac?.allowedRoleRefs ?? []) || 'no role at all',
    },
  ],
  'rbac.forbiddenSubjects': ({ rbac }, object) =>
    itemsOf(object, 'subjects').map((subject, index) => ({
      path: `subjects[${index}]`,
      found: nameIn(subject),
      accepted: `a subject other than ${alternatives(rbac?.forbiddenSubjects ?? [])}`,
    })),
  'rbac.forbidWildcardRules': (_, object) => [
    { path: 'rules', found: `${itemsOf(object, 'rules').length} without *`, accepted: 'rules without *' },
  ],
};

/** Values can be secret, names of keys are not. */
function keyNames(secret: KubeObject): string {
  const names = ['data', 'stringData'].flatMap((field) => {
    const map = secret[field];
    return isJsonObject(map) ? Object.keys(map) : [];
  });
  return names.length === 0 ? 'no key' : clipped([...new Set(names)].sort().join(', '), maxShown);
}

const maxShown = 300;

function ofValidation(rule: RuleId, { validations = [] }: NamespacePolicySpec): Compared {
  const validation = validations.find(({ name }) => `validations/${name}` === rule);
  if (validation === undefined) return [];
  return [
    { path: 'object', found: 'true', accepted: `true for ${clipped(validation.expression, maxShown)}` },
  ];
}

function nameIn(ref: unknown): string {
  return clipped(`${String(ownMember(ref, 'kind'))}/${String(ownMember(ref, 'name'))}`);
}

function itemsOf(object: KubeObject, field: string): readonly unknown[] {
  const value = object[field];
  return Array.isArray(value) ? value : [];
}
