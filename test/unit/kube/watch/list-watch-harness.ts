// Shared by the tests of a list-watch: lists, watch lines, a recording sink, and a list-watch in virtual time.
import { expect, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { WatchSink } from '../../../../src/base/watch-sink.ts';
import type { KubeRequest } from '../../../../src/kube/http/client.ts';
import { listWatch } from '../../../../src/kube/watch/list-watch.ts';
import type { WatchHealth } from '../../../../src/kube/watch/list-watch.ts';
import type { WatchTarget } from '../../../../src/kube/watch/watch-target.ts';
import { FakeApiServer, json, silence, stream } from '../../../support/fake-api-server.ts';
import type { Answer, Script } from '../../../support/fake-api-server.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

type ListWatchOptions = Parameters<typeof listWatch>[3];

export function item(name: string, version: number, uid = `uid-of-${name}`): JsonObject {
  return { metadata: { name, uid, resourceVersion: String(version), managedFields: [{ manager: 'x' }] } };
}

export function list(version: number, items: readonly JsonObject[], next?: string): Answer {
  const metadata = { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) };
  return json({ apiVersion: 'v1', kind: 'SecretList', metadata, items });
}

export function line(type: string, object: JsonObject): string {
  return `${JSON.stringify({ type, object })}\n`;
}

export const added = (name: string, version: number, uid?: string): string =>
  line('ADDED', item(name, version, uid));
export const modified = (name: string, version: number): string => line('MODIFIED', item(name, version));
export const deleted = (name: string, version: number, uid?: string): string =>
  line('DELETED', item(name, version, uid));
export const bookmark = (version: number): string =>
  line('BOOKMARK', { kind: 'Secret', metadata: { resourceVersion: String(version) } });
export const errorLine = (code: number, reason: string, details = {}): string =>
  line('ERROR', { kind: 'Status', code, reason, message: 'object secret-value is bad', details });

export const open = stream([]);

function describeObject({ metadata }: KubeObject): string {
  return `${metadata.name ?? '?'}:${String(metadata['resourceVersion'])}`;
}

export class RecordingSink implements WatchSink {
  readonly delivered: string[] = [];

  replaced(objects: readonly KubeObject[], resourceVersion: string, isRestored = false): void {
    const what = isRestored ? 'restored' : 'all';
    this.delivered.push(`${what} at ${resourceVersion}: ${objects.map(describeObject).join(' ')}`.trimEnd());
  }

  changed(object: KubeObject): void {
    this.delivered.push(`+${describeObject(object)}`);
  }

  removed(object: KubeObject): void {
    this.delivered.push(`-${describeObject(object)}`);
  }
}

function describeRequest({ query = {} }: KubeRequest): string {
  const { watch, resourceVersion, limit, continue: next } = query;
  if (watch !== undefined) return `watch ${resourceVersion ?? '?'}`;
  if (limit === '1') return 'version';
  return [
    'list',
    ...(limit === undefined ? ['without limit'] : []),
    ...(next === undefined ? [] : [next]),
  ].join(' ');
}

interface Running {
  readonly time: VirtualClock;
  readonly server: FakeApiServer;
  readonly health: WatchHealth;
  readonly interruptions: string[];
  /** How many times the list-watch has noticed a restore of etcd. */
  readonly restores: () => number;
  readonly asked: () => readonly string[];
}

export function run(
  script: Script,
  sink: WatchSink,
  more: Partial<ListWatchOptions> & { target?: WatchTarget } = {},
): Running {
  const time = new VirtualClock();
  const server = new FakeApiServer(time, script);
  const interruptions: string[] = [];
  const { target = { path: '/api/v1/secrets' }, ...options } = more;
  let restores = 0;
  const health = listWatch(server, target, sink, {
    clock: time,
    onInterruption: ({ phase, error, retryInMs }) =>
      interruptions.push(`${phase} ${error.code} ${error.reason}: ${retryInMs}`),
    onRestored: () => void (restores += 1),
    ...options,
  });
  onTestFinished(() => health.stop());
  return {
    time,
    server,
    health,
    interruptions,
    restores: () => restores,
    asked: () => server.requests.map(describeRequest),
  };
}

/** After the last answer the server never answers. */
export function answers(...scripted: readonly Answer[]): Script {
  return (_, index) => scripted[index] ?? silence;
}

/** The answer to a list-watch that asks for the newest version. */
export const at = (version: number): Answer => list(version, [], 'more');

export const listed = list(10, [item('a', 1)]);

export interface ListWatchCase {
  readonly name: string;
  readonly answers: readonly Answer[];
  readonly asked: readonly string[];
  readonly delivered: readonly string[];
  readonly interruptions: readonly string[];
  /** Default: 0. */
  readonly restores?: number;
}

/** Answers one request after the other, and compares all that the list-watch did. */
export async function expectCase({
  answers: scripted,
  asked,
  delivered,
  interruptions,
  restores = 0,
}: ListWatchCase): Promise<void> {
  const sink = new RecordingSink();
  const running = run(answers(...scripted), sink);
  await running.time.advance(30_000);
  const { interruptions: told } = running;
  expect({
    asked: running.asked(),
    delivered: sink.delivered,
    interruptions: told,
    restores: running.restores(),
  }).toEqual({ asked, delivered, interruptions, restores });
}
