// Measures JSON before it is parsed: its depth and its number of values limit the cost of parsing.

/** Deeper than any Kubernetes object, and far below the limit of a recursive reader. */
export const maxDepth = 128;
/** JSON.parse takes about a microsecond for each value and blocks the process meanwhile. */
export const maxValues = 150_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

interface JsonSize {
  readonly depth: number;
  /** The number of object members and list items in the whole text. */
  readonly values: number;
}

/**
 * Measures UTF-8 bytes: in UTF-8, no byte of another character equals an ASCII character. For text that is not JSON the
 * numbers mean nothing, and JSON.parse refuses it afterwards.
 */
export function measureJson(bytes: Uint8Array): JsonSize {
  let depth = 0;
  let deepest = 0;
  let values = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === quote) {
      index = endOfString(bytes, index);
    } else if (byte === comma) {
      values++;
    } else if (byte === openBrace || byte === openBracket) {
      depth++;
      // The first value of a container has no comma before it. An empty container costs as much as a value.
      values++;
      if (depth > deepest) deepest = depth;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth--;
    }
  }
  return { depth: deepest, values };
}

/** Returns the index of the closing quote, or the end of the text. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1;
  return index;
}

/** Finds `request.uid` without parsing the rest, to answer a document that is too large to parse. */
export function findUid(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const path: string[] = [];
  let depth = 0;
  let uid: unknown;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    depth += depthChange(byte);
    if (byte !== quote) continue;
    const end = endOfString(bytes, index);
    // Deeper strings are never the uid, and can have megabytes.
    if (depth <= 2) {
      const token = text.toString('utf8', index, end + 1);
      if (isKey(bytes, end)) path[depth] = token;
      else if (isUidAt(path, depth)) uid = parseString(token);
    }
    index = end;
  }
  return uid;
}

function depthChange(byte: number | undefined): -1 | 0 | 1 {
  if (byte === openBrace || byte === openBracket) return 1;
  return byte === closeBrace || byte === closeBracket ? -1 : 0;
}

function isUidAt(path: readonly string[], depth: number): boolean {
  return depth === 2 && path[1] === '"request"' && path[2] === '"uid"';
}

function isKey(bytes: Uint8Array, end: number): boolean {
  const colon = 0x3a;
  let index = end + 1;
  while (index < bytes.length && isSpace(bytes[index])) index++;
  return bytes[index] === colon;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function parseString(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
}
