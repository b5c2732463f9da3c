// Fields that cover all rules of a policy: validationActions and their overrides, existing and exceptions.
import { atLeastOne, namespaceGlob, time } from '../../schema/common-fields.ts';
import { choice, list, object, text, withDefault } from '../../schema/schema.ts';
import { labelSelector } from '../../schema/selector.ts';
import { ruleIds } from '../../rules/rules.ts';

export const validationAction = choice(
  'Deny refuses the request. Warn allows it and warns the user. Audit allows it and records the violation in the audit log and the metrics.',
  ['Deny', 'Warn', 'Audit'],
);

function actionList(description: string) {
  return list({
    description,
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
  });
}

export const validationActions = withDefault(
  actionList(
    'What happens when an object violates a rule of this policy: any of Deny, Warn and Audit, but not Deny together with Warn. Deny lets a violation pass that the object had before; Warn and Audit report it. Without Deny, missing defaults are still set but not required. To roll a policy out, start with [Warn] or [Audit]. Default: [Deny].',
  ),
  ['Deny'],
);

export const existing = withDefault(
  choice(
    'What happens to namespaces that already exist. Report counts their violations in the status and changes nothing. Repair also adds missing labels and annotations from the defaults, which changes no value, and sets enforced ones. Default: Report.',
    ['Report', 'Repair'],
  ),
  'Report',
);

const ruleNames = ruleIds.map((rule) => rule.replace('.', '\\.')).join('|');

export const policyException = object({
  description:
    'Rules that do not apply to some namespaces, and contents that these do not get, until a given time or for good.',
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
    contents: list({
      description:
        'The contents that these namespaces do not get, each as <kind>/<name>, with the name as the policy has it. An object that is there is deleted. Example: [RoleBinding/readers].',
      items: text({
        description: 'The kind and the name of a content.',
        braces: 'plain',
        maxLength: 512,
        pattern: '^[A-Z][A-Za-z0-9]*/.+$',
        accepted: 'the kind and the name of a content, such as RoleBinding/readers',
      }),
      minItems: 1,
      maxItems: 50,
      unique: 'set',
    }),
    expiresAt: time(
      'When the exception ends: its rules apply again, and its contents come back. Without it the exception does not end. Example: "2027-01-31T00:00:00Z".',
    ),
    reason: text({
      description: 'Why the exception exists: a ticket or a sentence. Example: SEC-1234.',
      braces: 'plain',
      maxLength: 1024,
    }),
  },
  required: ['namespaces'],
  rules: [atLeastOne('rules', 'contents')],
});

export const actionOverride = object({
  description:
    'Namespaces in which violations have other actions. names and namespaceSelector must both hold where both are given.',
  fields: {
    names: list({
      description:
        'Names of namespaces, or globs for whole names as in match.names. At least one must match. Example: ["legacy-*"].',
      items: namespaceGlob('A name or a glob.'),
      minItems: 1,
      maxItems: 100,
    }),
    namespaceSelector: labelSelector,
    actions: actionList('What happens there instead: as in validationActions. Example: [Warn].'),
    expiresAt: time(
      'When the override ends and validationActions applies again. Without it the override does not end. Example: "2027-01-31T00:00:00Z".',
    ),
    reason: text({
      description: 'Why the override exists: a ticket or a sentence. Example: wave 2 of the roll-out.',
      braces: 'plain',
      maxLength: 1024,
    }),
  },
  required: ['actions'],
  rules: [atLeastOne('names', 'namespaceSelector')],
});
