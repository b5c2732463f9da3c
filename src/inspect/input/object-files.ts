// Reads the objects of paths, each with its place. `-` is standard input.
import { UnreadablePathError, type FileProblem, inOrder } from '../../state/located.ts';
import { isForTools } from '../../state/definitions.ts';
import { readYamlFiles, type TextFile } from '../../state/yaml-files.ts';
import { readObjects, type LocatedObject } from '../../state/yaml-objects.ts';
import { renderProblem } from '../../base/problem.ts';
import { objectsOf } from '../../base/yaml-tree.ts';

export interface ObjectFiles {
  readonly files: number;
  readonly located: readonly LocatedObject[];
  readonly problems: readonly FileProblem[];
}

interface ReadOptions {
  readonly stdin: () => Promise<string>;
  /** True for objects of a cluster, which are seldom wrong: JSON is then read without the places of its values. */
  readonly isState?: boolean;
}

/** Rejects with an UnreadablePathError. */
export async function readObjectFiles(
  paths: readonly string[],
  { stdin, isState = false }: ReadOptions,
): Promise<ObjectFiles> {
  const texts = new Map<string, TextFile>();
  const unreadable: FileProblem[] = [];
  for (const path of new Set(paths)) {
    const { files, problems } =
      path === '-'
        ? { files: [{ file: 'stdin', text: await stdin() }], problems: [] }
        : await readYamlFiles(path);
    for (const file of files) texts.set(file.file, file);
    unreadable.push(...problems);
  }
  const read = [...texts.values()].map((file) =>
    isState ? (quicklyRead(file) ?? readObjects(file)) : readObjects(file),
  );
  const problems = inOrder([...unreadable, ...read.flatMap((file) => [...file.problems, ...file.misread])]);
  const located = read.flatMap(({ objects }) => objects).filter(({ value }) => !isForTools(value));
  // A script has named the wrong folder or lost its input: a saved state of a cluster has its namespaces at least.
  if (paths.length > 0 && problems.length === 0 && located.length === 0)
    throw new UnreadablePathError(namesOf(paths), 'there is no object in YAML or JSON');
  return { files: texts.size, located, problems };
}

function namesOf(paths: readonly string[]): string {
  return paths.map((path) => (path === '-' ? 'standard input' : path)).join(', ');
}

/** With places, reading takes some twenty times as long. They are read when a problem needs one. */
function quicklyRead(file: TextFile): ReturnType<typeof readObjects> | undefined {
  if (!/^\s*[[{]/.test(file.text)) return undefined;
  try {
    const values = objectsOf(JSON.parse(file.text));
    const objects = values.map(({ value }, index): LocatedObject => {
      const slow = (): LocatedObject | undefined => readObjects(file).objects[index];
      const start = { file: file.file, line: 1, column: 1, document: 1 };
      return {
        ...start,
        value,
        // The reader of YAML accepts less nesting than JSON.parse.
        locate: (problem) => slow()?.locate(problem) ?? { ...start, message: renderProblem(problem) },
      };
    });
    return { objects, problems: [], misread: [] };
  } catch {
    // The reader of YAML says where the text is broken.
    return undefined;
  }
}
