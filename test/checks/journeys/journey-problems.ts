// Compares the files that a journey of docs/architecture.md names with the files that it passes.

const chapter = '## Three journeys';

/** One line for each file that is passed but not named, or named but not passed. */
export function journeyProblems(page: string, journey: string, passed: readonly string[]): readonly string[] {
  const [, text = ''] = page.split(`${chapter}\n`);
  const [ofAll = '', ...sections] = text.split(/^## /m, 1).join('').split(/^### /m);
  const section = sections.find((each) => each.startsWith(`${journey}\n`));
  const place = `docs/architecture.md, "${journey}"`;
  if (section === undefined) return [`${place}: there is no such journey`];
  const [introduction = ''] = section.split(/^1\. /m, 1);
  const leftOut = foldersIn(ofAll + introduction);
  const named = filesIn(stepsOf(section));
  const missing = passed.filter(
    (file) => !named.has(file) && !leftOut.some((folder) => file.startsWith(`${folder}/`)),
  );
  return [
    ...missing.map((file) => `${place}: passes ${file}, which no step names`),
    ...[...named].filter((file) => !passed.includes(file)).map((file) => `${place}: does not pass ${file}`),
    ...countProblems(place, introduction, named.size),
  ];
}

/** The numbered list. Paragraphs after it may tell of other ways, with files that this journey does not pass. */
function stepsOf(section: string): string {
  return [...section.matchAll(/^\d+\. .*\n(?: {3,}.*\n)*/gm)].join('');
}

function filesIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/`(src\/[^`\s]*\.ts)`/g)].map(([, file = '']) => file));
}

function foldersIn(text: string): readonly string[] {
  return [...text.matchAll(/`(src\/[a-z/]*[a-z])`/g)].map(([, folder = '']) => folder);
}

function countProblems(place: string, introduction: string, count: number): readonly string[] {
  const [, stated] = /(\d+) files/.exec(introduction) ?? [];
  return stated === String(count) ? [] : [`${place}: says ${stated ?? 'no number of'} files, names ${count}`];
}
