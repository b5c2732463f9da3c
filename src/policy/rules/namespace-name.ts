// namespaces.name: the name of a namespace must match a pattern.
import type { NameRule } from '../../api/namespace-policy/namespace-policy.ts';
import { compiled, type CompileResult } from '../../base/problem.ts';
import { nameOf } from '../../base/metadata.ts';
import type { Rule } from './rule.ts';
import { quoted } from '../../base/text.ts';
import { compilePattern } from '../../cel/patterns.ts';

const path = ['spec', 'namespaces', 'name', 'pattern'];

export function compileNameRule(rule: NameRule): CompileResult<Rule> {
  const pattern = compilePattern(rule.pattern, path);
  if (!pattern.ok) return pattern;
  const regex = pattern.value;
  return compiled({
    shape: 'state',
    id: 'namespaces.name',
    graced: true,
    judge(object) {
      const name = nameOf(object);
      if (regex.search(name)) return [];
      return [
        {
          path: 'metadata.name',
          found: quoted(name),
          accepted: `a name that matches ${rule.pattern}`,
          identity: name,
        },
      ];
    },
  });
}
