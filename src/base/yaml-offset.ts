// Finds a character of a YAML scalar's value in the source, through quotes, escapes and the indentation of a block.
import type { YamlScalar } from './yaml-tree.ts';

/** Undefined where the source folds lines, so that value and source do not run side by side. */
export function sourceOffset(source: string, scalar: YamlScalar, offset: number): number | undefined {
  const raw = source.slice(scalar.start, scalar.end);
  const within = offsetWithin(raw, scalar.style, offset);
  return within === undefined ? undefined : scalar.start + within;
}

function offsetWithin(raw: string, style: YamlScalar['style'], offset: number): number | undefined {
  if (style === 'literal') return literalOffset(raw, offset);
  if (/[\r\n]/.test(raw)) return undefined;
  switch (style) {
    case 'plain':
      return offset;
    case 'single':
      return quotedOffset(raw, offset, /''|[^]/y);
    case 'double':
      return quotedOffset(raw, offset, /\\(?:x.{2}|u.{4}|U.{8}|.)|[^]/y);
    case 'folded':
      return undefined;
  }
}

/** Walks over the spellings behind the opening quote, each of which stands for one character of the value. */
function quotedOffset(raw: string, offset: number, spelling: RegExp): number {
  let at = 1;
  for (let passed = 0; passed < offset && at < raw.length - 1; passed += 1) {
    spelling.lastIndex = at;
    at += spelling.exec(raw)?.[0].length ?? 1;
  }
  return at;
}

/** In a literal block each line of the value is a line of the source, behind the same indentation. */
function literalOffset(raw: string, offset: number): number | undefined {
  const header = /^\|[-+]?[ \t]*(?:#[^\n]*)?\r?\n/.exec(raw);
  if (header === null) return undefined;
  const lines = raw.slice(header[0].length).split('\n');
  const indentation = /^ */.exec(lines.find((line) => line.trim() !== '') ?? '')?.[0].length ?? 0;
  let at = header[0].length;
  let left = offset;
  for (const line of lines) {
    const shown = Math.max(0, line.replace(/\r$/, '').length - indentation);
    if (left <= shown) return at + Math.min(indentation, line.length) + left;
    left -= shown + 1;
    at += line.length + 1;
  }
  return undefined;
}
