// Durations as Go writes them, which is how the API server states its timeout: `10s`, `1m30s`, `250ms`.
// https://pkg.go.dev/time#ParseDuration

const unitMilliseconds: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** No number in use is longer; the bound keeps the work on a hostile text small. */
const longest = 64;
const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/** Milliseconds; undefined when the text is not a duration, or a negative one. */
export function parseGoDuration(text: string): number | undefined {
  const unsigned = text.startsWith('+') ? text.slice(1) : text;
  if (unsigned === '0') return 0;
  if (unsigned === '' || unsigned.length > longest) return undefined;
  let total = 0;
  let end = 0;
  for (const [whole, number, unit] of unsigned.matchAll(part)) {
    total += Number(number) * (unitMilliseconds.get(unit ?? '') ?? Number.NaN);
    end += whole.length;
  }
  return end === unsigned.length && Number.isFinite(total) ? total : undefined;
}
