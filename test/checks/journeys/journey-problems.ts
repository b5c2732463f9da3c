// Compares a journey of docs/architecture.md with the files that it passes, and writes the page that lists them all.

const chapter = '## Three journeys';

/** One line for each step whose file is not passed, and one if the journey passes more files than the page allows. */
export function journeyProblems(page: string, journey: string, passed: readonly string[]): readonly string[] {
  const section = sectionOf(page, journey);
  const place = `docs/architecture.md, "${journey}"`;
  if (section === undefined) return [`${place}: there is no such journey`];
  const named = stepsOf(section).map(filesIn);
  const count = countedFiles(page, journey, passed).length;
  const [, limit] = /at most (\d+) files/.exec(section) ?? [];
  return [
    ...named.flatMap((files, index) =>
      files.length === 1 ? [] : [`${place}: step ${index + 1} names ${files.length} files, must name one`],
    ),
    ...named
      .flat()
      .filter((file) => !passed.includes(file))
      .map((file) => `${place}: does not pass ${file}`),
    ...(count <= Number(limit) ? [] : [`${place}: passes ${count} files, at most ${limit ?? 'no number'}`]),
  ];
}

/** The files that a journey passes, without the folders that the page leaves out. */
export function countedFiles(page: string, journey: string, passed: readonly string[]): readonly string[] {
  const introduction = (section = ''): string => section.split(/^1\. /m, 1).join('');
  const leftOut = foldersIn(introduction(chapterOf(page)[0]) + introduction(sectionOf(page, journey)));
  return passed.filter((file) => !leftOut.some((folder) => file.startsWith(`${folder}/`)));
}

/** The page docs/journeys.md. */
export function journeysPage(lists: ReadonlyMap<string, readonly string[]>): string {
  const sections = [...lists].map(
    ([journey, files]) =>
      `## ${journey}\n\n${files.length} files:\n\n${files.map((file) => `- \`${file}\`\n`).join('')}`,
  );
  return [
    '# The files of the three journeys\n\n' +
      '`npm test -- test/checks/journeys.io.test.ts --update` writes this page. ' +
      '[Architecture](architecture.md#three-journeys) names the file that decides in each step.\n',
    ...sections,
  ].join('\n');
}

function chapterOf(page: string): readonly string[] {
  const [, text = ''] = page.split(`${chapter}\n`);
  return text.split(/^## /m, 1).join('').split(/^### /m);
}

function sectionOf(page: string, journey: string): string | undefined {
  return chapterOf(page).find((each) => each.startsWith(`${journey}\n`));
}

/** The numbered list. Paragraphs after it may tell of other ways. */
function stepsOf(section: string): readonly string[] {
  return [...section.matchAll(/^\d+\. .*\n(?: {3,}.*\n)*/gm)].map(([step]) => step);
}

function filesIn(text: string): readonly string[] {
  return [...text.matchAll(/`(src\/[^`\s]*\.ts)`/g)].map(([, file = '']) => file);
}

function foldersIn(text: string): readonly string[] {
  return [...text.matchAll(/`(src\/[a-z/]*[a-z])`/g)].map(([, folder = '']) => folder);
}
