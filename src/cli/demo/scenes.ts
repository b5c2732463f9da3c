// The scenes of the demo: what a person does, how Reeve should react, and the check that Reeve does.
import * as requests from './session.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import { namespaceNameLabel, readyCondition } from '../../schema/names.ts';
import type { DemoSession } from './session.ts';
import type { FeedEvent } from '../feed.ts';

interface Scene {
  /** The action of a person. */
  readonly story: string;
  /** The expected result. */
  readonly promise: string;
  /** Performs the action and returns whether the result is as expected. */
  readonly play: (session: DemoSession) => Promise<boolean>;
}

const forbidden = 403;

export const scenes: readonly Scene[] = [
  {
    story: 'ann writes the policies. She creates the namespace tools, which no policy matches.',
    promise: 'The namespace is created unchanged: nothing is required, and no default is set.',
    play: async (session) => {
      const { code, body } = await session.send('ann', requests.createNamespace(requests.otherNamespace, {}));
      const labels = ownMember(body['metadata'], 'labels');
      return code === 200 && isJsonObject(labels) && Object.keys(labels).join() === namespaceNameLabel;
    },
  },
  {
    story: 'bob works in an app team. He creates the namespace app-shop and forgets the label owner.',
    promise: 'The request is refused, and the message says which label is required.',
    play: async (session) => {
      const { code } = await session.send('bob', requests.createNamespace(requests.namespace, {}));
      return code === forbidden && (await session.hasEvent(deniedBy('apps: namespaces.required')));
    },
  },
  {
    story: 'bob adds the label owner and tries again.',
    promise: 'The namespace is created, and a missing label gets its default.',
    play: async (session) => {
      const { code } = await session.send(
        'bob',
        requests.createNamespace(requests.namespace, { owner: 'bob' }),
      );
      return code === 200 && (await session.hasEvent(defaulted('labels pod-security.kubernetes.io/enforce')));
    },
  },
  {
    story: 'The policy provides a RoleBinding and a ResourceQuota, and the share provides a pull secret.',
    promise: 'All three are created, and the namespace reports the condition Ready.',
    play: async (session) => {
      const objects = [requests.bindingPath, requests.quotaPath, requests.copyPath];
      const areThere = await Promise.all(objects.map((path) => isThere(session, path)));
      return areThere.every(Boolean) && (await session.eventually(() => isReady(session)));
    },
  },
  {
    story: 'bob starts to work: he creates a ConfigMap in app-shop.',
    promise: 'It is allowed: the RoleBinding gives his group the ClusterRole edit.',
    play: async (session) => (await session.send('bob', requests.createConfigMap('settings'))).code === 200,
  },
  {
    story: 'bob wants the password of the database: he sets the label that its share selects.',
    promise: 'It is refused: to bring a namespace under a share, a user needs the right to use that share.',
    play: async (session) => {
      const { code } = await session.send('bob', label({ database: 'orders' }));
      const { code: found } = await session.send('ann', requests.read(requests.passwordPath));
      return (
        code === forbidden &&
        found === 404 &&
        (await session.hasEvent(deniedBy('SecretShare/orders-db: steering')))
      );
    },
  },
  {
    story: 'ann has that right and sets the label for him.',
    promise: 'The Secret with the password is copied into the namespace.',
    play: async (session) => {
      const { code } = await session.send('ann', label({ database: 'orders' }));
      return code === 200 && (await isThere(session, requests.passwordPath));
    },
  },
  {
    story: 'bob deletes the pull secret.',
    promise:
      'The API server itself refuses: only Reeve may write the objects of Reeve, even while Reeve is down.',
    play: async (session) => {
      const { code } = await session.send('bob', requests.deleteRequest(requests.copyPath));
      return code === forbidden && (await session.hasEvent(({ type }) => type === 'refused'));
    },
  },
  {
    story:
      'eve is an administrator in an emergency, in the group reeve:break-glass. She deletes the RoleBinding.',
    promise: 'The RoleBinding is deleted, and Reeve creates it again at once.',
    play: async (session) => {
      const { code } = await session.send('eve', requests.deleteRequest(requests.bindingPath));
      return code === 200 && (await session.hasEvent(written('create', 'RoleBinding')));
    },
  },
  {
    story: 'ann changes the pull secret at its source.',
    promise: 'Reeve updates the copies.',
    play: async (session) => {
      const secret = Buffer.from('{"auths":{"registry.example.com":{"auth":"bmV3OnNlY3JldA=="}}}').toString(
        'base64',
      );
      const { code } = await session.send(
        'ann',
        requests.patchRequest(requests.sourcePath, { data: { '.dockerconfigjson': secret } }),
      );
      return code === 200 && (await session.hasEvent(written('update', 'Secret')));
    },
  },
  {
    story: 'ann removes the contents from the policy.',
    promise: 'She is warned that this deletes 2 objects, and Reeve deletes them.',
    play: async (session) => {
      const { code } = await session.send(
        'ann',
        requests.patchRequest(requests.policyPath, { spec: { contents: null } }),
      );
      const isWarned = await session.hasEvent(warned(/deletes (?:up to )?2 objects/));
      return code === 200 && isWarned && (await session.hasEvent(written('delete', 'RoleBinding')));
    },
  },
];

function label(labels: Readonly<Record<string, string>>) {
  return requests.patchRequest(requests.namespacePath, { metadata: { labels } });
}

async function isThere(session: DemoSession, path: string): Promise<boolean> {
  return await session.eventually(async () => (await session.send('ann', requests.read(path))).code === 200);
}

async function isReady(session: DemoSession): Promise<boolean> {
  const { body } = await session.send('bob', requests.read(requests.namespacePath));
  const conditions = ownMember(body['status'], 'conditions');
  return (
    Array.isArray(conditions) &&
    conditions.some(
      (each) => ownMember(each, 'type') === readyCondition && ownMember(each, 'status') === 'True',
    )
  );
}

type Test = (event: FeedEvent) => boolean;

function deniedBy(rule: string): Test {
  return (event) => event.type === 'decision' && event.decision === 'denied' && event.rules.includes(rule);
}

function defaulted(path: string): Test {
  return (event) => event.type === 'decision' && event.additions.some((addition) => addition.path === path);
}

function warned(pattern: RegExp): Test {
  return (event) => event.type === 'decision' && event.warnings.some((warning) => pattern.test(warning));
}

function written(verb: string, kind: string): Test {
  return (event) => event.type === 'written' && event.verb === verb && event.kind === kind;
}
