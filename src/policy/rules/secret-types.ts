// secrets.forbiddenTypes and secrets.allowedTypes: the types that Secrets may have.
import type { RuleId } from '../../api/namespace-policy/rule-ids.ts';
import { alternatives, quoted } from '../../base/text.ts';
import type { Rule } from './rule.ts';
import { secretType } from './secret-values.ts';

/** Helm stores its releases in Secrets of this type. Judging them by default would break every `helm upgrade`. */
export const helmReleaseType = 'helm.sh/release.v1';

export function forbiddenTypesRule(forbidden: readonly string[]): Rule {
  return typeRule('secrets.forbiddenTypes', (type) => !forbidden.includes(type), {
    accepted: `a type other than ${alternatives(forbidden.map(quoted))}`,
  });
}

export function allowedTypesRule(allowed: readonly string[]): Rule {
  return typeRule('secrets.allowedTypes', (type) => allowed.includes(type), {
    accepted: alternatives(allowed.map(quoted)) || 'no Secret at all',
  });
}

function typeRule(
  id: RuleId,
  isAccepted: (type: string) => boolean,
  text: { readonly accepted: string },
): Rule {
  return {
    shape: 'state',
    id,
    graced: true,
    judge(secret) {
      const type = secretType(secret);
      if (isAccepted(type)) return [];
      return [{ path: 'type', found: quoted(type), accepted: text.accepted, identity: type }];
    },
  };
}
