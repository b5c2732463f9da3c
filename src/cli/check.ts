// The command `reeve check`: prints what works and what does not, once or until everything works.
import { readProgramVersion } from '../app/shipped-files.ts';
import type { Clock } from '../base/clock.ts';
import { cliApiVersion } from '../api/names.ts';
import { checkInstall, serverPart, type Finding } from '../check/check-install.ts';
import type { ApiServerChoice } from '../kube/auth/find-api-server.ts';
import type { CheckFlags } from './flags/check-settings.ts';
import { onCluster } from './input/on-cluster.ts';
import { jsonText } from './output/json-text.ts';

export interface CheckIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
}

const pollMs = 2000;

/** Returns the exit code: 0 if everything that this account may look at works, otherwise 1. */
export async function runCheck(
  flags: CheckFlags,
  environment: ApiServerChoice['environment'],
  { stdout, stderr, clock }: CheckIo,
): Promise<number> {
  const { namespace, wait, output } = flags;
  return await onCluster(flags, environment, stderr, async (connection) => {
    const version = await readProgramVersion();
    const look = async (): Promise<readonly Finding[]> =>
      await checkInstall({ namespace, version, now: clock.now() }, connection);
    const deadline = clock.monotonic() + wait;
    let findings = await look();
    while (!isFine(findings) && clock.monotonic() < deadline) {
      await clock.sleep(pollMs);
      findings = await look();
    }
    stdout(output === 'json' ? checkJson(findings) : checkText(findings));
    return isFine(findings) ? 0 : 1;
  });
}

/** An account that sees only the API server has not seen Reeve work. */
function isFine(findings: readonly Finding[]): boolean {
  const isSeen = findings.some(({ part, unseen }) => part !== serverPart && unseen.length === 0);
  return isSeen && findings.every(({ problems }) => problems.length === 0);
}

export function checkText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ part, problems, unseen }) => [
    ...(problems.length === 0 && unseen.length === 0 ? [`ok: ${part}`] : []),
    ...problems.map((problem) => `problem: ${part}: ${problem}`),
    ...unseen.map((reason) => `unseen: ${part}: ${reason}`),
  ]);
  return `${[...lines, lastLine(findings)].join('\n')}\n`;
}

function lastLine(findings: readonly Finding[]): string {
  if (!isFine(findings)) return 'Reeve does not work completely: see above.';
  const isWhole = findings.every(({ unseen }) => unseen.length === 0);
  return isWhole ? 'Reeve works.' : 'Reeve works, as far as this account may look.';
}

function checkJson(findings: readonly Finding[]): string {
  return jsonText({
    apiVersion: cliApiVersion,
    kind: 'CheckResults',
    works: isFine(findings),
    parts: findings,
  });
}
