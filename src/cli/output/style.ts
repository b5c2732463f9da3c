// The few styles of printed data. Without a terminal, or with NO_COLOR, texts stay as they are.
import { colored, plain, type Paint } from '../feed.ts';

export interface Style {
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

export function styleFor(isColored: boolean): Style {
  const paint: Paint = isColored ? colored : plain;
  return {
    added: (text) => paint('green', text),
    removed: (text) => paint('red', text),
    faint: (text) => paint('dim', text),
    strong: (text) => paint('bold', text),
  };
}
