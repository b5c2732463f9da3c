// Tells the tour: as a story for people, or as one line of JSON for each part of it.
import type { Paint } from '../feed-text.ts';

export interface Teller {
  begins(number: number, story: string): void;
  ends(promise: string, isKept: boolean): void;
  closes(kept: number, all: number): void;
}

export function textTeller(write: (text: string) => void, paint: Paint): Teller {
  return {
    begins: (number, story) => write(`\n${paint('bold', `${number}. ${story}`)}\n`),
    ends: (promise, isKept) =>
      write(`${isKept ? paint('green', '✔') : paint('red', '✘ not so:')} ${promise}\n`),
    closes: (kept, all) => {
      const text = `${kept} of ${all} scenes came out as told.`;
      write(`\n${paint(kept === all ? 'green' : 'red', text)}\n`);
    },
  };
}

export function jsonTeller(write: (text: string) => void): Teller {
  const tell = (type: string, parts: object): void => write(`${JSON.stringify({ type, ...parts })}\n`);
  return {
    begins: (number, story) => tell('scene', { number, story }),
    ends: (promise, isKept) => tell('outcome', { promise, isKept }),
    closes: (kept, all) => tell('tour', { kept, all }),
  };
}
