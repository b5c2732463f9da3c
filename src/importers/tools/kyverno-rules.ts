// Imports validate and mutate rules of Kyverno on Namespaces, Secrets and RoleBindings, if rules of Reeve mean the same.
// https://github.com/kyverno/kyverno/blob/main/api/kyverno/v1/common_types.go
import { renderPath } from '../../base/problem.ts';
import { filled, type Reader } from '../reader.ts';
import { sourceOfGlob } from '../name-patterns.ts';
import { literal } from '../templates.ts';

/** A part of a policy, or the reason why no rule of Reeve means the same. */
type ReadRule = { readonly spec: object } | { readonly why: string };

/** The kinds of a rule that Reeve has rules on. */
export type RuledKind = 'Namespace' | 'Secret' | 'RoleBinding';

const notTheSame = 'no rule of Reeve says exactly the same';

export function readRuleOn(kind: RuledKind, rule: Reader): ReadRule {
  const [validate, mutate] = [rule.at('validate'), rule.at('mutate')];
  const name = nameIn(rule);
  const read = mutate.isPresent ? readMutate(kind, mutate) : readValidate(kind, validate, name);
  if ('why' in read) return read;
  const unread = rule.unread().map(renderPath);
  if (unread.length > 0) return { why: `Reeve has nothing for ${unread.join(', ')}` };
  if (kind !== 'Namespace') validate.at('message').lose('Reeve has a message of its own for such a rule');
  return read;
}

function nameIn(rule: Reader): string {
  return (rule.at('name').text() ?? 'rule').replaceAll(/[^-\w.]+/gu, '-');
}

const fields = ['labels', 'annotations'] as const;

function readMutate(kind: RuledKind, mutate: Reader): ReadRule {
  const metadata = mutate.at('patchStrategicMerge', 'metadata');
  const written = keysIn(metadata);
  if (written === undefined || kind === 'RoleBinding') return { why: notTheSame };
  const { defaults, enforced } = written;
  if (enforced === undefined) {
    if (defaults === undefined) return { why: notTheSame };
    return { spec: { [kind === 'Namespace' ? 'namespaces' : 'secrets']: { defaults } } };
  }
  if (kind === 'Secret')
    return {
      why: 'on Secrets, Reeve replaces no value that a user has written, and only sets missing ones (+(key))',
    };
  metadata.lose('an existing namespace keeps another value until the policy has existing: Repair');
  // A policy without Deny would enforce no value.
  return { spec: { validationActions: ['Deny'], namespaces: filled({ defaults, enforced }) } };
}

type KeyValues = Partial<Record<(typeof fields)[number], Readonly<Record<string, string>>>>;

/** Kyverno writes these keys where they are missing: `+(key)`. Plain keys replace what a user has written. */
function keysIn(
  metadata: Reader,
): { readonly defaults?: KeyValues; readonly enforced?: KeyValues } | undefined {
  const written: { defaults?: KeyValues; enforced?: KeyValues } = {};
  for (const field of fields)
    for (const [key, value] of metadata.at(field).entries()) {
      const { anchor, name = '' } = /^(?<anchor>\+\()?(?<name>[^()]+)\)?$/u.exec(key)?.groups ?? {};
      const text = value.text();
      // No rule says what other anchors say, or that a key is removed.
      if (name === '' || text === undefined || text.includes('{{')) return undefined;
      const rule = anchor === undefined ? 'enforced' : 'defaults';
      const before = written[rule];
      written[rule] = { ...before, [field]: { ...before?.[field], [name]: String(literal(text)) } };
    }
  return written;
}

function readValidate(kind: RuledKind, validate: Reader, name: string): ReadRule {
  const message = validate.at('message').text();
  const pattern = validate.at('pattern');
  // A note reports whether Kyverno refuses or warns.
  validate.at('failureAction').skip();
  validate.at('allowExistingViolations').skipIf(true);
  if (message?.includes('{{') === true) return { why: 'its message has a template' };
  if (kind === 'Namespace')
    return pattern.isPresent ? namespacePattern(pattern, name, message) : expressionsIn(validate, name);
  const read = kind === 'Secret' ? secretPattern(pattern) : bindingPattern(pattern);
  return 'spec' in read && pattern.unread().length === 0 ? read : { why: notTheSame };
}

function expressionsIn(validate: Reader, name: string): ReadRule {
  const message = validate.at('message').text();
  const validations = validate
    .at('cel', 'expressions')
    .items()
    .map((item, index) => {
      const [expression, own, messageExpression] = item.textsAt('expression', 'message', 'messageExpression');
      return {
        name: `${name}-${index + 1}`,
        expression,
        ...filled({ message: own ?? message, messageExpression }),
      };
    });
  // The webhook judges an update of a Namespace by its labels, annotations and owners.
  if (validations.some(({ expression = '' }) => /\bfinalizers\b/u.test(expression)))
    return { why: 'Reeve judges no update that changes finalizers alone' };
  return validations.length === 0 ? { why: notTheSame } : { spec: { validations } };
}

