// Which authorities API servers are to check the webhook by, where a file says so, or nobody whom this program knows.
import { readAuthority } from '../files/authority-file.ts';
import type { Log } from '../../observe/log.ts';
import type { CaBundle } from './ca-bundle.ts';
import { StartError } from '../../app/start-error.ts';

/** Read again whenever somebody asks; while the file is no good, what it held before counts. Rejects with a StartError. */
export async function openFileBundle(path: string, log: Log): Promise<CaBundle> {
  const first = await readAuthority(path);
  if (!first.ok) throw new StartError(first.problem);
  let good = first.value;
  let lastProblem = '';
  return {
    ...unheard,
    wanted: async () => {
      const reading = await readAuthority(path);
      if (reading.ok) good = reading.value;
      else if (reading.problem !== lastProblem)
        log.warn('certificate authority not reloaded', { problem: reading.problem });
      lastProblem = reading.ok ? '' : reading.problem;
      return good;
    },
  };
}

/** Has no news, and wants no confirmation. */
const unheard: Pick<CaBundle, 'confirmed' | 'doubted' | 'subscribe'> = {
  confirmed: () => undefined,
  doubted: () => undefined,
  subscribe: () => () => undefined,
};

/** Somebody else writes it into the configurations. */
export const foreignBundle: CaBundle = { ...unheard, wanted: () => Promise.resolve(undefined) };
