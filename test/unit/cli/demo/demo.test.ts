// The demo is honest: a scene that did not go as described is printed as failed, and the exit code is 1.
import { expect, it } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import type { JsonObject } from '../../../../src/base/json.ts';
import { playDemo, textPrinter } from '../../../../src/cli/demo/demo.ts';
import { scenes } from '../../../../src/cli/demo/scenes.ts';
import { plain } from '../../../../src/cli/feed.ts';
import type { KubeClient } from '../../../../src/kube/http/client.ts';

async function played(
  answer: () => Promise<JsonObject>,
): Promise<{ code: number; told: string; waits: number }> {
  const client: KubeClient = {
    request: answer,
    stream: () => Promise.reject(new Error('not streamed')),
    close: () => undefined,
  };
  let told = '';
  let waits = 0;
  const code = await playDemo({
    cluster: { clientFor: () => Promise.resolve(client) },
    subscribe: () => undefined,
    printer: textPrinter((text) => void (told += text), plain),
    retryDelay: () => Promise.resolve(),
    betweenScenes: () => Promise.resolve(void (waits += 1)),
  });
  return { code, told, waits };
}

const forbidden = new KubeError({ code: 403, reason: 'Forbidden', retryable: false });

it.each([
  ['all requests are refused', 0, () => Promise.reject(forbidden)],
  // Two scenes look at answers only: bob may create a ConfigMap, and the password can be read.
  ['all requests succeed without an event', 2, () => Promise.resolve({})],
] as const)('where %s, %d scenes go as described', async (_, kept, answer) => {
  const { code, told, waits } = await played(answer);
  expect(code).toBe(1);
  expect(waits).toBe(scenes.length - 1);
  for (const { story } of scenes) expect(told).toContain(story);
  expect(told.match(/✔/g) ?? []).toHaveLength(kept);
  expect(told.match(/✘ failed:/g)).toHaveLength(scenes.length - kept);
  expect(told).toContain(`\n${kept} of ${scenes.length} scenes went as described.\n`);
});

it('an error of the program itself reaches the caller', async () => {
  await expect(played(() => Promise.reject(new TypeError('broken')))).rejects.toThrow('broken');
});
