// The deletion of webhook configurations: each is emptied first, so that a kept one calls no webhook.
import { expect, it } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { ObjectRef } from '../../../src/base/metadata.ts';
import type { ObjectWriter } from '../../../src/base/object-writer.ts';
import { removeHooks } from '../../../src/uninstall/steps.ts';

const ref: ObjectRef = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  name: 'reeve',
};
const name = 'ValidatingWebhookConfiguration reeve';

interface Case {
  readonly isThere?: boolean;
  readonly isHeld?: boolean;
  /** What a patch is answered with. */
  readonly code?: number;
  readonly calls: readonly string[];
  readonly said: readonly string[];
  readonly problems: readonly unknown[];
}

it.each<readonly [string, Case]>([
  [
    'a configuration is emptied and deleted',
    {
      calls: ['patch {"webhooks":[]}', 'remove'],
      said: [`emptied ${name}`, `deleted ${name}`],
      problems: [],
    },
  ],
  [
    'a configuration that a finalizer keeps is emptied, and reported',
    {
      isHeld: true,
      calls: ['patch {"webhooks":[]}', 'remove'],
      said: [`emptied ${name}`],
      problems: [`${name} is still being deleted`],
    },
  ],
  [
    'a missing configuration is no problem',
    { isThere: false, calls: ['patch {"webhooks":[]}'], said: [], problems: [] },
  ],
  [
    'a configuration that may not be changed is deleted all the same',
    { code: 403, calls: ['patch {"webhooks":[]}', 'remove'], said: [`deleted ${name}`], problems: [] },
  ],
  [
    'a configuration that may not be changed, and that a finalizer keeps, is reported',
    {
      code: 403,
      isHeld: true,
      calls: ['patch {"webhooks":[]}', 'remove'],
      said: [],
      problems: [expect.stringContaining(`${name} was not emptied: `), `${name} is still being deleted`],
    },
  ],
])('%s', async (_, { isThere = true, isHeld = false, code = 200, ...expected }) => {
  const [calls, said]: [string[], string[]] = [[], []];
  let object = isThere ? { metadata: { name: 'reeve', uid: '1' } } : undefined;
  const writer: Pick<ObjectWriter, 'read' | 'mergePatch' | 'remove'> = {
    read: () => Promise.resolve(object),
    mergePatch: (_ref, patch) => {
      calls.push(`patch ${JSON.stringify(patch)}`);
      const refusal = object === undefined ? 404 : code;
      return refusal === 200
        ? Promise.resolve({ metadata: {} })
        : Promise.reject(new KubeError({ code: refusal, reason: 'Stub', retryable: false }));
    },
    remove: () => {
      calls.push('remove');
      if (!isHeld) object = undefined;
      return Promise.resolve();
    },
  };
  const say = (line: string): void => void said.push(line);
  const problems = await removeHooks([ref], { writer: writer as ObjectWriter, say, patienceMs: 0 });
  expect({ calls, said, problems }).toEqual(expected);
});
