// Guesses which known word a person meant when they wrote an unknown one.

/** Returns the known word with the fewest changes, at most `maxDistance`, ignoring case; undefined if none. */
export function nearest(given: string, known: readonly string[], maxDistance: number): string | undefined {
  const [best] = known
    .map((word) => ({ word, distance: editDistance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.word;
}

/** Comparing two words takes microseconds, and a cluster can have thousands of names. */
const maxCompared = 1000;

/** Returns a word that differs by case, or by a letter or two where the given word is long enough for that. */
export function nearestWord(given: string, known: Iterable<string>): string | undefined {
  const letters = given.length < 4 ? Math.max(0, given.length - 2) : 2;
  return nearest(given, [...known].slice(0, maxCompared), letters);
}

/** The optimal string alignment distance, one row at a time. Swapping two neighbors counts as one change. */
function editDistance(from: string, to: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(substitution, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[to.length] ?? 0;
}
