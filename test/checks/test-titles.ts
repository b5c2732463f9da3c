// The titles of the tests and groups in a file of tests, as they are written there: `%s` and `$name` stand for themselves.

const string = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|` + '`(?:\\\\.|[^`\\\\])*`';
const call = String.raw`\b(?:test|it|describe\w*)(?:\.\w+)*`;
/** After a table of cases, or after other arguments: `test.for([...])('title', ...)`. */
const callOfTable = String.raw`[\])]`;
const comment = /^\s*\/\/.*$/gm;
const title = new RegExp(String.raw`(?:${call}|${callOfTable})\(\s*(${string})\s*,`, 'g');

export function testTitles(source: string): ReadonlySet<string> {
  // A test that is commented out proves nothing.
  const code = source.replaceAll(comment, '');
  return new Set([...code.matchAll(title)].map(([, literal = '']) => unquoted(literal)));
}

/** Of the escapes only those that a title needs. */
function unquoted(literal: string): string {
  return literal.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}
