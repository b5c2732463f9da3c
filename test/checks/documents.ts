// Checks that documents stay short, and that the files, scripts, metrics and headings they name exist.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { metricGroups } from './reference/metrics-page.ts';
import { anchor } from './reference/markdown.ts';

const root = join(import.meta.dirname, '..', '..');

const maxBytes: Readonly<Record<string, number>> = { 'README.md': 15_000, 'docs/security.md': 22_000 };

/** Documents whose code spans name files: the journeys through the code, and where to add something. */
const namesFiles = ['docs/architecture.md', 'CONTRIBUTING.md'];

/** Alerts and dashboards name metrics, too. */
const queries = ['manifests/chart/files/alerts.yaml', 'manifests/chart/files/dashboards/*.json'];

/** What the checks ask of the repository. */
export interface Repository {
  readonly hasFile: (path: string) => boolean;
  readonly textOf: (path: string) => string;
  readonly scripts: readonly string[];
  readonly metrics: readonly string[];
}

/** One line for each problem of the document. */
export function documentProblems(path: string, text: string, repository: Repository): readonly string[] {
  return [
    ...sizeProblems(path, text),
    ...linkProblems(path, text, repository),
    ...scriptProblems(text, repository),
    ...metricProblems(text, repository),
    ...(namesFiles.includes(path) ? fileProblems(text, repository) : []),
  ].map((problem) => `${path}: ${problem}`);
}

function sizeProblems(path: string, text: string): readonly string[] {
  const size = Buffer.byteLength(text);
  const max = maxBytes[path] ?? Infinity;
  return size > max ? [`${size} bytes, must have at most ${max}`] : [];
}

function linkProblems(path: string, text: string, { hasFile, textOf }: Repository): readonly string[] {
  const links = text.matchAll(/\]\((?!https?:)([^)#]*)(#[^)]*)?\)/g);
  return [...links].flatMap(([, target = '', heading]) => {
    const file = target === '' ? path : join(dirname(path), target);
    if (!hasFile(file)) return [`link to ${target}, which does not exist`];
    if (heading === undefined || !file.endsWith('.md')) return [];
    return anchorsOf(target === '' ? text : textOf(file)).includes(heading)
      ? []
      : [`link to ${target}${heading}, but there is no such heading`];
  });
}

function anchorsOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchor(heading));
}

function scriptProblems(text: string, { scripts }: Repository): readonly string[] {
  const named = text.matchAll(/\bnpm run (?:--silent )?([a-z][a-z:]*)/g);
  return [...named].flatMap(([, script = '']) =>
    scripts.includes(script) ? [] : [`package.json has no script ${script}`],
  );
}

function metricProblems(text: string, { metrics }: Repository): readonly string[] {
  const known = new Set(metrics.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]));
  return [...text.matchAll(/\breeve_[a-z_]+[a-z]\b/g)].flatMap(([name]) =>
    known.has(name) ? [] : [`there is no metric ${name}`],
  );
}

/** Code spans that begin with a folder of the repository: `src/rules`, `test/unit/x.test.ts`; stars are globs. */
function fileProblems(text: string, { hasFile }: Repository): readonly string[] {
  const spans = text.matchAll(/`((?:src|test|docs|manifests)\/[^`\s]*)`/g);
  return [...spans].flatMap(([, path = '']) => (hasFile(path) ? [] : [`${path} does not exist`]));
}

export function documentPaths(): readonly string[] {
  const prose = '{*.md,certs/*.md,docs/**/*.md,manifests/**/*.md,src/**/*.md,test/**/*.md}';
  return globSync([prose, ...queries], { cwd: root });
}

export function thisRepository(): Repository {
  const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- npm would not have installed us with another form
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: object };
  return {
    hasFile: (path) =>
      path.includes('*') ? globSync(path, { cwd: root }).length > 0 : existsSync(join(root, path)),
    textOf,
    scripts: Object.keys(scripts),
    metrics: metricGroups().flatMap(([, definitions]) => definitions.map(({ name }) => name)),
  };
}

if (import.meta.main) {
  const real = thisRepository();
  const problems = documentPaths().flatMap((path) => documentProblems(path, real.textOf(path), real));
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
