// Names the objects that adapters render: by intent and selector, never by binding.
import type { LabelSelector } from '../../schema/selector.ts';
import { createHash } from 'node:crypto';

interface NameParts {
  /** The name of the intent. */
  readonly name: string;
  readonly workloads: LabelSelector | undefined;
  /** Tells the objects apart where an adapter renders several of one kind. */
  readonly suffix?: string | undefined;
  readonly maxLength?: number;
}

/** Most objects are selected by labels with their names, so a name must fit into the value of a label. */
const longestLabelValue = 63;
const hashLength = 8;
const looksHashed = /-[0-9a-f]{8}$/;

/**
 * Two bindings of the same intent and selector get the same name, because they want the same object. All others get different
 * names: only an intent without selector and suffix gives its bare name.
 */
export function intentObjectName({
  name,
  workloads,
  suffix,
  maxLength = longestLabelValue,
}: NameParts): string {
  const isBare = workloads === undefined && suffix === undefined;
  if (isBare && name.length <= maxLength && !looksHashed.test(name)) return name;
  const readable = suffix === undefined ? name : `${name}-${suffix}`;
  const cut = readable.slice(0, maxLength - hashLength - 1).replace(/[-.]+$/, '');
  return `${cut}-${hashOf([name, suffix, selectorText(workloads)])}`;
}

/** The order of labels has no meaning. The order of expressions stays in the objects, so it must count here, too. */
function selectorText(workloads: LabelSelector | undefined): unknown {
  if (workloads === undefined) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = workloads;
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1));
  return [labels, matchExpressions.map(({ key, operator, values = [] }) => [key, operator, values])];
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, hashLength);
}
