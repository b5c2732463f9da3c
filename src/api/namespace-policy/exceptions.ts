// Fields that cover all rules of a policy: validationActions, existing and exceptions.
import { namespaceGlob, time } from '../../schema/common-fields.ts';
import { choice, list, object, text, withDefault } from '../../schema/schema.ts';
import { ruleIds } from '../../rules/rules.ts';

export const validationAction = choice(
  'Deny refuses the request. Warn allows it and warns the user. Audit allows it and records the violation in the audit log and the metrics.',
  ['Deny', 'Warn', 'Audit'],
);

export const validationActions = withDefault(
  list({
    description:
      'What happens when an object violates a rule of this policy: any of Deny, Warn and Audit, but not Deny together with Warn. Deny lets a violation pass that the object had before; Warn and Audit report it. Without Deny, missing defaults are still set but not required. To roll a policy out, start with [Warn] or [Audit]. Default: [Deny].',
    items: validationAction,
    minItems: 1,
    maxItems: 3,
    unique: 'set',
    rules: [
      {
        accepted: 'at most one of Deny and Warn',
        mustNot: 'have both Deny and Warn',
        cel: "!('Deny' in self && 'Warn' in self)",
        offender: (actions) =>
          actions.includes('Deny') && actions.includes('Warn') ? [actions.indexOf('Warn')] : undefined,
      },
    ],
  }),
  ['Deny'],
);

export const existing = withDefault(
  choice(
    'What happens to namespaces that already exist. Report counts their violations in the status and changes nothing. Repair also adds missing labels and annotations from the defaults; it never changes a value. Default: Report.',
    ['Report', 'Repair'],
  ),
  'Report',
);

const ruleNames = ruleIds.map((rule) => rule.replace('.', '\\.')).join('|');

export const policyException = object({
  description: 'Rules that do not apply to some namespaces, until a given time or for good.',
  fields: {
    namespaces: list({
      description:
        'The namespaces that the exception covers: names, or globs for whole names as in match.names. Example: [team-old].',
      items: namespaceGlob('A name or a glob.'),
      minItems: 1,
      maxItems: 100,
    }),
    rules: list({
      description:
        'The rules that do not apply there, each named by its path in the spec. Example: [namespaces.required, secrets.tls, validations/short].',
      items: text({
        description: `One of ${ruleIds.join(', ')}, or validations/<name>.`,
        maxLength: 329,
        pattern: `^(${ruleNames}|validations/[A-Za-z0-9][-A-Za-z0-9_./]*)$`,
        accepted: `one of ${ruleIds.join(', ')} or validations/<name>`,
      }),
      minItems: 1,
      maxItems: 50,
      unique: 'set',
    }),
    expiresAt: time(
      'When the exception ends and the rules apply again. Without it the exception does not end. Example: "2027-01-31T00:00:00Z".',
    ),
    reason: text({
      description: 'Why the exception exists: a ticket or a sentence. Example: SEC-1234.',
      braces: 'plain',
      maxLength: 1024,
    }),
  },
  required: ['namespaces', 'rules'],
});
