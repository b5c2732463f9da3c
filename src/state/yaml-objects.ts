// Reads the objects of a text with YAML documents, each with the places of its values.
import { type Path, type Problem, renderProblem } from '../base/problem.ts';
import { parseYaml, type YamlText } from '../base/yaml.ts';
import { follow, objectsOf, type YamlNode, sourceOffset } from '../base/yaml-tree.ts';
import type { FileProblem } from './located.ts';
import type { TextFile } from './yaml-files.ts';

/** An object with its place in a file, and the document that knows the places of its values. */
export interface LocatedObject {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly document: number;
  readonly value: unknown;
  /** The problem as one of the file, at the very value it is about. */
  locate(problem: Problem): FileProblem;
}

interface LocatedObjects {
  readonly objects: readonly LocatedObject[];
  readonly problems: readonly FileProblem[];
  /** Values that kubectl would send to the API server in another form. */
  readonly misread: readonly FileProblem[];
}

export function readObjects({ file, text }: TextFile): LocatedObjects {
  const yaml = parseYaml(text);
  const objects: LocatedObject[] = [];
  const problems: FileProblem[] = [];
  const misread: FileProblem[] = [];
  for (const [index, document] of yaml.documents.entries()) {
    const number = index + 1;
    if (document.kind === 'broken') {
      problems.push(...document.problems.map((problem) => ({ file, document: number, ...problem })));
    }
    if (document.kind !== 'data') continue;
    misread.push(...document.misread.map((problem) => ({ file, document: number, ...problem })));
    const source: Source = { file, text, yaml, root: document.root, document: number };
    objects.push(...objectsOf(document.value).map(({ value, path }) => locatedObject(source, value, path)));
  }
  return { objects, problems, misread };
}

interface Source extends TextFile {
  readonly yaml: YamlText;
  readonly root: YamlNode;
  readonly document: number;
}

function locatedObject(source: Source, value: unknown, path: Path): LocatedObject {
  const { file, document, root, yaml } = source;
  return {
    file,
    document,
    value,
    ...yaml.positionAt(follow(root, path).node.start),
    locate(problem) {
      const place = placeOf(source, { ...problem, path: [...path, ...problem.path] });
      const within = place.exact ? '' : ` (character ${(problem.offset ?? 0) + 1} of the text)`;
      return { file, document, ...yaml.positionAt(place.offset), message: renderProblem(problem) + within };
    },
  };
}

interface Place {
  readonly offset: number;
  /** False when the place is where the text starts rather than the character that is meant. */
  readonly exact: boolean;
}

function placeOf({ root, text }: Source, { path, at, offset }: Problem): Place {
  const { node, keyStart, complete } = follow(root, path);
  // A missing field has no place, so its problem points to the key of the object that should have it.
  if (!complete || at === 'key') return { offset: keyStart ?? node.start, exact: true };
  if (offset === undefined) return { offset: node.start, exact: true };
  const exact = node.kind === 'scalar' ? sourceOffset(text, node, offset) : undefined;
  return { offset: exact ?? node.start, exact: exact !== undefined };
}
