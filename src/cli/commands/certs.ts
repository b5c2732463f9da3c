// The command `reeve certs`: creates the certificates of the webhook and prints the caBundle.
import { existingCertificateFiles, writeCertificateFiles } from '../../certs/files/files.ts';
import { issueCertificates, maxLifetimeDays } from '../../certs/issue/issue.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { folder, installNamespace } from '../flags/common-settings.ts';
import {
  integerSetting,
  requiredText,
  switchSetting,
  type Settings,
  type Values,
} from '../flags/settings.ts';

const flags = {
  out: requiredText({ ...folder, help: 'The folder for ca.crt, ca.key, tls.crt and tls.key.' }),
  installNamespace: installNamespace('reeve-system'),
  force: switchSetting('Replace existing files.'),
  caDays: integerSetting(3650, 1, maxLifetimeDays, {
    placeholder: 'DAYS',
    help: 'How long the authority is valid.',
  }),
  days: integerSetting(365, 1, maxLifetimeDays, {
    placeholder: 'DAYS',
    help: 'How long the serving certificate is valid.',
  }),
} satisfies Settings;

/** Standard output gets only the caBundle, so that a script can use it unchanged. */
export const command = commandOf({ flags, outputs: {}, run: runCerts });

/** Returns the exit code: 0 written, 1 not written. */
async function runCerts({ settings }: Call<Values<typeof flags>>, io: CommandIo): Promise<number> {
  const { out, installNamespace: namespace, force, caDays, days } = settings;
  // This check comes before the creation of the keys, which takes a moment.
  const existing = force ? [] : await existingCertificateFiles(out);
  if (existing.length > 0) return say(io, refusal(existing), 1);
  const issued = await issueCertificates({
    namespace,
    now: io.clock.now(),
    caLifetimeDays: caDays,
    leafLifetimeDays: days,
  });
  const outcome = await writeCertificateFiles(out, issued, force);
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

function say(io: CommandIo, lines: readonly string[], exitCode: number): number {
  for (const line of lines) io.stderr(`${line}\n`);
  return exitCode;
}
