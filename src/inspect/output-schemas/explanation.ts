// Defines the JSON of `reeve explain`: why an object is as it is, or is missing.
import { boolean, choice, object, type Infer } from '../../schema/schema.ts';
import { comparison, header, namedObject, rows, unreadKinds, words } from './parts.ts';

const term = object({
  description: 'The first term of a match that fails.',
  fields: { ...comparison, near: words('The word that was probably meant.') },
  required: ['path', 'found', 'accepted'],
});

const rule = object({
  description: 'What one rule says.',
  fields: {
    policy: words('The policy.'),
    rule: words('The rule, such as namespaces.required.'),
    namespace: words('Of a policy: the namespace in which the rule is violated. A quota has none.'),
    outcome: choice('What the rule says.', ['holds', 'violated', 'excepted', 'not checked', 'error']),
    message: words('Why, for people.'),
    until: words('When the exception ends.'),
    compared: rows(
      'The values that were compared.',
      object({
        description: 'A value.',
        fields: comparison,
        required: ['path', 'found', 'accepted'],
      }),
    ),
  },
  required: ['policy', 'rule', 'outcome'],
});

const provided = object({
  description: 'An object that a provider gives, or does not give.',
  fields: {
    object: namedObject,
    outcome: words('in sync, create, conflict, skipped and the like: the actions of a plan.'),
    message: words('Why, for people.'),
  },
  required: ['object', 'outcome'],
});

const provider = object({
  description: 'A policy, share or binding, seen from the target.',
  fields: {
    id: words('Its kind and name.'),
    matches: choice('Whether its match holds.', ['yes', 'no', 'error']),
    term,
    message: words('Why, for people.'),
    objects: rows('What it provides here.', provided),
    users: rows('Who may use it.', words('A user, a group or a ServiceAccount.')),
  },
  required: ['id', 'matches', 'objects'],
});

const right = object({
  description: 'A right that a provider needs.',
  fields: {
    holder: words('Reeve, or the author.'),
    right: words('The verb and the resource.'),
    outcome: choice('Whether the holder has the right.', ['held', 'missing', 'unknown']),
  },
  required: ['holder', 'right', 'outcome'],
});

const permission = object({
  description: 'What a user may do.',
  fields: {
    action: words('The action, such as delete namespace team-a.'),
    outcome: choice(
      'allowed; refused by Reeve; no right: RBAC of the cluster refuses it; unknown: a role could not be read.',
      ['allowed', 'refused', 'no right', 'unknown'],
    ),
    message: words('Why, for people.'),
  },
  required: ['action', 'outcome'],
});

const condition = object({
  description: 'The condition reeve.dev/Ready of a namespace.',
  fields: {
    status: choice('The status.', ['True', 'False', 'Unknown']),
    reason: words('One word for programs.'),
    message: words('Why, for people.'),
  },
  required: ['status', 'reason', 'message'],
});

export const explanation = object({
  description: 'What reeve explain found.',
  fields: {
    ...header('Explanation'),
    about: choice('What is explained.', ['namespace', 'provider', 'object', 'request']),
    target: namedObject,
    found: boolean('False if the target does not exist.'),
    summary: words('The answer in one sentence.'),
    unread: unreadKinds,
    ready: condition,
    notes: rows('What else to know, such as a part without effect.', words('A sentence.')),
    providers: rows('The policies, shares and bindings, by kind and name.', provider),
    rules: rows('The rules, by policy.', rule),
    rights: rows('The rights that the provider needs.', right),
    namespaces: rows('The namespaces that the provider matches.', words('A name.')),
    allowed: boolean('For a request: whether it is allowed.'),
    user: words('The user of --as.'),
    may: rows('What the user of --as may do here.', permission),
    refusal: words('For a request: the refusal, word by word.'),
  },
  required: ['apiVersion', 'kind', 'about', 'target', 'found', 'summary', 'unread'],
});

export type ExplainedTerm = Infer<typeof term>;
export type ExplainedRule = Infer<typeof rule>;
export type ExplainedObject = Infer<typeof provided>;
export type ExplainedProvider = Infer<typeof provider>;
export type ExplainedRight = Infer<typeof right>;
export type ExplainedPermission = Infer<typeof permission>;
export type ExplainOutput = Infer<typeof explanation>;
