// Searches everything readable for secrets: the canaries in source Secrets, tokens and private keys.

export interface Needle {
  /** The description that a report shows instead of the secret. */
  readonly about: string;
  readonly text: string;
}

/** Returns the secret in plain text, and its forms inside base64 at each possible offset. */
export function needlesOf(about: string, secret: string): readonly Needle[] {
  return [
    { about, text: secret },
    ...[0, 1, 2].map((shift) => ({ about: `${about} in base64`, text: innerBase64(secret, shift) })),
  ];
}

/** Any private key or token. A service account token begins with the algorithm of its signature. */
export const keysAndTokens: readonly Needle[] = [
  ...needlesOf('a private key', 'PRIVATE KEY-----'),
  ...needlesOf('a token', 'eyJhbGciOi'),
];

/** Returns the secrets that the text contains, each once. */
export function leaksIn(text: string, needles: readonly Needle[]): readonly string[] {
  return [...new Set(needles.filter((needle) => text.includes(needle.text)).map(({ about }) => about))];
}

/** Returns the base64 characters that depend only on the secret, when `shift` bytes precede it in its group of three. */
function innerBase64(secret: string, shift: number): string {
  const bytes = Buffer.from(secret);
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replaceAll('=', '');
  const start = Math.ceil((shift * 8) / 6);
  const end = Math.floor(((shift + bytes.length) * 8) / 6);
  return encoded.slice(start, end);
}
