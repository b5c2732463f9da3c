// The titles of the tests and groups in a file of tests, as they are written there: `%s` and `$name` stand for themselves.

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
  // A test that is commented out proves nothing, nor does one that never runs, or that has to fail.
  const code = source
    .replaceAll(textOrComment, (_all, text: string | undefined) => text ?? '')
    .replaceAll(neverRun, '');
  return new Set([...code.matchAll(title)].map(([, literal = '']) => unquoted(literal)));
}

/** Resolves the few escapes that titles use. */
function unquoted(literal: string): string {
  return literal.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}
