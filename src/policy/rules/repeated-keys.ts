// Finds out whether some object in a JSON text has a key twice, which JSON.parse passes over in silence.

/** The text must be valid JSON: it has been parsed before. */
export function hasRepeatedKey(json: string): boolean {
  const objects: (Set<string> | undefined)[] = [];
  for (const token of tokensOf(json)) {
    if (token === '{') objects.push(new Set());
    else if (token === '[') objects.push(undefined);
    else if (token === '}' || token === ']') objects.pop();
    else {
      const keys = objects.at(-1);
      const key = keyOf(token.slice(0, token.lastIndexOf('"') + 1));
      if (keys === undefined) continue;
      if (keys.has(key)) return true;
      keys.add(key);
    }
  }
  return false;
}

/** Only an escape makes a key differ from how it is written. */
function keyOf(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
}

/** Brackets, and strings that a colon follows; a string that is a value is passed over. */
function* tokensOf(json: string): Generator<string> {
  const pattern = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
  for (const match of json.matchAll(pattern)) {
    const [token, colon] = match;
    if (colon !== undefined || !token.startsWith('"')) yield token;
  }
}
