// Tests the watch of the shared Secret.
import { expect, test } from 'vitest';
import { secretWatch } from '../../../src/app/webhook-role.ts';
import type { WatchSink } from '../../../src/base/watch-sink.ts';
import type { WatchTarget } from '../../../src/kube/watch/watch-target.ts';

test('the watch covers one Secret by name, without its payload, and the program is ready without it', () => {
  const started: { readonly target: WatchTarget; readonly sink: WatchSink; readonly isOptional?: boolean }[] =
    [];
  const start = (target: WatchTarget, sink: WatchSink, isOptional?: boolean) => {
    started.push({ target, sink, isOptional: isOptional ?? false });
    return undefined as never;
  };
  let changes = 0;
  secretWatch({ start })('reeve-system', 'reeve-webhook-ca', () => (changes += 1));
  expect(started.map(({ target, isOptional }) => [target, isOptional])).toEqual([
    [
      {
        path: '/api/v1/namespaces/reeve-system/secrets',
        fieldSelector: 'metadata.name=reeve-webhook-ca',
        metadataOnly: true,
      },
      true,
    ],
  ]);
  started[0]?.sink.replaced([], '1');
  started[0]?.sink.changed({ metadata: {} });
  started[0]?.sink.removed({ metadata: {} });
  expect(changes).toBe(3);
});
