// CEL means here what it means in a real API server: the same verdicts, errors, texts and refusals for the same writes.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Bindings } from '../../src/policy/cel/expression.ts';
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
import { judgesOf } from './cel-parity/judge.ts';
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

/** The API server learns of a policy or a webhook a moment after it is stored. */
const patience = { timeout: 60_000, interval: 50 };

describeCluster('CEL parity', () => {
  const cluster = sharedCluster();
  let client: ApiClient;
  let recorder: ReviewRecorder;
  let judges: readonly Judge[] = [];
  const bindings = new Map<Subject, Bindings>();
  /** By expression, and by the name of the subject. */
  const theirs = new Map<string, Record<string, string>>();

  beforeAll(async () => {
    client = await ApiClient.open(cluster);
    judges = await electJudges();
    await Promise.all(judges.map((judge) => dismiss(client, judge)));
    const namespaceObject = await makeExisting(cluster);
    recorder = await ReviewRecorder.start(client);
    for (const judge of judges) await appoint(client, judge);
    for (const subject of subjects) bindings.set(subject, await bindingsOf(subject, namespaceObject));
    await Promise.all(subjects.map((subject) => judgeAll(subject)));
  });

  afterAll(async () => {
    await Promise.all(judges.map((judge) => dismiss(client, judge)));
    await recorder.stop();
    await removeExisting(cluster);
    client.close();
  });

  /** What the API server refuses by mistake of the tables is not in the way of the rest. */
  async function electJudges(): Promise<readonly Judge[]> {
    const refused = await Promise.all([
      refusedThere(client, expressions, 'bool'),
      refusedThere(client, messages, 'string'),
    ]);
    return judgesOf(
      expressions.filter((source) => !refused[0].has(source)),
      messages.filter((source) => !refused[1].has(source)),
    );
  }

  /** As `validations` see it. */
  async function bindingsOf(subject: Subject, namespaceObject: unknown): Promise<Bindings> {
    const review = await vi.waitFor(() => recorder.reviewOf(subject), patience);
    const { object = null, oldObject = null, attributes } = review;
    const isInNamespace = review.resource !== 'namespaces';
    return {
      object,
      oldObject,
      request: attributes,
      namespaceObject: isInNamespace ? namespaceObject : null,
    };
  }

  async function judgeAll(subject: Subject): Promise<void> {
    for (const judge of judges) {
      const answers = await vi.waitFor(() => ask(client, judge, subject), patience);
      for (const [index, question] of judge.questions.entries()) {
        const known = theirs.get(question) ?? {};
        theirs.set(question, { ...known, [subject.name]: answers[index] ?? 'no answer' });
      }
    }
  }

  function ours(source: string, result: ResultType): Record<string, string> {
    return Object.fromEntries(
      [...bindings].map(([subject, values]) => [subject.name, answerHere(source, result, values)]),
    );
  }

  test('verdicts are told apart', () => {
    expect(
      new Set(
        theirs.get('object.metadata.labels.team == "blue"') &&
          Object.values(theirs.get('object.metadata.labels.team == "blue"') ?? {}),
      ),
    ).toEqual(new Set(['true', 'false', 'error']));
  });

  describe.each(topics)('$topic', (topic) => {
    test.each(topic.expressions.map((expression) => ({ expression })))('$expression', ({ expression }) => {
      expect(ours(expression, 'bool')).toEqual(theirs.get(expression));
    });
  });

  describe('messages', () => {
    test.each(messages.map((message) => ({ message })))('$message', ({ message }) => {
      expect(ours(message, 'string')).toEqual(theirs.get(message));
    });
  });

  test.each([
    [
      'expressions',
      'bool',
      [...expressions, ...compile.storedThereOnly],
      [...compile.refusedByBoth, ...compile.storedHereOnly],
    ],
    ['messages', 'string', messages, [...compile.messagesRefusedByBoth]],
  ] as const)('%s that an API server does not store', async (_, result, stored, refused) => {
    expect([...(await refusedThere(client, [...stored, ...refused], result))]).toEqual(refused);
  });

  test.each([
    [
      'expressions',
      'bool',
      [...expressions, ...compile.storedHereOnly],
      [...compile.refusedByBoth, ...compile.storedThereOnly],
    ],
    ['messages', 'string', messages, [...compile.messagesRefusedByBoth]],
  ] as const)('%s that a NamespacePolicy does not load with', (_, result, stored, refused) => {
    expect([...stored, ...refused].filter((source) => !compilesHere(source, result))).toEqual(refused);
  });
});
