// contents: a written Namespace must not make a content fail, so that its owner hears of it at once.
import { isDeepStrictEqual } from 'node:util';
import {
  isTerminating,
  keyPath,
  keyText,
  metadataMap,
  nameOf,
  valueOf,
  type KubeObject,
} from '../../base/metadata.ts';
import type { MetadataKey } from '../../cel/expression.ts';
import { everyOperation, type RuleViolation } from '../../rules/rule.ts';
import type { CompiledRule } from './compile-rules.ts';
import { quoted, clipped } from '../../base/text.ts';
import type { CompiledContent, Rendered, RenderedContent } from './compile-contents.ts';
import { objectKey, type ObjectKey } from '../terms/object-key.ts';

/** Contents without a template need no rule: no namespace can make them fail. */
export function contentsRules(contents: readonly CompiledContent[]): readonly CompiledRule[] {
  if (!contents.some(({ isTemplated }) => isTemplated)) return [];
  return [
    {
      shape: 'state',
      id: 'contents',
      graced: true,
      traits: { operations: everyOperation, isFulfilled: true },
      // What the namespace contains is explained by its objects.
      compared: () => [],
      judge(namespaceObject, { budget }) {
        if (!getsContents(namespaceObject)) return [];
        const rendered = contents.map((content) => content.render(namespaceObject, budget));
        return [
          ...rendered.flatMap((each, index) =>
            each.kind === 'error' ? [violationOf(each, index, namespaceObject)] : [],
          ),
          ...clashes(contents, rendered),
        ];
      },
    },
  ];
}

/** Templates can give two contents one name. Only one object of a kind can have it. */
function clashes(
  contents: readonly CompiledContent[],
  rendered: readonly Rendered<RenderedContent>[],
): readonly RuleViolation[] {
  const known = new Map<ObjectKey, RenderedContent>();
  return contents.flatMap(({ type }, index) => {
    const content = rendered[index];
    if (content?.kind !== 'present') return [];
    const { value } = content;
    const key = objectKey(type, value.name);
    const other = known.get(key);
    if (other === undefined) known.set(key, value);
    return other === undefined || isDeepStrictEqual(other, value) ? [] : [clash(type.kind, value.name)];
  });
}

function clash(kind: string, name: string): RuleViolation {
  const object = `${kind} ${clipped(name)}`;
  return {
    path: 'metadata',
    found: `labels and annotations that give two different contents the name ${object}`,
    accepted: 'labels and annotations that give each content a name of its own',
    message: `two contents of the policy give a different ${object} here`,
    identity: `clash ${object}`,
    isConsequence: true,
  };
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
    isConsequence: true,
  };
}

interface MetadataValue extends MetadataKey {
  readonly value: string;
}

function valueIn(namespaceObject: KubeObject, { field, key }: MetadataKey): readonly MetadataValue[] {
  const value = valueOf(metadataMap(namespaceObject, field), key);
  return value === undefined ? [] : [{ field, key, value }];
}
