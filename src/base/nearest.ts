// Guesses which known word a person meant who wrote another one.

/** The known word that is fewest changes away, if at most so many; whether letters are small makes no difference. */
export function nearest(given: string, known: readonly string[], farthest: number): string | undefined {
  const [best] = known
    .map((word) => ({ word, distance: editDistance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ distance }) => distance <= farthest)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.word;
}

/** Levenshtein's distance, one row at a time; a swap of two neighbors counts as two changes. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
