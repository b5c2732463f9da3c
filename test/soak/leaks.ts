// Searches everything readable for secrets: the canaries in source Secrets, tokens and private keys.

export interface Needle {
  /** Said in place of the secret itself. */
  readonly about: string;
  readonly text: string;
}

/** The secret as it is, and as it looks within whatever is encoded in base64, wherever in it it begins. */
export function needlesOf(about: string, secret: string): readonly Needle[] {
  return [
    { about, text: secret },
    ...[0, 1, 2].map((shift) => ({ about: `${about} in base64`, text: innerBase64(secret, shift) })),
  ];
}

/** Keys and tokens of any owner. A service account token begins with the algorithm of its signature. */
export const keysAndTokens: readonly Needle[] = [
  ...needlesOf('a private key', 'PRIVATE KEY-----'),
  ...needlesOf('a token', 'eyJhbGciOi'),
];

/** Returns the secrets that the text contains, each once. */
export function leaksIn(text: string, needles: readonly Needle[]): readonly string[] {
  return [...new Set(needles.filter((needle) => text.includes(needle.text)).map(({ about }) => about))];
}

/** The characters of base64 that depend on nothing but the secret, when so many bytes stand before it in its group. */
function innerBase64(secret: string, shift: number): string {
  const bytes = Buffer.from(secret);
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replaceAll('=', '');
  const start = Math.ceil((shift * 8) / 6);
  const end = Math.floor(((shift + bytes.length) * 8) / 6);
  return encoded.slice(start, end);
}
