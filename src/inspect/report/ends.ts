// Makes the entries of what ends: exceptions in force, and RoleBindings with an end.
import type { PolicyException } from '../../api/namespace-policy/namespace-policy.ts';
import { rfc3339 } from '../../base/time.ts';
import { alternatives } from '../../base/text.ts';
import { grantText } from '../input/grant-text.ts';
import type { Desired } from '../../policy/desired/desired.ts';
import { compileException } from '../../policy/terms/exceptions.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import type { ReportEntry } from '../output-schemas/report-output.ts';

const maxSubjects = 5;

/** One entry for each matched namespace that the exception covers; one without a namespace if it covers none. */
export function exceptionEntries(
  policy: ProviderId,
  exceptions: readonly PolicyException[],
  matched: readonly string[],
  now: Date,
): readonly ReportEntry[] {
  return exceptions.flatMap((exception): readonly ReportEntry[] => {
    const { namespaces, expiresAt } = compileException(exception);
    if (expiresAt !== undefined && expiresAt <= now.getTime()) return [];
    const entryFor = (namespace: string | undefined, message: string | undefined): ReportEntry => ({
      section: 'exception',
      policy,
      ...(namespace === undefined ? {} : { namespace }),
      rule: exception.rules.join(', '),
      ...(message === undefined ? {} : { message }),
      ...(expiresAt === undefined ? {} : { until: rfc3339(new Date(expiresAt)) }),
    });
    const covered = matched.filter((name) => namespaces.some((glob) => glob.matches(name)));
    if (covered.length > 0) return covered.map((namespace) => entryFor(namespace, exception.reason));
    const patterns = alternatives(exception.namespaces, maxSubjects);
    return [entryFor(undefined, `covers no namespace that the policy matches: ${patterns}`)];
  });
}

/** The first of several providers of one RoleBinding gets its way. */
export function grantEntries({ claims }: Desired, namespace: string): readonly ReportEntry[] {
  return [...claims.values()].flatMap(([claim]) => {
    if (claim?.expiresAt === undefined || claim.content.kind !== 'object') return [];
    const { provider, type, name, content, expiresAt } = claim;
    return [
      {
        section: 'grant',
        policy: provider,
        namespace,
        object: { ...type, namespace, name },
        message: grantText(content.body),
        until: rfc3339(new Date(expiresAt)),
      },
    ];
  });
}

/** `2027-01-31T00:00:00Z (in 69 days)`. */
export function untilText(until: string | undefined, time: string): string {
  if (until === undefined) return 'no end';
  const minutes = Math.floor((Date.parse(until) - Date.parse(time)) / 60_000);
  if (minutes < 1) return `${until} (in less than a minute)`;
  const [amount, unit] =
    minutes >= 48 * 60
      ? [Math.floor(minutes / (24 * 60)), 'day']
      : minutes >= 120
        ? [Math.floor(minutes / 60), 'hour']
        : [minutes, 'minute'];
  return `${until} (in ${amount} ${unit}${amount === 1 ? '' : 's'})`;
}
