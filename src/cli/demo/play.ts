// Plays the tour of `reeve up --demo`, scene by scene, and says of each whether it came out as told.
import type { Listener } from '../feed.ts';
import type { Paint } from '../feed-text.ts';
import { scenes, type Scene } from './scenes.ts';
import { Stage, type StageUp } from './stage.ts';

export interface DemoPorts {
  readonly up: StageUp;
  /** From then on the listener is told of everything that happens. */
  readonly subscribe: (listener: Listener) => void;
  readonly say: (text: string) => void;
  readonly paint: Paint;
  /** Between two looks at what has not come about yet. */
  readonly pause: () => Promise<void>;
}

/** Answers with the exit code: 0 when everything came out as told. */
export async function playDemo({ up, subscribe, say, paint, pause }: DemoPorts): Promise<number> {
  const stage = new Stage(up, pause);
  subscribe((event) => stage.hear(event));
  let good = 0;
  for (const [index, scene] of scenes.entries()) {
    say(`\n${paint('bold', `${index + 1}. ${scene.story}`)}\n`);
    const isGood = await played(scene, stage);
    if (isGood) good += 1;
    say(
      isGood
        ? `${paint('green', '✔')} ${scene.promise}\n`
        : `${paint('red', '✘ not so:')} ${scene.promise}\n`,
    );
  }
  const isAll = good === scenes.length;
  say(`\n${paint(isAll ? 'green' : 'red', `${good} of ${scenes.length} scenes came out as told.`)}\n`);
  return isAll ? 0 : 1;
}

async function played(scene: Scene, stage: Stage): Promise<boolean> {
  stage.beginScene();
  return await scene.play(stage);
}
