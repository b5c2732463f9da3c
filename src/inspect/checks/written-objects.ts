// Judges the Namespaces, Secrets, Roles and RoleBindings of files as the webhooks would when they are applied.
import { judgedResources, type JudgedResource } from '../../admission/decode/decode-target.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { readPath, type Problem } from '../../base/problem.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { withNamespaceDefaults } from '../../policy/decide/mutate.ts';
import { violationLine } from '../../policy/decide/settle.ts';
import { groupOf } from '../../base/object-type.ts';
import type { Violation } from '../../policy/terms/review.ts';
import type { RuleTraits } from '../../rules/rule.ts';
import { rules } from '../../rules/rules.ts';
import { withObjects, type ClusterState } from '../input/cluster-state.ts';
import { kubeObjectsOf } from '../input/file-state.ts';
import { applyTo, loadState, namespaceType } from '../input/loaded-state.ts';
import { administrator, judgeWrite, writtenRequest } from '../input/judged-write.ts';
import type { CheckFinding, UncheckedObjects } from '../output-schemas/check-results.ts';
import type { LocatedObject } from '../../state/yaml-files.ts';

interface WrittenObjects {
  /** The objects of the files that are no kinds of Reeve. */
  readonly located: readonly LocatedObject[];
  /** The state before the files. Empty without a cluster. */
  readonly base: ClusterState;
  /** The state with the files applied. */
  readonly state: ClusterState;
  readonly now: Date;
}

interface CheckedObjects {
  readonly findings: readonly CheckFinding[];
  readonly unchecked: readonly UncheckedObjects[];
}

interface Written {
  readonly source: LocatedObject;
  readonly object: KubeObject;
  readonly resource: JudgedResource;
}

export async function checkWrittenObjects(written: WrittenObjects): Promise<CheckedObjects> {
  const { located, base, state, now } = written;
  const snapshot = storedSnapshot(state, kubeObjectsOf(located).objects, now);
  const unchecked: Omit<UncheckedObjects, 'count'>[] = [];
  const findings: CheckFinding[] = [];
  for (const source of located) {
    const [object] = kubeObjectsOf([source]).objects;
    if (object === undefined) continue;
    const { apiVersion = '', kind = '' } = object;
    const resource = judgedResources.find((each) => each.kind === kind && each.group === groupOf(apiVersion));
    const reason = whyUnchecked(resource, object, snapshot, state);
    if (resource === undefined || reason !== undefined) unchecked.push({ kind, reason: reason ?? otherKind });
    else findings.push(...(await findingsOf({ source, object, resource }, base, snapshot, now)));
  }
  return { findings, unchecked: counted(unchecked) };
}

const otherKind = 'no policy has rules on this kind';

function whyUnchecked(
  resource: JudgedResource | undefined,
  { metadata: { namespace } }: KubeObject,
  snapshot: ClusterSnapshot,
  { isCluster, unread }: ClusterState,
): string | undefined {
  if (resource === undefined) return otherKind;
  if (snapshot.policies.policies.length === 0) {
    if (unread.some(({ kind }) => kind === 'NamespacePolicy')) return 'the policies could not be read';
    const orCluster = isCluster ? '' : ', or name a cluster with --context or --cluster';
    return `there is no policy to judge them by: add one with -f${orCluster}`;
  }
  if (resource.resource === 'namespaces') return undefined;
  if (namespace === undefined) return 'metadata.namespace is missing';
  return snapshot.namespace(namespace) === undefined
    ? 'their Namespace is neither in the files nor in the cluster'
    : undefined;
}

function counted(all: readonly Omit<UncheckedObjects, 'count'>[]): readonly UncheckedObjects[] {
  return [...Map.groupBy(all, ({ kind, reason }) => `${reason}\n${kind}`)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, each]) => each.slice(0, 1).map((first) => ({ ...first, count: each.length })));
}

/**
 * Returns a snapshot whose written Namespaces have the defaults of the webhooks, because policies can match by defaults. A
 * Namespace that no file writes gets no defaults.
 */
function storedSnapshot(state: ClusterState, written: readonly KubeObject[], now: Date): ClusterSnapshot {
  const applied = loadState(state).snapshot();
  const names = new Set(written.filter(({ kind }) => kind === namespaceType.kind).map(nameOf));
  const namespaces = state
    .objects(namespaceType)
    .filter((object) => names.has(nameOf(object)))
    .map((object) => ({ ...namespaceType, ...withNamespaceDefaults(object, applied, now) }));
  return loadState(withObjects(state, namespaces)).snapshot();
}

async function findingsOf(
  { source, object, resource }: Written,
  base: ClusterState,
  snapshot: ClusterSnapshot,
  now: Date,
): Promise<readonly CheckFinding[]> {
  const { object: after, stored } = applyTo(base, object);
  const request = writtenRequest(resource, { after, before: stored }, administrator);
  const { answer, verdicts } = await judgeWrite(request, {
    snapshot,
    install: base.install,
    now,
    isOfFile: true,
  });
  const found = (severity: CheckFinding['severity'], path: string, message: string): CheckFinding => ({
    check: 'rules',
    severity,
    about: aboutObject(object),
    ...placeIn(source, path),
    message,
  });
  const { decision, refusal } = answer;
  if (decision === 'malformed')
    return (refusal?.causes ?? []).map((each) =>
      found('problem', each.field.replace(/^request\.object\.?/, ''), each.message),
    );
  const denials = verdicts.flatMap((each) => each.denials);
  // When the budget ends, more violations may exist than were found.
  const isPartly = verdicts.some(({ overBudget }) => overBudget);
  if (refusal !== undefined && (isPartly || denials.length === 0))
    return [found('problem', '', refusal.message)];
  const isKnown = ({ rule }: Violation): boolean => !(base.isCluster ? aboutUsers : unknownInFiles).has(rule);
  const foundAll = (severity: CheckFinding['severity'], violations: readonly Violation[]) =>
    violations.filter(isKnown).map((each) => found(severity, each.path, violationLine(each)));
  return [
    ...foundAll('problem', denials),
    ...foundAll(
      'warning',
      verdicts.flatMap(({ warnings }) => warnings),
    ),
  ];
}

/** Files do not say who applies them, so rules about the user are left out. */
const aboutUsers = idsOf(({ readsSender }) => readsSender === true);
/** Files alone do not say which Namespaces exist already. The finding of the policy says that a quota is exceeded. */
const unknownInFiles = idsOf(
  ({ readsSender, countsOthers }) => readsSender === true || countsOthers === true,
);

function idsOf(has: (rule: RuleTraits) => boolean): ReadonlySet<string> {
  return new Set(rules.filter(has).map(({ id }) => id));
}

function aboutObject(object: KubeObject): string {
  const { kind = '', metadata } = object;
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${nameOf(object)}`;
}

function placeIn(source: LocatedObject, path: string): Pick<CheckFinding, 'file' | 'line' | 'column'> {
  const problem: Problem = { path: readPath(path), found: '', accepted: '' };
  const { file, line, column } = source.locate(problem);
  return { file, line, column };
}
