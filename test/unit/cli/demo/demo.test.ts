// The tour tells the truth: what did not come out as told is said to, and makes the exit code 1.
import { expect, it } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import type { JsonObject } from '../../../../src/base/json.ts';
import { playDemo, textPrinter } from '../../../../src/cli/demo/demo.ts';
import { scenes } from '../../../../src/cli/demo/scenes.ts';
import { plain } from '../../../../src/cli/feed-text.ts';
import type { KubeClient } from '../../../../src/kube/http/client.ts';

async function played(answer: () => Promise<JsonObject>): Promise<{ code: number; told: string }> {
  const client: KubeClient = {
    request: answer,
    stream: () => Promise.reject(new Error('nobody streams')),
    close: () => undefined,
  };
  let told = '';
  const code = await playDemo({
    up: { clientFor: () => Promise.resolve(client) },
    subscribe: () => undefined,
    teller: textPrinter((text) => void (told += text), plain),
    pause: () => Promise.resolve(),
  });
  return { code, told };
}

const forbidden = new KubeError({ code: 403, reason: 'Forbidden', retryable: false });

it.each([
  ['everything is refused', 0, () => Promise.reject(forbidden)],
  // What can be seen from an answer alone: bob may write a ConfigMap, and the password can be read.
  ['everything is taken, and nothing is told of it', 2, () => Promise.resolve({})],
] as const)('where %s, %d promises are kept', async (_, kept, answer) => {
  const { code, told } = await played(answer);
  expect(code).toBe(1);
  for (const { story } of scenes) expect(told).toContain(story);
  expect(told.match(/✔/g) ?? []).toHaveLength(kept);
  expect(told.match(/✘ not so:/g)).toHaveLength(scenes.length - kept);
  expect(told).toContain(`\n${kept} of ${scenes.length} scenes came out as told.\n`);
});

it('leaves an error of the program itself to who called it', async () => {
  await expect(played(() => Promise.reject(new TypeError('broken')))).rejects.toThrow('broken');
});
