// Defines the kind SecurityIntent: a requirement on workloads, and how strictly it holds.
import { ownMember } from '../../base/json.ts';
import { refused, type CompileResult, type Problem } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import { defineKind, type ObjectOfKind } from '../kind.ts';
import { sharedColumns } from '../provider-fields.ts';
import {
  choice,
  list,
  openObject,
  specification,
  text,
  withDefault,
  type ObjectSchema,
  type TextSchema,
} from '../../schema/schema.ts';
import { describeFields } from '../../schema/validate.ts';
import {
  allParams,
  isIntentId,
  knownIntents,
  paramFields,
  paramsOf,
  type IntentId,
  type IntentParams,
} from './intent-ids.ts';

/** Has no list of values, so that Reeve itself refuses an unknown id and names the known ones. */
const id: TextSchema<IntentId> = {
  kind: 'text',
  description: `What must hold: ${Object.keys(knownIntents).join(', ')}. Example: escapeToHost.`,
  minLength: 1,
  maxLength: 128,
};

function specOf(params: ObjectSchema<IntentParams>) {
  return specification({
    description: 'What must hold, and how strictly. Bindings say where.',
    fields: {
      id,
      action: withDefault(
        choice(
          'What happens to what violates the intent. Block refuses or stops it. Audit records it. Warn warns the user where the security engine can, and records it elsewhere. Default: Block.',
          ['Block', 'Audit', 'Warn'],
        ),
        'Block',
      ),
      severity: withDefault(
        choice('How bad a violation is, for people and for engines that report it. Default: Low.', [
          'Low',
          'Medium',
          'High',
          'Critical',
        ]),
        'Low',
      ),
      description: text({
        description: 'What the intent is for, in your words.',
        maxLength: 1024,
        braces: 'plain',
      }),
      tags: list({
        description:
          'Words to find the intent by, such as the controls of a standard. Example: [NIST, PCI-DSS].',
        items: text({ description: 'A word.', minLength: 1, maxLength: 128 }),
        maxItems: 32,
        unique: 'set',
      }),
      params,
    },
    required: ['id'],
  });
}

/** The kind with the params of one id, or of all. */
function intentKind(params: ObjectSchema<IntentParams>) {
  return defineKind({
    kind: 'SecurityIntent',
    plural: 'securityintents',
    shortName: 'sint',
    word: 'intent',
    scope: 'Cluster',
    mayBeMissing: true,
    description:
      'SecurityIntent says what must hold, and not how. A SecurityIntentBinding or ClusterSecurityIntentBinding says where, and Reeve provides what the security engines of the cluster need for it.',
    spec: specOf(params),
    columns: [
      { name: 'ID', type: 'string', jsonPath: '.spec.id', description: 'What must hold.' },
      {
        name: 'Action',
        type: 'string',
        jsonPath: '.spec.action',
        description: 'What happens to what violates the intent.',
      },
      {
        name: 'Severity',
        type: 'string',
        jsonPath: '.spec.severity',
        description: 'How bad a violation is.',
      },
      sharedColumns.age,
    ],
  });
}

/** The CustomResourceDefinition keeps unknown params, so that Reeve refuses them itself. */
export const securityIntent = {
  ...intentKind(openObject({ description: allParams.description, fields: paramFields })),
  parse: parseIntent,
};
/** The spec as Reeve accepts it, with the params of all ids. */
export const documentedIntentSpec = specOf(allParams);

type SecurityIntent = ObjectOfKind<ReturnType<typeof intentKind>>;
export type SecurityIntentSpec = SecurityIntent['spec'];

function parseIntent(value: unknown): CompileResult<SecurityIntent> {
  const given = ownMember(ownMember(value, 'spec'), 'id');
  const known = typeof given === 'string' && isIntentId(given) ? given : undefined;
  const parsed = intentKind(known === undefined ? allParams : paramsOf(known)).parse(value);
  if (typeof given !== 'string' || known !== undefined) return parsed;
  return refused([unknownId(given), ...(parsed.ok ? [] : parsed.problems)]);
}

function unknownId(given: string): Problem {
  return {
    path: ['spec', 'id'],
    found: `the unknown id "${clipped(given)}"`,
    accepted: describeFields(knownIntents, given),
  };
}
