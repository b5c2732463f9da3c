// A ratio that must not be exceeded, and how it is reported.

export interface Bound {
  readonly name: string;
  readonly ratio: number;
  readonly limit: number;
}

export function isKept({ ratio, limit }: Bound): boolean {
  return ratio <= limit;
}

export function verdict(bound: Bound): string {
  return `${bound.name}: ${bound.ratio.toFixed(2)} (at most ${bound.limit}) ${isKept(bound) ? 'ok' : 'TOO SLOW'}`;
}
