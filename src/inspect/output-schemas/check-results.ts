// Defines the JSON of `reeve check`: findings about files, and the parts of an install on a cluster.
import { boolean, choice, object, type Infer } from '../../schema/schema.ts';
import { numberOf, header, rows, unreadKinds, words } from './parts.ts';

const finding = object({
  description: 'A problem or a warning about a place in a file.',
  fields: {
    severity: choice('A problem must be fixed. A warning may be meant.', ['problem', 'warning']),
    check: words('The check that found it, such as spec, match or expiry.'),
    file: words('The file.'),
    line: numberOf('The line, from 1.'),
    column: numberOf('The column, from 1.'),
    about: words('The object, such as "policy team". Missing if the file cannot be read.'),
    message: words('What is wrong.'),
  },
  required: ['severity', 'check', 'file', 'line', 'column', 'message'],
});

const unchecked = object({
  description: 'Objects of one kind that were not checked, for one reason.',
  fields: {
    kind: words('The kind.'),
    count: numberOf('How many objects.'),
    reason: words('Why they were not checked.'),
  },
  required: ['kind', 'count', 'reason'],
});

const missingRule = object({
  description: 'An RBAC rule that a user lacks.',
  fields: {
    user: words('The user that lacks it. Missing for the user of this command.'),
    namespace: words('The namespace of the Role that needs it. Missing for a ClusterRole.'),
    rule: object({
      description: 'The rule, as it is written in a role.',
      fields: {
        apiGroups: rows('API groups; empty text is the core group.', words('A group.')),
        resources: rows('Resources, in plural.', words('A resource, such as pods/proxy.')),
        resourceNames: rows('Names of objects. Missing for all names.', words('A name.')),
        verbs: rows('Verbs.', words('A verb.')),
      },
      required: ['apiGroups', 'resources', 'verbs'],
    }),
  },
  required: ['rule'],
});

const part = object({
  description: 'One part of an install.',
  fields: {
    part: words('The name of the part.'),
    problems: rows('What does not work. Empty if the part works.', words('A problem.')),
    unseen: rows(
      'What this account may not or could not look at. It never counts as working.',
      words('What could not be read, and why.'),
    ),
    details: rows('What was found, such as the end of a certificate.', words('A detail.')),
    missingRules: rows('Rules that solve a problem, or let this account look.', missingRule),
  },
  required: ['part', 'problems', 'unseen', 'details', 'missingRules'],
});

export const checkResults = object({
  description: 'What reeve check found. With -f: files and findings. Without: works and parts.',
  fields: {
    ...header('CheckResults'),
    files: numberOf('How many files were read.'),
    documents: numberOf('How many objects are in these files.'),
    problems: numberOf('How many findings are problems.'),
    warnings: numberOf('How many findings are warnings.'),
    findings: rows('All findings, by file, line and column.', finding),
    unchecked: rows('Objects that were not checked.', unchecked),
    unread: unreadKinds,
    works: boolean('True if everything that this account may look at works.'),
    parts: rows('The parts of the install.', part),
  },
  required: ['apiVersion', 'kind'],
});

export type CheckFinding = Infer<typeof finding>;
export type UncheckedObjects = Infer<typeof unchecked>;
export type CheckResults = Infer<typeof checkResults>;
