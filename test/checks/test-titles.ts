// The titles of the tests and groups in a file of tests, as they are written there: `%s` and `$name` stand for themselves.
// A title of a test is a whole sentence.

const string = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|` + '`(?:\\\\.|[^`\\\\])*`';
const call = String.raw`\b(?:test|it|describe\w*)(?:\.\w+)*`;
/** After a table of cases, or after other arguments: `test.for([...])('title', ...)`. */
const callOfTable = String.raw`[\])]`;
/** A text may look like a comment: `test/**`. */
const textOrComment = new RegExp(String.raw`(${string})|^\s*//.*$|/\*[^]*?\*/`, 'gm');
const neverRun = new RegExp(
  String.raw`\b(?:test|it|describe\w*)(?:\.\w+)*\.(?:skip|todo|fails)\b[^]*?\(\s*(?:${string})\s*(?=[,)])`,
  'g',
);
const title = new RegExp(String.raw`(?:${call}|${callOfTable})\(\s*(${string})\s*,`, 'g');

export function testTitles(source: string): ReadonlySet<string> {
  return new Set([...codeOf(source).matchAll(title)].map(([, literal = '']) => unquoted(literal)));
}

function codeOf(source: string): string {
  // A test that is commented out proves nothing, nor does one that never runs, or that has to fail.
  return source
    .replaceAll(textOrComment, (_all, text: string | undefined) => text ?? '')
    .replaceAll(neverRun, '');
}

const table = /\b(\w+)(?:\.\w+)*?\.(?:each|for|skipIf|runIf)\b/g;

/** Words that begin a title only if its subject stands in the title of a group, which a report of one test leaves out. */
const beginnings = new Set(
  `is are has have does do can cannot may must
  accepts adds adopts allows announces answers answer applies asks ask begins begin belongs blames brings builds calls carries
  carry collects comes come completes contains continues counts covers creates delays deletes denies depends differs drops ends
  end evaluates expires exits fails fail falls finds find follows follow forgets gets gives give goes grants handles holds hold
  identifies ignores includes include judges judge keeps keep knows know lasts leaves leave lets let loads logs looks look loses
  lose makes make marks merges moves names needs need permits plays prints proves provides puts quotes reaches reach reads
  receives receive refuses refuse rejects releases removes renders repairs replaces reports requires restores returns rewrites
  runs says say sends send serves sets shares shows show signs skips sorts splits starts stays stay stops succeeds supports takes
  take throws treats treat tries turns updates uses waits wait warns works
  that of to for whose which about by`.split(/\s+/u),
);
/** A clause that begins with one of these can stand before the subject, with a comma after the clause. */
const clauses = new Set(
  'with without in on at after before while when where under from between beside within during until through'.split(
    ' ',
  ),
);

/** Returns the titles of tests that are no sentences, because their subject is missing. */
export function titleFragments(source: string): readonly string[] {
  const code = codeOf(source);
  return [...code.matchAll(title)].flatMap(({ 0: text, 1: literal = '', index }) =>
    isFragment(unquoted(literal)) && isOfTest(text, code.slice(0, index)) ? [unquoted(literal)] : [],
  );
}

function isFragment(text: string): boolean {
  const [first = ''] = text.split(/[ ,:;]/u);
  if (!text.includes(' ')) return false;
  return (
    beginnings.has(first) || (clauses.has(first) && !text.includes(',') && !/^at (?:most|least) /u.test(text))
  );
}

/** The title after a table is that of a test if the table is. */
function isOfTest(text: string, before: string): boolean {
  const called = /^\w+/u.exec(text)?.[0] ?? [...before.matchAll(table)].at(-1)?.[1];
  return called === 'test' || called === 'it';
}

/** Resolves the few escapes that titles use. */
function unquoted(literal: string): string {
  return literal.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}
