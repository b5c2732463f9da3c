// Plays the tour of `reeve up --demo`, scene by scene, and says of each whether it came out as told.
import type { Listener } from '../feed.ts';
import { scenes } from './scenes.ts';
import { DemoSession, type DemoCluster } from './session.ts';
import type { Paint } from '../feed-text.ts';

export interface DemoPorts {
  readonly up: DemoCluster;
  /** From then on the listener is told of everything that happens. */
  readonly subscribe: (listener: Listener) => void;
  readonly teller: DemoPrinter;
  /** Between two looks at what has not come about yet. */
  readonly pause: () => Promise<void>;
}

/** Answers with the exit code: 0 when everything came out as told. */
export async function playDemo({ up, subscribe, teller, pause }: DemoPorts): Promise<number> {
  const stage = new DemoSession(up, pause);
  subscribe((event) => stage.hear(event));
  let kept = 0;
  for (const [index, { story, promise, play }] of scenes.entries()) {
    teller.begins(index + 1, story);
    stage.beginScene();
    const isKept = await play(stage);
    if (isKept) kept += 1;
    teller.ends(promise, isKept);
  }
  teller.closes(kept, scenes.length);
  return kept === scenes.length ? 0 : 1;
}

export interface DemoPrinter {
  begins(number: number, story: string): void;
  ends(promise: string, isKept: boolean): void;
  closes(kept: number, all: number): void;
}

export function textPrinter(write: (text: string) => void, paint: Paint): DemoPrinter {
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

export function jsonPrinter(write: (text: string) => void): DemoPrinter {
  const tell = (type: string, parts: object): void => write(`${JSON.stringify({ type, ...parts })}\n`);
  return {
    begins: (number, story) => tell('scene', { number, story }),
    ends: (promise, isKept) => tell('outcome', { promise, isKept }),
    closes: (kept, all) => tell('tour', { kept, all }),
  };
}
