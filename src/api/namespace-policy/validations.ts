// What happens when an object breaks a rule, and for which namespaces which rules do not count.
import { namespaceGlob, time, expression, itemName } from '../common-fields.ts';
import { choice, list, object, text, withDefault } from '../schema/build.ts';

export const validationAction = choice(
  'Deny refuses the request. Warn lets it pass and tells the person. Audit lets it pass and notes it in the audit log and the metrics.',
  ['Deny', 'Warn', 'Audit'],
);

export const validationActions = withDefault(
  list({
    description:
      'What happens when an object breaks a rule of this policy: any of Deny, Warn and Audit, though not Deny with Warn, which would say the same thing twice. Without Deny, missing defaults are still set but not demanded. Start with [Warn] or [Audit] to roll a policy out. Default: [Deny].',
    items: validationAction,
    minItems: 1,
    maxItems: 3,
    unique: 'set',
    rules: [
      {
        message: 'Deny or Warn, not both',
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
    'What happens to namespaces that are already there. Report counts their violations in the status and changes nothing. Repair also adds missing labels and annotations that the defaults name, never changing a value. Default: Report.',
    ['Report', 'Repair'],
  ),
  'Report',
);

/** The rules that an exception can name; beside them `validations/<name>`. */
export const ruleIds = [
  'namespaces.name',
  'namespaces.required',
  'namespaces.defaults',
  'namespaces.immutable',
  'namespaces.requesters',
  'namespaces.quota',
  'namespaces.deletion',
  'secrets.forbiddenTypes',
  'secrets.allowedTypes',
  'secrets.maxBytes',
  'secrets.tls',
  'secrets.dockerConfig',
  'secrets.defaults',
  'rbac.allowedRoleRefs',
  'rbac.forbiddenSubjects',
  'rbac.forbidWildcardRules',
] as const;

const ruleNames = ruleIds.map((rule) => rule.replace('.', '\\.')).join('|');

export const policyException = object({
  description: 'Rules that do not count for some namespaces, until a time or for good.',
  fields: {
    namespaces: list({
      description:
        'The namespaces that the exception is for: names, or globs for whole names as in match.names. Example: [team-old].',
      items: namespaceGlob('A name or a glob.'),
      minItems: 1,
      maxItems: 100,
    }),
    rules: list({
      description:
        'The rules that do not count there, each named by its path in the spec. Example: [namespaces.required, secrets.tls, validations/short].',
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
      'When the exception ends; afterwards the rules count again. Without it the exception does not end. Example: "2027-01-31T00:00:00Z".',
    ),
    reason: text({
      description: 'Why there is an exception: a ticket or a sentence. Example: SEC-1234.',
      maxLength: 1024,
    }),
  },
  required: ['namespaces', 'rules'],
});

export const validationRule = object({
  description: 'A rule of your own on the Namespace.',
  fields: {
    name: itemName(
      'Names the rule in messages and exceptions, as validations/<name>. Unique among the validations. Example: short.',
    ),
    expression: expression(
      'CEL that must be true. It sees object, oldObject (null on CREATE) and request. Example: object.metadata.name.size() <= 40.',
    ),
    message: text({
      description: 'What a person is told when the rule is broken. Without it the expression is shown.',
      minLength: 1,
      maxLength: 1024,
    }),
    messageExpression: expression(
      "CEL that makes that text. It sees what expression sees; when it fails, message is shown. Example: 'name too long: ' + object.metadata.name.",
    ),
  },
  required: ['name', 'expression'],
});
