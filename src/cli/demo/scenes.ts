// The tour: what people do, what Reeve is said to make of it, and how to tell whether it did.
import * as ask from './session.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import { namespaceNameLabel, readyCondition } from '../../api/names.ts';
import type { DemoSession } from './session.ts';
import type { FeedEvent } from '../feed.ts';

export interface Scene {
  /** What somebody does. */
  readonly story: string;
  /** What comes of it. */
  readonly promise: string;
  /** Whether it came out as promised. */
  readonly play: (stage: DemoSession) => Promise<boolean>;
}

const forbidden = 403;

export const scenes: readonly Scene[] = [
  {
    story: 'ann, who writes the policies, creates the namespace tools, of which none of them speaks.',
    promise: 'It is hers as it is: nothing is asked of it, nothing filled in.',
    play: async (stage) => {
      const { code, body } = await stage.ask('ann', ask.createNamespace(ask.otherNamespace, {}));
      const labels = ownMember(body['metadata'], 'labels');
      return code === 200 && isJsonObject(labels) && Object.keys(labels).join() === namespaceNameLabel;
    },
  },
  {
    story: 'bob, of an app team, creates the namespace app-shop and forgets to say whose it is.',
    promise: 'It never comes to be, and bob is told what would be accepted.',
    play: async (stage) => {
      const { code } = await stage.ask('bob', ask.createNamespace(ask.namespace, {}));
      return code === forbidden && (await stage.hears(deniedBy('apps: namespaces.required')));
    },
  },
  {
    story: 'bob says whose it is.',
    promise: 'It is created, and a label that bob did not think of is filled in.',
    play: async (stage) => {
      const { code } = await stage.ask('bob', ask.createNamespace(ask.namespace, { owner: 'bob' }));
      return code === 200 && (await stage.hears(defaulted('labels pod-security.kubernetes.io/enforce')));
    },
  },
  {
    story: 'The policy promises a RoleBinding and a quota, the share a pull secret.',
    promise: 'All are there, and the namespace says that it is ready.',
    play: async (stage) => {
      const objects = [ask.bindingPath, ask.quotaPath, ask.copyPath];
      const areThere = await Promise.all(objects.map((path) => isThere(stage, path)));
      return areThere.every(Boolean) && (await stage.comes(() => isReady(stage)));
    },
  },
  {
    story: 'bob sets to work: he creates a ConfigMap in app-shop.',
    promise: 'He may: the RoleBinding gives his group the ClusterRole edit.',
    play: async (stage) => (await stage.ask('bob', ask.createConfigMap('settings'))).code === 200,
  },
  {
    story:
      'bob would like the password of the database: he sets the label that its share selects namespaces by.',
    promise: 'Refused: whoever steers a namespace under a share needs the right to use it.',
    play: async (stage) => {
      const { code } = await stage.ask('bob', label({ database: 'orders' }));
      const { code: found } = await stage.ask('ann', ask.read(ask.passwordPath));
      return (
        code === forbidden &&
        found === 404 &&
        (await stage.hears(deniedBy('SecretShare/orders-db: steering')))
      );
    },
  },
  {
    story: 'ann, who has that right, sets the label for him.',
    promise: 'The password comes to the namespace.',
    play: async (stage) => {
      const { code } = await stage.ask('ann', label({ database: 'orders' }));
      return code === 200 && (await isThere(stage, ask.passwordPath));
    },
  },
  {
    story: 'bob deletes the pull secret.',
    promise:
      'The API server itself refuses: nobody but Reeve writes what Reeve keeps, also while Reeve is down.',
    play: async (stage) => {
      const { code } = await stage.ask('bob', ask.deleteRequest(ask.copyPath));
      return code === forbidden && (await stage.hears(({ type }) => type === 'refused'));
    },
  },
  {
    story: 'eve breaks the glass, as administrators may in an emergency, and deletes the RoleBinding.',
    promise: 'It goes, and Reeve repairs the damage at once.',
    play: async (stage) => {
      const { code } = await stage.ask('eve', ask.deleteRequest(ask.bindingPath));
      return code === 200 && (await stage.hears(written('create', 'RoleBinding')));
    },
  },
  {
    story: 'ann changes the pull secret at its source.',
    promise: 'Its copies follow.',
    play: async (stage) => {
      const secret = Buffer.from('{"auths":{"registry.example.com":{"auth":"bmV3OnNlY3JldA=="}}}').toString(
        'base64',
      );
      const { code } = await stage.ask(
        'ann',
        ask.patchRequest(ask.sourcePath, { data: { '.dockerconfigjson': secret } }),
      );
      return code === 200 && (await stage.hears(written('update', 'Secret')));
    },
  },
  {
    story: 'ann takes the contents out of the policy.',
    promise: 'She is warned that this deletes something, and it is deleted.',
    play: async (stage) => {
      const { code } = await stage.ask('ann', ask.patchRequest(ask.policyPath, { spec: { contents: null } }));
      const isWarned = await stage.hears(warned(/deletes 2 objects/));
      return code === 200 && isWarned && (await stage.hears(written('delete', 'RoleBinding')));
    },
  },
];

function label(labels: Readonly<Record<string, string>>) {
  return ask.patchRequest(ask.namespacePath, { metadata: { labels } });
}

async function isThere(stage: DemoSession, path: string): Promise<boolean> {
  return await stage.comes(async () => (await stage.ask('ann', ask.read(path))).code === 200);
}

async function isReady(stage: DemoSession): Promise<boolean> {
  const { body } = await stage.ask('bob', ask.read(ask.namespacePath));
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
