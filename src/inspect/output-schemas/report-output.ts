// Defines the JSON of `reeve report`: everything that is not as policies want it, and everything that ends.
import { boolean, choice, map, object, type Infer } from '../../schema/schema.ts';
import { comparison, header, namedObject, numberOf, rows, unreadKinds, words } from './parts.ts';

/** Sorted as a report is, with the worst first. */
export const reportSections = [
  'violation',
  'conflict',
  'blocked',
  'held',
  'skipped',
  'exception',
  'grant',
] as const;

const section = choice(
  'What the entry is. violation: a rule does not hold. conflict: another owner has the object. blocked: the object cannot be provided. held: the object is no longer wanted and stays. skipped: the namespace lacks a label or annotation. exception: rules do not apply, or an override changes their actions. grant: a RoleBinding that ends.',
  reportSections,
);

const entry = object({
  description: 'One entry of the report.',
  fields: {
    section,
    policy: words('The policy, share or binding, by kind and name: NamespacePolicy/team.'),
    namespace: words('The namespace. Missing if the entry is about no single namespace.'),
    object: namedObject,
    rule: words('The rule. Several are divided by commas; all stands for an override of actions.'),
    ...comparison,
    reason: words('One word for programs, such as AlreadyExists.'),
    message: words(
      'Why, for people. Of an exception: its reason. Of an override: the actions, and its reason. Of a grant: the role, and who has it.',
    ),
    until: words('When it ends, in RFC 3339. Missing if it does not end.'),
    actions: words('Of a violation: the actions of the policy in this namespace, such as Deny or Audit.'),
    contact: words('Whom the policy, share or binding names as its contact.'),
    team: words('The team of the namespace: the value of its team label.'),
    labels: map({
      description: 'The labels of the namespace.',
      keys: words('The key.'),
      values: words('The value.'),
      maxProperties: Number.MAX_SAFE_INTEGER,
    }),
    written: words(
      'When the object was last created or changed, in RFC 3339: the namespace if there is no such object, and otherwise the policy.',
    ),
  },
  required: ['section', 'policy'],
});

const cell = object({
  description: 'One policy, share or binding in one namespace.',
  fields: {
    policy: words('The policy, share or binding.'),
    namespace: words('The namespace.'),
    counts: map({
      description: 'How many entries the pair has, by section. Empty if all is as the policy wants it.',
      keys: words('The section.'),
      values: numberOf('How many.'),
      maxProperties: reportSections.length,
    }),
  },
  required: ['policy', 'namespace', 'counts'],
});

export const reportOutput = object({
  description: 'What reeve report found.',
  fields: {
    ...header('Report'),
    time: words('The time of the report, in RFC 3339.'),
    origin: words('Where the objects came from: files, or the address of a cluster.'),
    complete: boolean('False if a kind could not be read.'),
    unread: unreadKinds,
    secrets: boolean('True if existing Secrets were judged.'),
    policies: rows('All policies, shares and bindings, by kind and name.', words('Its kind and name.')),
    namespaces: rows('All namespaces that a policy can match, by name.', words('Its name.')),
    entries: rows(
      'All entries, by section, then by end, policy, namespace and object. What does not end comes last.',
      entry,
    ),
    cells: rows('The policies by namespace. A pair that does not match is left out.', cell),
  },
  required: [
    'apiVersion',
    'kind',
    'time',
    'origin',
    'complete',
    'unread',
    'secrets',
    'policies',
    'namespaces',
    'entries',
    'cells',
  ],
});

export type ReportEntry = Infer<typeof entry>;
export type ReportCell = Infer<typeof cell>;
export type ReportOutput = Infer<typeof reportOutput>;
