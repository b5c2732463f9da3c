// Prints what works in an install and what does not, once or until everything works: `reeve check` without files.
import { cliApiVersion } from '../../schema/names.ts';
import { readProgramVersion } from '../../app/shipped-files.ts';
import { checkInstall, checkWebhooks, serverPart, type Finding } from '../../check/check-install.ts';
import type { MissingRule } from '../../check/missing-rules.ts';
import type { CheckResults } from '../../inspect/output-schemas/check-results.ts';
import type { Call, CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { onCluster } from '../input/on-cluster.ts';
import type { CheckFlags } from './check.ts';

const pollMs = 2000;

/** Returns `done` if everything that this account may look at works, and `unknown` if the account sees too little. */
export async function runCheckInstall(
  { settings, environment }: Call<CheckFlags>,
  { stdout, stderr, clock, showsProgress, print }: CommandIo<CheckResults>,
): Promise<number> {
  const { installNamespace: namespace = 'reeve-system', wait, onlyWebhooks, output } = settings;
  const parts = onlyWebhooks ? checkWebhooks : checkInstall;
  return await onCluster(settings, environment, stderr, async (connection) => {
    const version = readProgramVersion();
    const look = async (): Promise<readonly Finding[]> =>
      await parts({ namespace, version, now: clock.now() }, connection);
    const deadline = clock.monotonic() + wait;
    let findings = await look();
    let waitsFor = '';
    while (!isFine(findings) && clock.monotonic() < deadline) {
      const before = waitsFor;
      waitsFor = partsWithProblems(findings);
      if (showsProgress && waitsFor !== before) stderr(`waiting for: ${waitsFor}\n`);
      await clock.sleep(pollMs);
      findings = await look();
    }
    if (output === 'text') stdout(checkText(findings));
    else print(checkOutput(findings));
    if (isFine(findings)) return exitCodes.done;
    return isBroken(findings) ? exitCodes.no : exitCodes.unknown;
  });
}

/** An account that sees only the API server cannot know that Reeve works. */
function isFine(findings: readonly Finding[]): boolean {
  const isSeen = findings.some(({ part, unseen }) => part !== serverPart && unseen.length === 0);
  return isSeen && findings.every(({ problems }) => problems.length === 0);
}

/** Without an answer of the API server, nothing is known of Reeve. */
function isBroken(findings: readonly Finding[]): boolean {
  return findings.some(({ part, problems }) => part !== serverPart && problems.length > 0);
}

function partsWithProblems(findings: readonly Finding[]): string {
  return findings
    .filter(({ problems }) => problems.length > 0)
    .map(({ part }) => part)
    .join(', ');
}

export function checkText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ part, problems, unseen, details, missingRules }) => [
    ...(problems.length === 0 && unseen.length === 0 ? [`ok: ${part}`] : []),
    ...problems.map((problem) => `problem: ${part}: ${problem}`),
    ...unseen.map((reason) => `unseen: ${part}: ${reason}`),
    ...details.map((detail) => `  ${detail}`),
    ...ruleLines(missingRules),
  ]);
  return `${[...lines, lastLine(findings)].join('\n')}\n`;
}

/** Writes YAML to copy: each list of rules below a comment that names the user and the role. */
function ruleLines(rules: readonly MissingRule[]): readonly string[] {
  const byRole = Map.groupBy(rules, ({ user = 'this account', namespace }) =>
    namespace === undefined
      ? `# missing in a ClusterRole of ${user}:`
      : `# missing in a Role of ${user} in namespace ${namespace}:`,
  );
  return [...byRole].flatMap(([comment, missing]) => {
    const texts = missing.flatMap(({ rule }) =>
      Object.entries(rule).map(([field, values], index) => {
        const list = values.map((value) => JSON.stringify(value)).join(', ');
        return `${index === 0 ? '-' : ' '} ${field}: [${list}]`;
      }),
    );
    return [comment, ...texts].map((line) => `  ${line}`);
  });
}

function lastLine(findings: readonly Finding[]): string {
  const broken = partsWithProblems(findings);
  if (broken !== '') return `Reeve does not work completely: ${broken} (see above).`;
  if (!isFine(findings)) return 'This account sees too little of Reeve to say whether it works: see above.';
  const isWhole = findings.every(({ unseen }) => unseen.length === 0);
  return isWhole ? 'Reeve works.' : 'Reeve works, apart from what is unseen.';
}

export function checkOutput(findings: readonly Finding[]) {
  return {
    apiVersion: cliApiVersion,
    kind: 'CheckResults',
    works: isFine(findings),
    parts: findings,
  } as const;
}
