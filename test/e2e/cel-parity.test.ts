// CEL has the same meaning here and in a real API server: equal verdicts, errors, texts and refusals for equal writes.
import { removeWebhooks } from '../cluster/reeve-install.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Bindings } from '../../src/cel/expression.ts';
import type { AnyReview } from '../../src/policy/terms/review.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { ApiClient } from './cel-parity/api-client.ts';
import { collections } from './cel-parity/cases/collections.ts';
import * as compile from './cel-parity/cases/compile.ts';
import { libraries, times } from './cel-parity/cases/libraries.ts';
import { logic, numbers } from './cel-parity/cases/logic.ts';
import { messages } from './cel-parity/cases/messages.ts';
import { presence } from './cel-parity/cases/presence.ts';
import { request } from './cel-parity/cases/request.ts';
import { regularExpressions, strings } from './cel-parity/cases/texts.ts';
import { makeExisting, removeExisting } from './cel-parity/existing-namespace.ts';
import { judgesOf, quotedSource } from './cel-parity/judge.ts';
import type { Judge } from './cel-parity/judge.ts';
import { appoint, ask, dismiss, refusedThere } from './cel-parity/kubernetes.ts';
import { answerHere, compilesHere } from './cel-parity/reeve.ts';
import type { ResultType } from './cel-parity/reeve.ts';
import { ReviewRecorder } from './cel-parity/review-recorder.ts';
import { subjects } from './cel-parity/subjects.ts';
import type { Subject } from './cel-parity/subject.ts';

const topics = [
  presence,
  logic,
  numbers,
  strings,
  regularExpressions,
  collections,
  libraries,
  times,
  request,
];
const expressions = topics.flatMap((topic) => topic.expressions);

/** The API server notices a policy or a webhook a moment after it is stored. */
const patience = { timeout: 60_000, interval: 50 };

describeCluster('CEL parity', () => {
  let client: ApiClient;
  let recorder: ReviewRecorder | undefined;
  let judges: readonly Judge[] = [];
  const bindings = new Map<Subject, Bindings>();
  /** The verdicts of Kubernetes by expression, then by the name of the subject. */
  const theirs = new Map<string, Record<string, string>>();

  beforeAll(async () => {
    await removeWebhooks(sharedCluster());
    client = await ApiClient.open(sharedCluster());
    judges = await electJudges();
    await Promise.all(judges.map((judge) => dismiss(client, judge)));
    const namespaceObject = await makeExisting(sharedCluster());
    const recording = await ReviewRecorder.start(client);
    recorder = recording;
    for (const judge of judges) await appoint(client, judge);
    for (const subject of subjects) {
      const review = await vi.waitUntil(() => recording.reviewOf(subject), patience);
      bindings.set(subject, bindingsOf(review, namespaceObject));
    }
    await Promise.all(subjects.map((subject) => judgeAll(subject)));
  });

  afterAll(async () => {
    await Promise.all(judges.map((judge) => dismiss(client, judge)));
    await recorder?.stop();
    await removeExisting(sharedCluster());
    client.close();
  });

  /** An expression that the API server refuses against the tables must not stop the other expressions. */
  async function electJudges(): Promise<readonly Judge[]> {
    const [refused, refusedMessages] = await Promise.all([
      refusedThere(client, expressions, 'bool'),
      refusedThere(client, messages, 'string'),
    ]);
    return judgesOf(
      expressions.filter((source) => !refused.has(source)),
      messages.filter((source) => !refusedMessages.has(source)),
    );
  }

  async function judgeAll(subject: Subject): Promise<void> {
    for (const judge of judges) {
      const answers = await vi.waitUntil(() => ask(client, judge, subject), patience);
      for (const [question, answer] of answers) {
        theirs.set(question, { ...theirs.get(question), [subject.name]: answer });
      }
    }
  }

  function ours(source: string, result: ResultType): Record<string, string> {
    const answers = [...bindings].map(([subject, values]) => [
      subject.name,
      answerHere(source, result, values),
    ]);
    return Object.fromEntries(answers) as Record<string, string>;
  }

  test('an answer is true, false or an error', () => {
    const answers = [...theirs.values()].flatMap((bySubject) => Object.values(bySubject));
    for (const answer of ['true', 'false', 'error']) expect(answers).toContain(answer);
  });

  describe.each(topics)('$topic', (topic) => {
    test.each(topic.expressions)('%s', (expression) => {
      expect(ours(expression, 'bool')).toEqual(theirs.get(expression));
    });
  });

  describe('messages', () => {
    test.each(messages)('%s', (message) => {
      expect(ours(quotedSource(message), 'string')).toEqual(theirs.get(message));
    });
  });

  const { refusedByBoth, storedHereOnly, storedThereOnly, messagesRefusedByBoth } = compile;
  const messagesRefused = { result: 'string', stored: messages, refused: messagesRefusedByBoth } as const;

  test.each([
    {
      result: 'bool',
      stored: [...expressions, ...storedThereOnly],
      refused: [...refusedByBoth, ...storedHereOnly],
    },
    messagesRefused,
  ] as const)('an API server refuses what is none that gives a $result', async (sources) => {
    const { result, stored, refused } = sources;
    expect([...(await refusedThere(client, [...stored, ...refused], result))]).toEqual(refused);
  });

  test.each([
    {
      result: 'bool',
      stored: [...expressions, ...storedHereOnly],
      refused: [...refusedByBoth, ...storedThereOnly],
    },
    messagesRefused,
  ] as const)('we refuse what is none that gives a $result', ({ result, stored, refused }) => {
    expect([...stored, ...refused].filter((source) => !compilesHere(source, result))).toEqual(refused);
  });
});

/** Returns the variables of `validations`. `match` and `contents` see only the namespace. */
function bindingsOf(review: AnyReview, namespace: unknown): Bindings {
  const { object = null, oldObject = null, attributes, resource } = review;
  const namespaceObject = resource === 'namespaces' ? null : namespace;
  return { object, oldObject, request: attributes, namespaceObject };
}
