// Plays the demo of `reeve up --demo` scene by scene, and reports for each scene whether it went as described.
import type { Listener, Paint } from '../feed.ts';
import { scenes } from './scenes.ts';
import { DemoSession, type DemoCluster } from './session.ts';

interface DemoOptions {
  readonly cluster: DemoCluster;
  /** From this call on, the listener gets every event of the feed. */
  readonly subscribe: (listener: Listener) => void;
  readonly printer: DemoPrinter;
  /** The delay before a condition that does not hold yet is checked again. */
  readonly retryDelay: () => Promise<void>;
  /** Waits before each scene but the first, so that a person can read along. */
  readonly betweenScenes: () => Promise<void>;
}

/** Prints the demo: as text for people, or as one line of JSON for each part. */
interface DemoPrinter {
  startScene(number: number, story: string): void;
  endScene(promise: string, isKept: boolean): void;
  endDemo(kept: number, all: number): void;
}

/** Returns the exit code: 0 when every scene went as described. */
export async function playDemo({
  cluster,
  subscribe,
  printer,
  retryDelay,
  betweenScenes,
}: DemoOptions): Promise<number> {
  const session = new DemoSession(cluster, retryDelay);
  subscribe((event) => session.record(event));
  let kept = 0;
  for (const [index, { story, promise, play }] of scenes.entries()) {
    if (index > 0) await betweenScenes();
    printer.startScene(index + 1, story);
    session.startScene();
    const isKept = await play(session);
    if (isKept) kept += 1;
    printer.endScene(promise, isKept);
  }
  printer.endDemo(kept, scenes.length);
  return kept === scenes.length ? 0 : 1;
}

export function textPrinter(write: (text: string) => void, paint: Paint): DemoPrinter {
  return {
    startScene: (number, story) => write(`\n${paint('bold', `${number}. ${story}`)}\n`),
    endScene: (promise, isKept) =>
      write(`${isKept ? paint('green', '✔') : paint('red', '✘ failed:')} ${promise}\n`),
    endDemo: (kept, all) => {
      const text = `${kept} of ${all} scenes went as described.`;
      write(`\n${paint(kept === all ? 'green' : 'red', text)}\n`);
    },
  };
}

export function jsonPrinter(write: (text: string) => void): DemoPrinter {
  const print = (type: string, parts: object): void => write(`${JSON.stringify({ type, ...parts })}\n`);
  return {
    startScene: (number, story) => print('scene', { number, story }),
    endScene: (promise, isKept) => print('outcome', { promise, isKept }),
    endDemo: (kept, all) => print('tour', { kept, all }),
  };
}
