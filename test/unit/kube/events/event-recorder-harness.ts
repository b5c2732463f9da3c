// Runs an event recorder on a fake API server and a virtual clock, with sample events.
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { RecordedEvent } from '../../../../src/base/recorded-event.ts';
import { KubeEventRecorder } from '../../../../src/kube/events/event-recorder.ts';
import { FakeApiServer, json, type Script } from '../../../support/fake-api-server.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

export const share = { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecretShare', name: 'regcred', uid: 'u1' };
export const secret = { apiVersion: 'v1', kind: 'Secret', name: 'regcred', namespace: 'team-a', uid: 'u2' };
export const restored: RecordedEvent = {
  regarding: secret,
  related: share,
  type: 'Normal',
  reason: 'Restored',
  action: 'Restore',
  note: 'Put back what SecretShare/regcred provides.',
};
export const aboutShare: RecordedEvent = { ...restored, regarding: share };

export function aboutSecret(index: number): RecordedEvent {
  return { ...restored, regarding: { ...secret, uid: `uid-${index}` } };
}

interface Running {
  readonly time: VirtualClock;
  readonly server: FakeApiServer;
  readonly recorder: KubeEventRecorder;
  readonly drops: string[];
}

export function begin(script: Script = () => json({}), isBusy: () => boolean = () => false): Running {
  const time = new VirtualClock({ start: new Date('2030-01-01T00:00:00Z'), chance: 0.5 });
  const server = new FakeApiServer(time, script);
  const drops: string[] = [];
  const recorder = new KubeEventRecorder(server, {
    instance: 'reeve-0',
    clock: time,
    onDrop: (reason) => drops.push(reason),
  });
  recorder.yieldTo({
    get isBusy() {
      return isBusy();
    },
  });
  onTestFinished(() => recorder.flush());
  return { time, server, recorder, drops };
}

export function bodies(server: FakeApiServer): readonly JsonObject[] {
  return server.requests.map(({ body }) => body as JsonObject);
}
