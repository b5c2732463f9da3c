// What `reeve check` says of the certificates and watches that the Pods of Reeve report, and of Pods it cannot read.
import { describe, expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import { metricsSeen, podsSeen } from '../../../src/check/pods.ts';
import { clientOfPods, metricsText, podObject } from '../../support/reeve-pod-metrics.ts';

const now = new Date('2026-11-23T12:00:00Z');
const hour = 3600;
const certificate = (secondsLeft: number): string =>
  metricsText('reeve_certificate_expiry_timestamp_seconds', 'certificate', {
    serving: now.getTime() / 1000 + secondsLeft,
  });
const watch = (path: string, seconds: number): string =>
  metricsText('reeve_watch_silence_seconds', 'path', { [path]: seconds });
const heard = watch('/api/v1/namespaces', 1.4);

describe('a Pod that answers reviews', () => {
  const pod = { name: 'w', answersReviews: true };

  test('a Pod that answers reviews has no problem while its certificate is valid for 24 hours and its watches were heard within 180 s', () => {
    const metrics = certificate(24 * hour) + heard + watch('/apis/reeve.dev/v1alpha1/secretshares', 180);
    expect(metricsSeen(pod, metrics, now)).toEqual({
      problems: [],
      unseen: [],
      details: [
        'Pod w: serving certificate until 2026-11-24T12:00:00.000Z',
        'Pod w: its watches were silent for at most 180 s',
      ],
    });
  });

  test.each([
    [24 * hour - 1, 'ends in less than 24 hours, at 2026-11-24T11:59:59.000Z'],
    [-1, 'ended, at 2026-11-23T11:59:59.000Z'],
  ])('a Pod that answers reviews has a problem if its certificate is valid for %d s', (seconds, when) => {
    expect(metricsSeen(pod, certificate(seconds) + heard, now).problems).toEqual([
      `the serving certificate of Pod w ${when}: see runbook ReeveCertificateExpires`,
    ]);
  });

  test('a Pod that answers reviews has not been seen if it reports no serving certificate, or no watch', () => {
    const unseen = ['Pod w does not report all of its certificates and watches'];
    expect(metricsSeen(pod, heard, now)).toMatchObject({ problems: [], unseen });
    expect(metricsSeen(pod, certificate(48 * hour), now)).toMatchObject({ problems: [], unseen });
    expect(metricsSeen(pod, certificate(48 * hour).replaceAll('serving', 'ca') + heard, now).unseen).toEqual(
      unseen,
    );
    expect(metricsSeen({ ...pod, answersReviews: false }, heard, now)).toMatchObject({ unseen: [] });
  });

  test('a Pod that answers reviews has not been seen if its numbers are no times', () => {
    const broken = metricsText('reeve_certificate_expiry_timestamp_seconds', 'certificate', {
      serving: 1e300,
    });
    expect(metricsSeen(pod, broken + watch('/api/v1/namespaces', NaN), now)).toMatchObject({
      unseen: ['Pod w does not report all of its certificates and watches'],
      details: [],
    });
  });
});

test.each([
  ['/api/v1/namespaces', 'namespaces'],
  ['/apis/reeve.dev/v1alpha1/secretshares', 'secretshares.reeve.dev'],
  ['/api/v1/namespaces/reeve-shared/secrets', 'secrets in namespace reeve-shared'],
])(
  'a watch of %s that is silent for more than 180 s is a problem with the Pod and the kind',
  (path, kinds) => {
    expect(metricsSeen({ name: 'r', answersReviews: false }, watch(path, 181), now).problems).toEqual([
      `the watch of ${kinds} in Pod r has received nothing for 181 s, so the Pod may use old objects: see runbook ReeveWatchSilent`,
    ]);
  },
);

describe('the Pods', () => {
  const place = { namespace: 'reeve-system', now };
  const proxyOf = (name: string): string =>
    `/api/v1/namespaces/reeve-system/pods/${name}%3A8081/proxy/metrics`;

  test('the Pods are read at the port of their probes, through the API server', async () => {
    const pods = [podObject('w', ['webhook', 'probes']), podObject('r', ['probes'])];
    const answers = new Map([
      [proxyOf('w'), certificate(48 * hour) + heard],
      [proxyOf('r'), heard],
    ]);
    const { problems, unseen, details } = await podsSeen(clientOfPods(pods, answers), place);
    expect({ problems, unseen }).toEqual({ problems: [], unseen: [] });
    expect(details).toEqual([
      'Pod w: serving certificate until 2026-11-25T12:00:00.000Z',
      'Pod w: its watches were silent for at most 1 s',
      'Pod r: its watches were silent for at most 1 s',
    ]);
  });

  test('the Pods that have ended, are being deleted or belong to a hook are left out, and none is no success', async () => {
    const deleted = podObject('d', ['probes']);
    const left = [
      podObject('failed', ['probes'], 'Failed'),
      podObject('hook', []),
      { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: '2026-11-23T12:00:00Z' } },
    ];
    expect(await podsSeen(clientOfPods(left, new Map()), place)).toEqual({
      unseen: ['no Pod of Reeve runs in namespace reeve-system, so nothing reports certificates and watches'],
    });
  });

  test('the Pods that do not run or cannot be reached are unseen, and the others are still judged', async () => {
    const pods = [
      podObject('gone', ['probes']),
      podObject('new', ['probes'], 'Pending'),
      podObject('r', ['probes']),
    ];
    const answers = new Map([[proxyOf('r'), watch('/api/v1/namespaces', 200)]]);
    expect(await podsSeen(clientOfPods(pods, answers), place)).toMatchObject({
      problems: [expect.stringContaining('the watch of namespaces in Pod r')],
      unseen: [
        'the metrics of Pod gone: the API server answered 503 (ServiceUnavailable)',
        'the metrics of Pod new, which is Pending',
      ],
    });
  });

  test('the Pods that this account may not read are no finding of a Pod', async () => {
    const refusal = { by: 'rights', name: 'get pods/proxy' } as const;
    const error = new KubeError({ code: 403, reason: 'Forbidden', retryable: false, refusal });
    const client = clientOfPods([podObject('r', ['probes'])], new Map([[proxyOf('r'), error]]));
    await expect(podsSeen(client, place)).rejects.toBe(error);
  });

  test('the Pods whose metrics are too long are unseen', async () => {
    const client = clientOfPods(
      [podObject('r', ['probes'])],
      new Map([[proxyOf('r'), 'x'.repeat(16 * 1024 * 1024 + 1)]]),
    );
    expect(await podsSeen(client, place)).toMatchObject({
      unseen: ['the metrics of Pod r: the API server answered 200 (AnswerTooLong)'],
    });
  });
});
