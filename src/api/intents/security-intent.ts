// Defines the kind SecurityIntent: what must hold, and how strictly.
import { ownMember } from '../../base/json.ts';
import type { Problem } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import { apiVersion } from '../../schema/names.ts';
import { objectMetadata, providerName } from '../provider-fields.ts';
import { choice, list, object, openObject, specification, text, withDefault } from '../../schema/build.ts';
import { describeFields, validate } from '../../schema/validate.ts';
import type { Infer, ObjectSchema, TextSchema } from '../../schema/schema.ts';
import { splitStatus } from '../status-fields.ts';
import {
  allParams,
  isIntentId,
  knownIntents,
  paramFields,
  paramsOf,
  type IntentId,
  type IntentParams,
} from './intent-ids.ts';

/** Without a list of values, so that Reeve refuses an unknown id itself and names the known ones. */
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

export const securityIntentKind = 'SecurityIntent';

const description =
  'SecurityIntent says what must hold, and not how. A SecurityIntentBinding or ClusterSecurityIntentBinding says where, and Reeve provides what the security engines of the cluster need for it.';

/** The whole object without a status, which this kind does not have. */
function intentOf(params: ObjectSchema<IntentParams>) {
  return object({
    description,
    fields: {
      apiVersion: choice('The group and version of the kind.', [apiVersion]),
      kind: choice('The kind.', [securityIntentKind]),
      metadata: objectMetadata(providerName),
      spec: specOf(params),
    },
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
  });
}

/** The parts of the CRD whose schema Reeve defines. There, unknown params are kept, so that Reeve refuses them itself. */
export const securityIntentSchemas = {
  description,
  name: providerName,
  spec: specOf(openObject({ description: allParams.description, fields: paramFields })),
};
/** The spec as Reeve accepts it, with the params of all ids. */
export const documentedIntentSpec = specOf(allParams);

type SecurityIntent = Infer<ReturnType<typeof intentOf>>;
export type SecurityIntentSpec = SecurityIntent['spec'];

type ParsedIntent =
  | { readonly ok: true; readonly intent: SecurityIntent }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function parseSecurityIntent(value: unknown): ParsedIntent {
  const given = ownMember(ownMember(value, 'spec'), 'id');
  const known = typeof given === 'string' && isIntentId(given) ? given : undefined;
  const outcome = validate(
    intentOf(known === undefined ? allParams : paramsOf(known)),
    splitStatus(value).rest,
  );
  const problems = [
    ...(typeof given === 'string' && known === undefined ? [unknownId(given)] : []),
    ...(outcome.ok ? [] : outcome.problems),
  ];
  return outcome.ok && problems.length === 0 ? { ok: true, intent: outcome.value } : { ok: false, problems };
}

function unknownId(given: string): Problem {
  return {
    path: ['spec', 'id'],
    found: `the unknown id "${clipped(given)}"`,
    accepted: describeFields(knownIntents, given),
  };
}
