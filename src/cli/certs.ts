// The command `reeve certs`: creates the certificates of the webhook and prints the caBundle.
import type { Clock } from '../base/clock.ts';
import { isNamespaceName } from '../schema/kubernetes-names.ts';
import { existingCertificateFiles, writeCertificateFiles } from '../certs/files/files.ts';
import { isLifetimeDays, issueCertificates, maxLifetimeDays } from '../certs/issue/issue.ts';

export interface CertsOptions {
  readonly out: string;
  readonly installNamespace: string;
  readonly force: boolean;
  readonly caDays: number;
  readonly days: number;
}

interface CertsIo {
  /** Gets only the caBundle, so that a script can use it unchanged. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly clock: Pick<Clock, 'now'>;
}

/** Returns the exit code: 0 written, 1 not written, 2 invalid option. */
export async function runCerts(options: CertsOptions, io: CertsIo): Promise<number> {
  const problems = problemsOf(options);
  if (problems.length > 0) return say(io, problems, 2);
  // Checked before the keys are created, because creating them takes a moment.
  const existing = options.force ? [] : await existingCertificateFiles(options.out);
  if (existing.length > 0) return say(io, refusal(existing), 1);
  const issued = await issueCertificates({
    namespace: options.installNamespace,
    now: io.clock.now(),
    caLifetimeDays: options.caDays,
    leafLifetimeDays: options.days,
  });
  const outcome = await writeCertificateFiles(options.out, issued, options.force);
  switch (outcome.kind) {
    case 'refused':
      return say(io, refusal(outcome.existing), 1);
    case 'failed':
      return say(io, [outcome.problem], 1);
    case 'written':
      io.stdout(`${Buffer.from(issued.ca.certPem).toString('base64')}\n`);
      return say(io, success(outcome.paths), 0);
    default:
      return outcome satisfies never;
  }
}

function problemsOf(options: CertsOptions): readonly string[] {
  const lifetime = `a whole number of days from 1 to ${maxLifetimeDays}`;
  const checks: readonly (readonly [boolean, string])[] = [
    [options.out !== '', '--out: give the folder that the files go to'],
    [
      isNamespaceName(options.installNamespace),
      '--install-namespace: give the name of a namespace (RFC 1123 label)',
    ],
    [isLifetimeDays(options.caDays), `--ca-days: give ${lifetime}`],
    [isLifetimeDays(options.days), `--days: give ${lifetime}`],
  ];
  return checks.filter(([isGood]) => !isGood).map(([, problem]) => problem);
}

function refusal(existing: readonly string[]): readonly string[] {
  const verb = existing.length === 1 ? 'exists' : 'exist';
  return [`nothing was written: ${existing.join(', ')} ${verb} already; --force replaces all four files`];
}

function success(paths: readonly string[]): readonly string[] {
  return [
    `wrote ${paths.join(', ')}`,
    'the line on standard output is the caBundle; keep ca.key away from the cluster',
  ];
}

function say(io: CertsIo, lines: readonly string[], exitCode: number): number {
  for (const line of lines) io.stderr(`${line}\n`);
  return exitCode;
}
