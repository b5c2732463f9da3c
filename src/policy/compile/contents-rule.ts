// contents: a written Namespace must not make a content fail, so that its owner hears of it at once.
import { isTerminating, keyPath, keyText, metadataMap, nameOf, valueOf } from '../../base/metadata.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { MetadataKey } from '../../cel/expression.ts';
import type { Rule, RuleViolation } from '../rules/rule.ts';
import { quoted } from '../terms/wording.ts';
import type { CompiledContent, Rendered } from './compile-contents.ts';

/** Contents without a template need no rule: no namespace can make them fail. */
export function contentsRules(contents: readonly CompiledContent[]): readonly Rule[] {
  const templated = contents.filter(({ isTemplated }) => isTemplated);
  if (templated.length === 0) return [];
  return [
    {
      shape: 'state',
      id: 'contents',
      graced: true,
      judge: (namespaceObject, { budget }) =>
        getsContents(namespaceObject)
          ? templated.flatMap((content, index) => {
              const rendered = content.render(namespaceObject, budget);
              return rendered.kind === 'error' ? [violationOf(rendered, index, namespaceObject)] : [];
            })
          : [],
    },
  ];
}

/** The name is empty while the API server has not made it from `generateName`. */
function getsContents(namespaceObject: KubeObject): boolean {
  return nameOf(namespaceObject) !== '' && !isTerminating(namespaceObject);
}

/** A Namespace that fails in the same way with the same values has the same violation. */
function violationOf(
  { object, problem }: Rendered<never> & { kind: 'error' },
  index: number,
  namespaceObject: KubeObject,
): RuleViolation {
  const { field, verb, found, accepted, lookups } = problem;
  const values = lookups.flatMap((lookup) => valueIn(namespaceObject, lookup));
  const [first] = values;
  const causes = values.map(({ field: of, key, value }) => `${keyText(of, key)}=${quoted(value)}`);
  const content = `${object.kind} ${object.name}`;
  const effect =
    causes.length === 0 ? `${content} fails` : `${[...new Set(causes)].join(' and ')} makes ${content} fail`;
  return {
    path: first === undefined ? 'metadata' : keyPath(first.field, first.key),
    found,
    accepted,
    message: `${effect}: ${field} ${verb} ${found}; accepted: ${accepted}`,
    identity: JSON.stringify([index, field, found, values]),
  };
}

interface MetadataValue extends MetadataKey {
  readonly value: string;
}

function valueIn(namespaceObject: KubeObject, { field, key }: MetadataKey): readonly MetadataValue[] {
  const value = valueOf(metadataMap(namespaceObject, field), key);
  return value === undefined ? [] : [{ field, key, value }];
}
