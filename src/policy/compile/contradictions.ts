// Finds defaults that work against their own policy: no namespace could ever satisfy it, or it would select itself.
import type { NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { Problem } from '../../base/problem.ts';
import type { CompiledMatch } from '../terms/match.ts';
import { clipped } from '../../base/text.ts';
import type { DefaultKey } from '../rules/default-keys.ts';
import type { Requirement } from '../rules/required-keys.ts';

export function contradictions(
  spec: NamespacePolicySpec,
  match: CompiledMatch,
  requirements: readonly Requirement[],
  defaults: readonly DefaultKey[],
): readonly Problem[] {
  return [
    ...defaults.flatMap((key) => selfSelection(key, match)),
    ...defaults.flatMap((key) => requirements.flatMap((requirement) => contradiction(key, requirement))),
    ...unknownExceptions(spec),
  ];
}

function selfSelection(key: DefaultKey, match: CompiledMatch): readonly Problem[] {
  if (key.field !== 'labels' || match.selector?.keys.has(key.key) !== true) return [];
  const found = `a default for the label ${key.key}, which the policy's own namespaceSelector looks at`;
  return [{ path: pathOf(key), found, accepted: 'labels that do not decide whether the policy matches' }];
}

/** What a template gives is known only with a namespace: it is judged then, before it is set. */
function contradiction(key: DefaultKey, requirement: Requirement): readonly Problem[] {
  if (key.field !== requirement.field || key.key !== requirement.key || !key.template.literal) return [];
  const rendered = key.template.render({});
  if (!rendered.ok || requirement.accepts(rendered.value)) return [];
  const found = `"${clipped(rendered.value)}", which the policy's own namespaces.required refuses`;
  return [{ path: pathOf(key), found, accepted: requirement.accepted }];
}

function unknownExceptions(spec: NamespacePolicySpec): readonly Problem[] {
  const known = new Set((spec.validations ?? []).map(({ name }) => `validations/${name}`));
  return (spec.exceptions ?? []).flatMap(({ rules }, index) =>
    rules.flatMap((rule, position) => {
      if (!rule.startsWith('validations/') || known.has(rule)) return [];
      const path = ['spec', 'exceptions', index, 'rules', position];
      return [{ path, found: `"${clipped(rule)}"`, accepted: 'the name of a validation of this policy' }];
    }),
  );
}

function pathOf({ field, key }: DefaultKey): readonly string[] {
  return ['spec', 'namespaces', 'defaults', field, key];
}