/** https://kyverno.io/docs/policy-types/cluster-policy/validate/#patterns */
function namespacePattern(pattern: Reader, name: string, message: string | undefined): ReadRule {
  const metadata = pattern.at('metadata');
  const tests = fields.flatMap((field) => {
    const map = `object.metadata.${field}`;
    return metadata
      .at(field)
      .entries()
      .map(([key, value]) => {
        const test = testOf(`${map}[${JSON.stringify(key)}]`, value);
        return /^[-\w./]+$/u.test(key) && test !== undefined
          ? `has(${map}) && ${JSON.stringify(key)} in ${map} && ${test}`
          : undefined;
      });
  });
  const named = metadata.at('name');
  const all = named.isPresent ? [testOf('object.metadata.name', named), ...tests] : tests;
  if (all.length === 0 || all.includes(undefined)) return { why: notTheSame };
  return { spec: { validations: [{ name, expression: all.join(' && '), ...filled({ message }) }] } };
}

/** Kyverno compares text like a number or a duration by its amount. So alternatives must begin with a letter or a wildcard. */
const alternative = /^(?:\?*\*|[A-Za-z?*][-\w.:/@*?]*)$/u;

/** Returns CEL for a pattern of Kyverno: alternatives with `*` and `?`. Undefined for operators. */
function testOf(operand: string, value: Reader): string | undefined {
  const alternatives = (value.text() ?? '').split('|').map((each) => each.trim());
  if (!alternatives.every((each) => alternative.test(each))) return undefined;
  if (!alternatives.some((each) => /[*?]/u.test(each)))
    return `${operand} in ${JSON.stringify(alternatives)}`;
  return `${operand}.matches(${JSON.stringify(`(?s)${alternatives.map(sourceOfGlob).join('|')}`)})`;
}

function secretPattern(pattern: Reader): ReadRule {
  const type = pattern.at('type').text() ?? '';
  const forbidden = /^!(?<type>[A-Za-z][-\w./]*)$/u.exec(type)?.groups?.['type'];
  if (forbidden !== undefined) return { spec: { secrets: { forbiddenTypes: [forbidden] } } };
  return { why: notTheSame };
}

/** A name with a colon can only be the name of a user or a group. */
function bindingPattern(pattern: Reader): ReadRule {
  const subjects = pattern.at('subjects').items();
  const written = subjects[0]?.at('name').text() ?? '';
  const name = /^!(?<name>[A-Za-z][-\w./@:]*)$/u.exec(written)?.groups?.['name'];
  if (subjects.length !== 1 || name?.includes(':') !== true) return { why: notTheSame };
  return { spec: { rbac: { forbiddenSubjects: [`User/${name}`, `Group/${name}`] } } };
}

/** An override of Kyverno. A policy of the import begins with [Audit], so an override that refuses becomes one later. */
interface ReadOverride {
  readonly override: object;
  readonly isEnforced: boolean;
}

/**
 * Returns undefined if they are missing, or if an override of Reeve does not say the same of one. Both tools take the first that fits.
 * Kyverno takes the action of one rule for all rules of a policy, so these are read only where no rule names one:
 * https://github.com/kyverno/kyverno/blob/main/pkg/engine/api/engineresponse.go
 */
export function readOverrides(spec: Reader): readonly ReadOverride[] | undefined {
  const rules = spec.apart().at('rules').items();
  const own = ['failureAction', 'failureActionOverrides'] as const;
  if (rules.some((rule) => own.some((key) => rule.at('validate', key).isPresent))) return undefined;
  const [written, trial] = [spec, spec.apart()].map((each) => each.at('validationFailureActionOverrides'));
  const read = trial?.items().map(readOverride) ?? [];
  if (read.includes(undefined) || (trial?.unread().length ?? 0) > 0) return undefined;
  written?.skip();
  return read.flatMap((each) => each ?? []);
}

function readOverride(written: Reader): ReadOverride | undefined {
  const names = written.at('namespaces').texts();
  const selector = written.at('namespaceSelector');
  const action = written.at('action').text()?.toLowerCase();
  const isSaid = names === undefined ? selector.isPresent : names.length > 0 && names.every(isGlob);
  if (!isSaid || (action !== 'audit' && action !== 'enforce')) return undefined;
  // An empty selector selects all namespaces, so it is no missing field.
  const selected = selector.isPresent ? { namespaceSelector: selector.whole() } : {};
  return {
    override: { ...filled({ names }), ...selected, actions: ['Audit'] },
    isEnforced: action === 'enforce',
  };
}

/** `?` in a glob is one character in Kyverno. Reeve has no such sign. */
function isGlob(name: string): boolean {
  return /^[-a-z0-9*]+$/u.test(name);
}
