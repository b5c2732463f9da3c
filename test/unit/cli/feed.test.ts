// What the live feed of `reeve up` says of what happens, as text and as JSON.
import { describe, expect, it } from 'vitest';
import type { DecisionRecord } from '../../../src/admission/ports.ts';
import {
  colored,
  feedText,
  jsonFeed,
  plain,
  observerFor,
  decisionEvent,
  type FeedEvent,
} from '../../../src/cli/feed.ts';

const record: DecisionRecord = {
  endpoint: 'validate',
  uid: 'u',
  operation: 'CREATE',
  resource: 'namespaces',
  namespace: 'app-shop',
  name: 'app-shop',
  user: 'bob',
  isDryRun: false,
  decision: 'allowed',
  overBudget: false,
  unjudged: [],
  policies: ['apps'],
  rules: [],
  milliseconds: 1,
  explanation: { refusal: undefined, warnings: [], patch: [] },
};
const time = new Date(2026, 10, 2, 9, 5, 7);

function textOf(parts: Partial<DecisionRecord>): string | undefined {
  const event = decisionEvent({ ...record, ...parts });
  return event && feedText(event, time, plain);
}

describe('a decision', () => {
  it('an allowed request is shown with the user, the verb and the object', () => {
    expect(textOf({})).toBe('09:05:07  allowed    bob: create namespaces app-shop\n');
  });

  it('a dry run is shown as one', () => {
    expect(textOf({ isDryRun: true })).toBe(
      '09:05:07  allowed    bob: create namespaces app-shop (dry run)\n',
    );
  });

  it('a namespaced object is shown with its namespace', () => {
    const parts = { resource: 'secrets', name: 'registry', operation: 'UPDATE' };
    expect(textOf(parts)).toBe('09:05:07  allowed    bob: update secrets app-shop/registry\n');
  });

  it('a refusal is shown with one line for each reason', () => {
    const explanation = {
      refusal: 'Namespace app-shop is refused:\n- one\n- two',
      warnings: ['w'],
      patch: [],
    };
    expect(
      textOf({ decision: 'denied', explanation })
        ?.split('\n')
        .map((line) => line.trim()),
    ).toEqual([
      '09:05:07  refused    bob: create namespaces app-shop',
      'Namespace app-shop is refused:',
      '- one',
      '- two',
      'warning: w',
      '',
    ]);
  });

  it.each([
    ['a key', { op: 'add', path: '/metadata/labels/a.b~1c', value: 'd' } as const, ['labels a.b/c = d']],
    [
      'a whole map',
      { op: 'add', path: '/metadata/annotations', value: { a: 'b', c: 'd' } } as const,
      ['annotations a = b', 'annotations c = d'],
    ],
  ])('a mutation that sets %s lists the additions', (_, operation, lines) => {
    const explanation = { refusal: undefined, warnings: [], patch: [operation] };
    const text = textOf({ endpoint: 'mutate', decision: 'mutated', explanation }) ?? '';
    const [first, ...more] = text.trimEnd().split('\n');
    expect(first).toContain('defaulted');
    expect(more.map((line) => line.trim())).toEqual(lines);
  });

  it.each([
    ['mutated nothing', { endpoint: 'mutate' } as const],
    ['lets a controller work', { user: 'system:serviceaccount:kube-system:namespace-controller' }],
  ])('a decision that %s is not shown', (_, parts) => {
    expect(decisionEvent({ ...record, ...parts })).toBeUndefined();
  });
});

