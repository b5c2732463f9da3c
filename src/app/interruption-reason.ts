// What the end of a watch is counted as: a word of ours, whatever a server or a proxy on the way has said.

/** Of this program, for what came without an answer of a server. */
const ownWords: ReadonlySet<string> = new Set([
  'Stalled',
  'ClosedEarly',
  'WentBack',
  'Timeout',
  'NoCredentials',
]);

const wordOfCode: ReadonlyMap<number, string> = new Map([
  [200, 'MalformedAnswer'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [410, 'Expired'],
  [429, 'TooManyRequests'],
]);

export function interruptionReason({
  code,
  reason,
}: {
  readonly code: number;
  readonly reason: string;
}): string {
  if (code === 0) return ownWords.has(reason) ? reason : 'Disconnected';
  return wordOfCode.get(code) ?? (code >= 500 ? 'ServerError' : 'Refused');
}
