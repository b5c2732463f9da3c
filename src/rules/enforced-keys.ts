// namespaces.enforced: labels and annotations that have one value, which Reeve sets in place of any other.
import { partly, refused, type CompileResult, type Problem } from '../base/problem.ts';
import {
  keyPath,
  keyText,
  metadataMap,
  valueOf,
  type KubeObject,
  type MetadataField,
} from '../base/metadata.ts';
import { quoted } from '../base/text.ts';
import type { Evaluation, Work } from '../cel/expression.ts';
import { object as objectSchema } from '../schema/schema.ts';
import { causeOf, compileKeys, keySource, keyTemplateFields, renderDefault } from './default-keys.ts';
import { comparedKey } from './fields.ts';
import { compileWaves, wavesField } from './waves.ts';
import { everyOperation, ruleForm } from './rule.ts';
import type { DefaultKey, Rule, RuleContext, RuleViolation } from './rule.ts';

export const enforcedKeys = ruleForm({
  id: 'namespaces.enforced',
  judges: 'namespaces',
  field: objectSchema({
    description:
      'Labels and annotations that have one value. Where the policy denies violations, Reeve sets the value on creation and when an update changes it, in place of any other. With existing: Repair it also changes existing namespaces, as far as the install names the key (--enforced-key), in at most maxDeletions namespaces within ten minutes. Where the policy only warns or audits, nothing is set. Of several policies that enforce one key in a namespace, the first by name holds.',
    fields: {
      ...keyTemplateFields(
        'that must have these values',
        'CEL in ${ } sees namespaceObject, the Namespace itself. Example: {istio.io/rev: "1-22"}.',
      ),
      waves: wavesField,
    },
  }),
  operations: everyOperation,
  precedence: 3,
  isFulfilled: true,
  compile: (spec, definitions) => {
    const seen = { variables: ['namespaceObject'], definitions } as const;
    const accepted = 'text with CEL in ${ }, over namespaceObject';
    const compiled = compileKeys('namespaces.enforced', spec, { scope: seen, accepted });
    const waves = spec.waves && compileWaves(spec.waves);
    return partly(compiled.map(withoutItself), (own) =>
      enforcedRule(waves === undefined ? own : own.map((key) => ({ ...key, waves }))),
    );
  },
  examples: () => ({}),
});

/** A value that depends on itself has no end. */
function withoutItself(result: CompileResult<DefaultKey>): CompileResult<DefaultKey> {
  if (!result.ok) return result;
  const { field, key, template: own } = result.value;
  if (!own.lookups.some((lookup) => lookup.field === field && lookup.key === key)) return result;
  const found = `a template that reads ${keyText(field, key)} itself`;
  return refused([{ path: keySource(result.value), found, accepted: 'a template that reads other keys' }]);
}

/** The rules of the same policy that may name an enforced key, too. */
interface OtherRules {
  readonly required?: Readonly<Partial<Record<MetadataField, object>>> | undefined;
  readonly immutable?: Readonly<Partial<Record<MetadataField, readonly string[]>>> | undefined;
  readonly defaults?: Readonly<Partial<Record<MetadataField, object>>> | undefined;
}

/** Another rule of the policy about an enforced key is either the same again or contradicts it. */
export function statedTwice(
  { rule, field, key }: DefaultKey,
  { required, immutable, defaults }: OtherRules,
): readonly Problem[] {
  const stated = {
    required: Object.keys(required?.[field] ?? {}),
    immutable: immutable?.[field] ?? [],
    defaults: Object.keys(defaults?.[field] ?? {}),
  };
  return Object.entries(stated).flatMap(([name, keys]) => {
    if (!keys.includes(key)) return [];
    const found = `${keyText(field, key)}, which namespaces.${name} of the same policy names, too`;
    return [{ path: keySource({ rule, field, key }), found, accepted: 'the key in one of the two' }];
  });
}

/** Returns the value that the Namespace must have. */
export function enforcedValue(
  key: DefaultKey,
  namespaceObject: KubeObject,
  budget: Work,
): Evaluation<string> {
  return renderDefault(key, namespaceObject, noRequest, budget);
}

const noRequest = { attributes: {} };

function enforcedRule(keys: readonly DefaultKey[]): Rule {
  return {
    shape: 'state',
    graced: true,
    defaults: keys,
    judge: (object, context) => keys.flatMap((key) => judgeKey(key, object, context)),
    compared: (object) =>
      keys.map(({ field, key, template: { literal, source } }) =>
        comparedKey(object, field, key, literal ? quoted(source) : `the value of ${source}`),
      ),
  };
}

function judgeKey(
  key: DefaultKey,
  object: KubeObject,
  { budget, isOverruled }: RuleContext,
): readonly RuleViolation[] {
  if (isOverruled?.(key.field, key.key) === true) return [];
  const value = valueOf(metadataMap(object, key.field), key.key);
  const rendered = enforcedValue(key, object, budget);
  if (rendered.ok && rendered.value === value) return [];
  const accepted = rendered.ok
    ? `${quoted(rendered.value)}, which is enforced`
    : `the enforced value, which cannot be computed: ${rendered.message}`;
  return [
    {
      ...comparedKey(object, key.field, key.key, accepted),
      identity: JSON.stringify([keyPath(key.field, key.key), value]),
      isExact: true,
      ...causeOf(key, rendered, object),
    },
  ];
}
