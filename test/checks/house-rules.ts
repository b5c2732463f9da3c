// Checks what a linter of single files cannot see: folders, their READMEs, unique exported names, and the style of prose.
import { exportsOf, weightProblems } from './figures.ts';
import { fileAt, filesUnder, type SourceFile } from './source-files.ts';
import { titleFragments } from './test-titles.ts';

const maxFilesBesideEachOther = 25;
const readmeLines = { min: 15, max: 30 };
/** Two rooms may declare the same port on purpose; any other name means one thing in all of src. */
const maxSharedNames = 20;

/** Words of the old style: they describe things instead of naming them. */
const oldStyle: readonly RegExp[] = [
  /(?:\/\/|\/\*\*|^\s*\*)\s+(?:Of|Who|Whoever|Those|Whether|Nobody|Somebody|One that|What is)\s/u,
  /\b(?:whoever|nobody|somebody|anew|of which|by which|comes to be|come to be|is told|are told|hindrance|hindered)\b/iu,
  /\b(?:goes away|gone for good|takes? away|taken away|to be had|can be had|stays at it)\b/iu,
];

/** One line for each problem, with the place and what would be right. */
export function houseProblems(files: readonly SourceFile[]): readonly string[] {
  return [
    ...folderProblems(files),
    ...nameProblems(files),
    ...files.flatMap(proseProblems),
    ...files.flatMap(titleProblems),
  ];
}

function folderProblems(files: readonly SourceFile[]): readonly string[] {
  const folders = Map.groupBy(
    files.filter(({ path }) => path.startsWith('src/')),
    ({ path }) => parentOf(path),
  );
  // A folder that holds only folders needs a README, too. The loop also visits the folders that it adds.
  for (const folder of folders.keys()) {
    const above = parentOf(folder);
    if (above.startsWith('src/') && !folders.has(above)) folders.set(above, []);
  }
  const names = new Set(files.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)));
  return [...folders].flatMap(([folder, inside]) => {
    const code = inside.filter(({ path }) => path.endsWith('.ts'));
    const readme = inside.find(({ path }) => path === `${folder}/README.md`);
    return [
      ...(code.length <= maxFilesBesideEachOther
        ? []
        : [`${folder}: ${code.length} files beside each other, at most ${maxFilesBesideEachOther}`]),
      ...(folder === 'src' ? [] : readmeProblems(folder, readme, names)),
    ];
  });
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** A README says where to begin. It need not name every file, but each file that it names must exist in some room. */
function readmeProblems(
  folder: string,
  readme: SourceFile | undefined,
  names: ReadonlySet<string>,
): readonly string[] {
  const { min, max } = readmeLines;
  if (readme === undefined) return [`${folder}: README.md is missing, with ${min} to ${max} lines`];
  const count = readme.text.trimEnd().split('\n').length;
  const named = [...readme.text.matchAll(/`([a-z-]+\.ts)`/gu)].map(([, name = '']) => name);
  return [
    ...(count >= min && count <= max ? [] : [`${count} lines, must have ${min} to ${max}`]),
    ...named.filter((name) => !names.has(name)).map((name) => `${name} does not exist`),
  ].map((problem) => `${folder}/README.md: ${problem}`);
}

function nameProblems(files: readonly SourceFile[]): readonly string[] {
  const places = new Map<string, string[]>();
  for (const file of files) {
    const { path } = file;
    if (!path.startsWith('src/') || !path.endsWith('.ts')) continue;
    for (const name of exportsOf(file)) places.set(name, [...(places.get(name) ?? []), path]);
  }
  const shared = [...places].filter(([, paths]) => paths.length > 1);
  if (shared.length <= maxSharedNames) return [];
  return shared.map(
    ([name, paths]) =>
      `${name} is exported by ${paths.join(' and ')}, at most ${maxSharedNames} names may be`,
  );
}

function titleProblems({ path, text }: SourceFile): readonly string[] {
  if (!path.endsWith('.test.ts')) return [];
  return titleFragments(text).map(
    (title) => `${path}: the title "${title}" is no sentence: begin with the subject`,
  );
}

/** Prose is what people read: Markdown, comments, and texts in quotes. */
function proseProblems({ path, text }: SourceFile): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const prose = path.endsWith('.md') ? line : proseOf(path, line);
    const found = oldStyle.map((pattern) => pattern.exec(prose)?.[0]).find((match) => match !== undefined);
    return found === undefined
      ? []
      : [`${path}:${index + 1}: "${found.trim()}" is in the old style: name the thing`];
  });
}

/** In tests the texts of made-up users and objects do not count, but titles do. */
const title = /\b(?:describe\w*|test|each)\b.*\(/u;

function proseOf(path: string, line: string): string {
  const comment = /(?:^|\s)(?:\/\/|\/\*\*?|\*)\s.*$/u.exec(line)?.[0] ?? '';
  if (path.startsWith('test/') && !title.test(line)) return comment;
  const texts = [...line.matchAll(/'[^']*'|"[^"]*"|`[^`]*`?/gu)].map(([text]) => text);
  return [comment, ...texts.filter((text) => text.includes(' '))].join(' ');
}

/** These name the old style to refuse it. */
const exempt = ['test/checks/house-rules.ts', 'test/checks/house-rules.test.ts'];

if (import.meta.main) {
  const all = [
    ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'vitest.config.ts', 'oxlint.config.ts'].map(fileAt),
    ...['src', 'test', 'build', 'docs', 'manifests'].flatMap(filesUnder),
  ];
  const only = process.argv.slice(2);
  const problems = [
    ...houseProblems(all.filter(({ path }) => !exempt.includes(path))),
    ...weightProblems(all),
  ].filter((problem) => only.length === 0 || only.some((path) => problem.startsWith(path)));
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