describe('the work of the reconciler', () => {
  const place = {
    namespace: 'app-shop',
    kind: 'Secret',
    name: 'registry',
    owner: 'SecretShare/registry',
  } as const;
  it.each([
    [
      { type: 'written', verb: 'create', ...place } as const,
      'created    Secret app-shop/registry, for SecretShare/registry',
    ],
    [
      { type: 'not-written', reason: 'Forbidden', ...place } as const,
      'failed     Secret app-shop/registry, for SecretShare/registry',
    ],
    [
      { type: 'held', owner: 'NamespacePolicy/apps', count: 30, limit: 20 } as const,
      'held       30 deletions for NamespacePolicy/apps wait: more than 20 want a confirmation',
    ],
    [
      { type: 'repaired', kind: 'ValidatingWebhookConfiguration', found: ['deleted'] } as const,
      'repaired   ValidatingWebhookConfiguration reeve, which others had changed',
    ],
  ] satisfies readonly (readonly [FeedEvent, string])[])('%o', (event, text) => {
    expect(feedText(event, time, plain).split('\n')[0]).toBe(`09:05:07  ${text}`);
  });
});

describe('refusals of the API', () => {
  const request = {
    user: 'ann',
    impersonatedUser: 'bob',
    verb: 'delete',
    path: '/api/v1/namespaces/app-shop/secrets/registry',
    code: 403,
    dryRun: false,
  };
  const heard = (parts: object): readonly FeedEvent[] => {
    const events: FeedEvent[] = [];
    observerFor((event) => events.push(event)).observer?.answered({
      ...request,
      answer: { kind: 'Status', message: 'not this one' },
      ...parts,
    });
    return events;
  };

  it('a refusal of the API is shown with the user', () => {
    expect(heard({})).toEqual([{ type: 'refused', user: 'bob', message: 'not this one' }]);
  });

  it('a refusal of another webhook is shown as well', () => {
    const message = 'admission webhook "x.example.com" denied the request: no';
    expect(heard({ answer: { message } })).toEqual([{ type: 'refused', user: 'bob', message }]);
  });

  it.each([
    ['a read', { verb: 'get' }],
    [
      'what the webhook refused, and told itself',
      { answer: { message: 'admission webhook "namespaces.validate.reeve.dev" denied the request: no' } },
    ],
    ['what a controller may not', { impersonatedUser: undefined, user: 'system:serviceaccount:a:b' }],
    ['another failure', { code: 404 }],
  ])('an answer is not shown for %s', (_, parts) => {
    expect(heard(parts)).toEqual([]);
  });
});

it('a name cannot add lines or move the cursor', () => {
  const event: FeedEvent = { type: 'refused', user: 'bob\n09:05:07  allowed\u001B[2J', message: 'a\u001B[A' };
  const text = feedText(event, time, plain);
  expect(text.trimEnd().split('\n')).toHaveLength(2);
  expect(text).not.toContain('\u001B');
});

it('a word is colored only if colors are on', () => {
  const event: FeedEvent = { type: 'refused', user: 'bob', message: 'no' };
  expect(feedText(event, time, colored)).toContain('\u001B[31mrefused');
  expect(feedText(event, time, plain)).not.toContain('\u001B');
});

it('JSON output has one line for each event', () => {
  const lines: string[] = [];
  jsonFeed((line) => lines.push(line), { now: () => time })({
    type: 'refused',
    user: 'bob',
    message: 'a\nb',
  });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { time: time.toISOString(), type: 'refused', user: 'bob', message: 'a\nb' },
  ]);
  expect(lines.join('').split('\n')).toHaveLength(2);
});

describe('a text that the runner of a pipeline obeys', () => {
  const reason = '::error file=a,line=1::injected ##[error]\u202Ex';
  const event: FeedEvent = { type: 'refused', user: 'bob', message: reason } as const;

  it('the text feed replaces the characters that make it an order', () => {
    const lines = feedText(event, time, plain).split('\n');
    expect(lines.filter((line) => /^\s*::/.test(line))).toEqual([]);
    expect(lines.join()).not.toMatch(/##\[|\u202E/);
  });

  it('a reader of the JSON feed gets the same text', () => {
    let printed = '';
    jsonFeed((text) => void (printed += text), { now: () => time })(event);
    expect(printed).not.toMatch(/##\[|\u202E/);
    expect(JSON.parse(printed)).toMatchObject({ message: reason });
  });
});
