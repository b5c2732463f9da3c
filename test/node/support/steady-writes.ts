// A constant load on Reeve in Pods: five namespaces a second. The policy must refuse every second namespace.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import type { NodeRig } from '../../cluster/node/rig.ts';
import { PacedWrites } from '../../e2e/support/paced-writes.ts';
import { ApiCalls, type CallAnswer, type Person } from '../../soak/api-calls.ts';
import { kubectl, mustKubectl } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';

const perSecond = 5;

/** A member of the teams that the first steps of the README let create namespaces. */
export const ann: Person = { user: 'ann', groups: ['system:authenticated', 'app-teams'] };

const filledIn = 'created and filled in';
const refused = 'refused by the policy';
const [notFilledIn, notRefused] = ['created, not filled in', 'created against the policy'];

/** The two outcomes of a cluster without Reeve. */
export const notJudged = [notFilledIn, notRefused] as const;

interface Namespace {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export interface LoadResult {
  readonly writes: number;
  /** The writes with neither of the two right answers, and how many there were of each kind. */
  readonly failures: Readonly<Record<string, number>>;
  readonly failed: number;
}

/** Applies the policies that the load needs, and waits until a webhook enforces them. */
export async function applyFirstSteps(cluster: ClusterAccess): Promise<void> {
  await mustKubectl(['apply', '-f', 'manifests/samples/first-steps'], cluster);
  const probe = ['create', 'namespace', 'app-probe', '--dry-run=server'];
  let last = '';
  await until(
    async () => {
      last = (await kubectl(probe, cluster)).stderr;
      return last.includes('policy apps');
    },
    () => `the policy is in force: ${last}`,
  );
}

/**
 * Writes before, during and after the event. Afterwards every namespace that was created gets its contents, so the
 * reconciler has lost none.
 */
export async function underLoad(rig: NodeRig, event: () => Promise<void>): Promise<LoadResult> {
  return await steadyWrites(rig, event, allProvided);
}

/** Writes before, during and after the event. `check` sees the namespaces that were created. */
export async function steadyWrites(
  { cluster }: NodeRig,
  event: () => Promise<void>,
  check: (calls: ApiCalls, prefix: string) => Promise<void> = () => Promise.resolve(),
): Promise<LoadResult> {
  const calls = await ApiCalls.of(cluster);
  const prefix = `app-load-${Date.now().toString(36)}-`;
  const writes = new PacedWrites({
    perSecond,
    atOnce: 1,
    write: async (turn) => await createNamespace(calls, `${prefix}${turn}`, turn % 2 === 1),
    outcome: outcomeOf,
  });
  try {
    await writes.answered(2 * perSecond);
    await event();
    await writes.answered(5 * perSecond);
  } finally {
    await writes.stop();
  }
  await check(calls, prefix);
  for (const { metadata } of await namespacesOf(calls, prefix))
    await calls.mustSend({ method: 'DELETE', path: `/api/v1/namespaces/${metadata.name}` });
  calls.close();
  const failures = Object.fromEntries(
    Object.entries(writes.outcomes).filter(([outcome]) => outcome !== filledIn && outcome !== refused),
  );
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  return { writes: writes.sent, failures, failed };
}

export function loadReport({ writes, failures }: LoadResult): string {
  return `${writes} writes, ${JSON.stringify(failures)}`;
}

async function createNamespace(calls: ApiCalls, name: string, isForbidden: boolean): Promise<CallAnswer> {
  const labels = isForbidden ? {} : { owner: 'ann' };
  const body = { metadata: { name, labels } };
  return await calls.send({ method: 'POST', path: '/api/v1/namespaces', as: ann, body });
}

/** A namespace that the mutating webhook did not see lacks the label that the policy adds. */
function outcomeOf({ status, message, body }: CallAnswer): string {
  if (status === 403 && message.includes('policy apps')) return refused;
  if (status !== 201) return `${status} ${message.replaceAll(/app-load-\S+/g, 'NAME')}`;
  const { labels = {} } = (body as Namespace).metadata;
  if (labels['owner'] === undefined) return notRefused;
  return labels['pod-security.kubernetes.io/enforce'] === undefined ? notFilledIn : filledIn;
}

async function namespacesOf(calls: ApiCalls, prefix: string): Promise<readonly Namespace[]> {
  const all = await calls.list<Namespace>('/api/v1/namespaces');
  return all.filter(({ metadata }) => metadata.name.startsWith(prefix));
}

async function allProvided(calls: ApiCalls, prefix: string): Promise<void> {
  let missing: readonly string[] = [];
  const isReady = ({ status }: Namespace): boolean =>
    (status?.conditions ?? []).some((each) => each.type === 'reeve.dev/Ready' && each.status === 'True');
  await until(
    async () => {
      const all = await namespacesOf(calls, prefix);
      missing = all.filter((each) => !isReady(each)).map(({ metadata }) => metadata.name);
      return all.length > 0 && missing.length === 0;
    },
    () => `these namespaces have all that the policy provides: ${missing.join(', ')}`,
  );
}
