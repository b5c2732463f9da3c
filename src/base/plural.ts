// Puts words into the plural: the resource of a kind, guessed without asking an API server, and counted kinds in a text.

/** https://pkg.go.dev/k8s.io/apimachinery/pkg/api/meta#UnsafeGuessKindToResource */
export function guessedPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith('endpoints')) return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/** `2 NetworkPolicies` */
export function countedWord(count: number, word: string): string {
  if (count === 1) return `1 ${word}`;
  if (word.endsWith('y')) return `${count} ${word.slice(0, -1)}ies`;
  return `${count} ${word}${word.endsWith('s') ? 'es' : 's'}`;
}
