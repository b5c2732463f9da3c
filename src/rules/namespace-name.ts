// namespaces.name: the name of a namespace must match a pattern.
import { type KubeObject, nameOf } from '../base/metadata.ts';
import { mapped } from '../base/problem.ts';
import { quoted } from '../base/text.ts';
import { compilePattern } from '../cel/regex.ts';
import { object } from '../schema/schema.ts';
import { pattern } from '../schema/common-fields.ts';
import { everyOperation, ruleForm } from './rule.ts';

export const nameRule = ruleForm({
  id: 'namespaces.name',
  judges: 'namespaces',
  field: object({
    description: 'What the name of a namespace must look like.',
    fields: {
      pattern: pattern(
        'A regular expression (RE2) that must match a part of the name; write ^ and $ to match the whole name. Example: "^team-[a-z0-9-]+$".',
      ),
    },
    required: ['pattern'],
  }),
  operations: everyOperation,
  compile(rule) {
    const compared = (written: KubeObject) => ({
      path: 'metadata.name',
      found: quoted(nameOf(written)),
      accepted: `a name that matches ${rule.pattern}`,
    });
    return [
      mapped(compilePattern(rule.pattern, ['spec', 'namespaces', 'name', 'pattern']), (regex) => ({
        shape: 'state',
        graced: true,
        judge: (written) =>
          regex.search(nameOf(written)) ? [] : [{ ...compared(written), identity: nameOf(written) }],
        compared: (written) => [compared(written)],
      })),
    ];
  },
  examples: () => ({
    writes: [{ title: 'under another name', object: { metadata: { name: 'another-name' } } }],
  }),
});
