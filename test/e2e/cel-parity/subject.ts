// Describes a subject: a write, sent as a dry run for each policy that judges it.
import type { ApiRequest } from './api-client.ts';

export interface Requester {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Subject {
  readonly name: string;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** The namespace of a namespaced object. */
  readonly namespace?: string;
  readonly requester?: Requester;
  /** A write that changes nothing may be stored. */
  readonly inEarnest?: true;
}

/** The key under which a write names its judge. No expression reads it. */
export const judgeKey = 'cel-parity.reeve.dev/judge';

const administrator: Requester = { user: 'cel-parity-administrator' };

export function requestOf(subject: Subject, judge: string): ApiRequest {
  const { user, groups = [], extra = {} } = subject.requester ?? administrator;
  const extras = [...Object.entries(extra), [judgeKey, [judge]] as const];
  return {
    method: subject.method,
    path: subject.inEarnest === true ? subject.path : `${subject.path}?dryRun=All`,
    body: subject.body,
    headers: {
      'impersonate-user': user,
      // RBAC grants this group everything.
      'impersonate-group': [...groups, 'system:masters'],
      ...Object.fromEntries(
        extras.map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, values]),
      ),
    },
  };
}
