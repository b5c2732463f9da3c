// Reads through the API server what the Pods of Reeve report about their certificates and watches, and judges the reports.
import { partOfLabel, partOfReeve } from '../schema/names.ts';
import { ownMember } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import { type KubeObject, nameOf } from '../base/metadata.ts';
import type { ResourceAttributes } from '../kube/access-review.ts';
import { kubeErrorOf } from '../kube/http/answers.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import { inParallel, listObjects } from '../uninstall/removal.ts';
import { listOf, type Seen } from './findings.ts';

export function rightsToSeePods(namespace: string): readonly ResourceAttributes[] {
  const pods = { group: '', resource: 'pods', namespace };
  return [
    { ...pods, verb: 'list' },
    { ...pods, verb: 'get', subresource: 'proxy' },
  ];
}

interface PodPlace {
  readonly namespace: string;
  readonly now: Date;
}

/** Rejects with a KubeError if this account may not look. */
export async function podsSeen(client: KubeClient, { namespace, now }: PodPlace): Promise<Seen> {
  const path = resourcePath({ apiVersion: 'v1', plural: 'pods', namespace });
  const labelSelector = `${partOfLabel}=${partOfReeve}`;
  const pods = (await listObjects(client, { path, labelSelector })).flatMap(podIn);
  if (pods.length === 0)
    return {
      unseen: [`no Pod of Reeve runs in namespace ${namespace}, so nothing reports certificates and watches`],
    };
  const seen = await inParallel(pods, atOnce, async (pod): Promise<Seen> => {
    if (pod.phase !== 'Running') return { unseen: [`the metrics of Pod ${pod.name}, which is ${pod.phase}`] };
    try {
      return metricsSeen(pod, await metricsOf(client, namespace, pod), now);
    } catch (error) {
      if (!(error instanceof KubeError) || error.refusal?.by === 'rights') throw error;
      // A firewall between the API server and its nodes is no problem of Reeve, whose probes come from the node.
      return { unseen: [`the metrics of Pod ${pod.name}: ${error.message}`] };
    }
  });
  return {
    problems: seen.flatMap(({ problems = [] }) => problems),
    unseen: seen.flatMap(({ unseen = [] }) => unseen),
    details: seen.flatMap(({ details = [] }) => details),
  };
}

interface ReevePod {
  readonly name: string;
  readonly phase: string;
  readonly port: number;
  /** True if the Pod needs a serving certificate. */
  readonly answersReviews: boolean;
}

/** Returns nothing for the Pod of a hook, and for one that has ended or is being deleted. */
function podIn({ metadata, spec, status }: KubeObject): readonly ReevePod[] {
  const phase = String(ownMember(status, 'phase'));
  if (phase === 'Succeeded' || phase === 'Failed' || metadata.deletionTimestamp !== undefined) return [];
  const ports = listOf(ownMember(spec, 'containers')).flatMap((each) => listOf(ownMember(each, 'ports')));
  const portOf = (name: string): unknown =>
    ownMember(
      ports.find((port) => ownMember(port, 'name') === name),
      'containerPort',
    );
  const port = portOf('probes');
  const answersReviews = portOf('webhook') !== undefined;
  return typeof port === 'number' ? [{ name: nameOf({ metadata }), phase, port, answersReviews }] : [];
}

const timeoutMs = 10_000;
const maxBytes = 16 * 1024 * 1024;
const atOnce = 4;

/** https://kubernetes.io/docs/tasks/access-application-cluster/access-cluster-services/#discovering-builtin-services */
async function metricsOf(client: KubeClient, namespace: string, { name, port }: ReevePod): Promise<string> {
  const place = { apiVersion: 'v1', plural: 'pods', namespace, name: `${name}:${port}` };
  const path = `${resourcePath({ ...place, subresource: 'proxy' })}/metrics`;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const answer = await client.stream({ method: 'GET', path, signal: AbortSignal.timeout(timeoutMs) });
    for await (const chunk of answer) {
      length += chunk.length;
      if (length > maxBytes) throw new KubeError({ code: 200, reason: 'AnswerTooLong', retryable: false });
      chunks.push(chunk);
    }
  } catch (error) {
    throw kubeErrorOf(error);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const dayMs = 86_400_000;
/** As in the alert ReeveWatchSilent: the API server sends something about every minute. */
const maxSilenceSeconds = 180;

export function metricsSeen(
  { name, answersReviews }: Pick<ReevePod, 'name' | 'answersReviews'>,
  metrics: string,
  now: Date,
): Seen {
  const certificates = samplesIn(metrics, 'reeve_certificate_expiry_timestamp_seconds').map(
    ([certificate, seconds]) => ({ certificate, until: new Date(seconds * 1000) }),
  );
  const watches = samplesIn(metrics, 'reeve_watch_silence_seconds');
  const isComplete =
    watches.length > 0 && (!answersReviews || certificates.some((each) => each.certificate === 'serving'));
  const longest = Math.max(...watches.map(([, seconds]) => seconds));
  return {
    problems: [
      ...certificates.flatMap(({ certificate, until }) => {
        const leftMs = until.getTime() - now.getTime();
        if (leftMs >= dayMs) return [];
        const when = `${leftMs < 0 ? 'ended' : 'ends in less than 24 hours'}, at ${until.toISOString()}`;
        return [`the ${certificate} certificate of Pod ${name} ${when}: see runbook ReeveCertificateExpires`];
      }),
      ...watches.flatMap(([path, seconds]) => {
        if (seconds <= maxSilenceSeconds) return [];
        const silence = `has received nothing for ${Math.round(seconds)} s, so the Pod may use old objects`;
        return [`the watch of ${kindsAt(path)} in Pod ${name} ${silence}: see runbook ReeveWatchSilent`];
      }),
    ],
    unseen: isComplete ? [] : [`Pod ${name} does not report all of its certificates and watches`],
    details: [
      ...certificates.map(
        ({ certificate, until }) => `Pod ${name}: ${certificate} certificate until ${until.toISOString()}`,
      ),
      ...(watches.length === 0
        ? []
        : [`Pod ${name}: its watches were silent for at most ${Math.round(longest)} s`]),
    ],
  };
}

/** https://tc39.es/ecma262/#sec-time-values-and-time-range */
const maxDateSeconds = 8.64e12;

/** Returns the value of the only label and the number of each sample, such as `name{path="/api/v1/namespaces"} 31.5`. */
function samplesIn(metrics: string, name: string): readonly (readonly [label: string, value: number])[] {
  const found = metrics.matchAll(new RegExp(`^${name}\\{\\w+="([\\w/.-]+)"\\} (\\S+)`, 'gm'));
  return [...found]
    .map(([, label = '', value]) => [label, Number(value)] as const)
    .filter(([, value]) => Math.abs(value) <= maxDateSeconds);
}

/** Returns `secretshares.reeve.dev`, or `secrets in namespace reeve-shared`, for the path of a watch. */
function kindsAt(path: string): string {
  const [, group, namespace, plural] =
    /^\/(?:api|apis\/([^/]+))\/[^/]+\/(?:namespaces\/([^/]+)\/)?([^/]+)$/.exec(path) ?? [];
  if (plural === undefined) return path;
  const kinds = group === undefined ? plural : `${plural}.${group}`;
  return namespace === undefined ? kinds : `${kinds} in namespace ${namespace}`;
}
