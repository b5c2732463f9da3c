// Plays the tour of `reeve up --demo`, scene by scene, and says of each whether it came out as told.
import type { Listener } from '../feed.ts';
import { scenes } from './scenes.ts';
import { Stage, type StageUp } from './stage.ts';
import type { Teller } from './teller.ts';

export interface DemoPorts {
  readonly up: StageUp;
  /** From then on the listener is told of everything that happens. */
  readonly subscribe: (listener: Listener) => void;
  readonly teller: Teller;
  /** Between two looks at what has not come about yet. */
  readonly pause: () => Promise<void>;
}

/** Answers with the exit code: 0 when everything came out as told. */
export async function playDemo({ up, subscribe, teller, pause }: DemoPorts): Promise<number> {
  const stage = new Stage(up, pause);
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
