// A ratio with its limit, and the line that reports it.

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
