// Defines the kind NamespaceClaim: its fields, and the types derived from them.
import type { Problem } from '../../base/problem.ts';
import { labelValue, metadataKey, namespaceName } from '../../schema/common-fields.ts';
import { isOurKey } from '../../schema/names.ts';
import {
  choice,
  list,
  map,
  object,
  specification,
  text,
  withDefault,
  type Infer,
} from '../../schema/schema.ts';
import { defineKind, type ObjectOfKind } from '../kind.ts';
import { providerName, sharedColumns } from '../provider-fields.ts';
import { condition, generation, note } from '../status-fields.ts';

const maxKeys = 64;
const key = metadataKey('A label or annotation key, but none of reeve.dev.');

/** Named as in `request.userInfo` and in CertificateRequests of cert-manager. */
const requester = object({
  description:
    'The user who last wrote the spec, as the webhook stamped it. Reeve judges the Namespace as one that this user creates. Leave it out: a value that is not the user of the request is refused.',
  fields: {
    username: text({ description: 'The name of the user.', minLength: 1, maxLength: 1024, braces: 'plain' }),
    uid: text({ description: 'The UID of the user.', maxLength: 1024, braces: 'plain' }),
    groups: list({
      description: 'The groups of the user.',
      items: text({ description: 'A group.', maxLength: 1024, braces: 'plain' }),
      maxItems: 5000,
    }),
    extra: map({
      description: 'What else the authenticator says of the user.',
      keys: text({ description: 'A key.', maxLength: 1024, braces: 'plain' }),
      values: list({
        description: 'Values.',
        items: text({ description: 'A value.', maxLength: 16_384, braces: 'plain' }),
        maxItems: 1000,
      }),
      maxProperties: 100,
    }),
  },
  required: ['username'],
});

const spec = specification({
  description: 'The Namespace that is claimed.',
  fields: {
    name: namespaceName(
      'The name of the Namespace. It never changes. A Namespace that exists already is never taken over. Example: shop-dev.',
    ),
    policy: {
      ...providerName,
      description: 'The NamespacePolicy that must match the Namespace. Example: team-namespaces.',
    },
    labels: map({
      description: 'Labels of the Namespace. Example: {team: shop}.',
      keys: key,
      values: labelValue('The value.'),
      maxProperties: maxKeys,
    }),
    annotations: map({
      description: 'Annotations of the Namespace. Example: {contact: shop@example.com}.',
      keys: key,
      values: text({ description: 'Any text.', maxLength: 4096, braces: 'plain' }),
      maxProperties: maxKeys,
    }),
    deletionPolicy: withDefault(
      choice(
        'What happens to the Namespace when the claim is deleted. Retain leaves it without a claim. Delete deletes it, if the policies allow that to the user who deletes the claim. Default: Retain.',
        ['Retain', 'Delete'],
      ),
      'Retain',
    ),
    requester,
  },
  required: ['name', 'policy'],
});

type ClaimSpec = Infer<typeof spec>;

export const namespaceClaim = defineKind({
  kind: 'NamespaceClaim',
  plural: 'namespaceclaims',
  shortName: 'nsclaim',
  word: 'claim',
  scope: 'Namespaced',
  mayBeMissing: true,
  description:
    'NamespaceClaim asks for one Namespace of a policy. Its writer needs no right to create Namespaces: Reeve judges the Namespace by all policies as one that the writer creates, and then creates it. Only for installations with --namespace-claims.',
  spec,
  status: object({
    description: 'What Reeve reports about the claim; written by Reeve alone.',
    fields: {
      observedGeneration: generation('The generation of the claim that the status describes.'),
      namespaceUID: note('The UID of the Namespace that Reeve created. A claim never creates a second one.'),
      conditions: list({
        description:
          'Ready: the Namespace exists, and its own condition reeve.dev/Ready is true. Otherwise the reason says what is missing.',
        items: condition('claim', 'Ready'),
        maxItems: 10,
        unique: { key: 'type' },
      }),
    },
  }),
  columns: [
    {
      name: 'Namespace',
      type: 'string',
      jsonPath: '.spec.name',
      description: 'The Namespace that is claimed.',
    },
    { name: 'Policy', type: 'string', jsonPath: '.spec.policy', description: 'The policy of the Namespace.' },
    sharedColumns.ready,
    sharedColumns.reason,
    sharedColumns.age,
  ],
  problemsOf,
});

export type NamespaceClaim = ObjectOfKind<typeof namespaceClaim>;

/** Kubernetes reserves the prefix. https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/ */
const reservedPrefix = 'kube-';

/** Reeve keeps all claims in memory. */
const maxAnnotationBytes = 16_384;

function tooLong(annotations: Readonly<Record<string, string>>): readonly Problem[] {
  const bytes = Buffer.byteLength(JSON.stringify(annotations));
  if (bytes <= maxAnnotationBytes) return [];
  const accepted = `annotations of at most ${maxAnnotationBytes} bytes in all`;
  return [{ path: ['spec', 'annotations'], found: `${bytes} bytes`, accepted }];
}

/** What they allow Pods needs the right to change Namespaces. The policy sets them. */
const ofAdministrators = ['pod-security.kubernetes.io/', 'scheduler.alpha.kubernetes.io/', 'kubernetes.io/'];

const ofPolicies =
  'a key that does not decide what Pods may do; the policy sets it (namespaces.enforced or defaults)';

function isOfAdministrators(written: string): boolean {
  return ofAdministrators.some((prefix) => written.startsWith(prefix));
}

function problemsOf({ name, labels = {}, annotations = {} }: ClaimSpec): readonly Problem[] {
  const reserved = name.startsWith(reservedPrefix)
    ? [{ path: ['spec', 'name'], found: name, accepted: `a name that does not begin with ${reservedPrefix}` }]
    : [];
  const keysWith = (isRefused: (written: string) => boolean, accepted: string): readonly Problem[] =>
    Object.entries({ labels, annotations }).flatMap(([field, values]) =>
      Object.keys(values)
        .filter(isRefused)
        .map((found) => ({ path: ['spec', field, found], found, accepted })),
    );
  return [
    ...reserved,
    ...keysWith(isOurKey, 'a key that Reeve does not set itself'),
    ...keysWith(isOfAdministrators, ofPolicies),
    ...tooLong(annotations),
  ];
}
