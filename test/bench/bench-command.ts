// The command line of `npm run bench`: what to measure, or the problem with the arguments.
import { parseArgs } from 'node:util';
import type { Size } from './sizing-objects.ts';

export interface BenchOptions {
  readonly isQuick: boolean;
  /** Ids of rows. Empty: all. */
  readonly only: readonly string[];
  readonly isSaving: boolean;
  /** The results to compare with. Default: bench/results.json. */
  readonly comparedFile: string | undefined;
}

export type BenchCommand =
  | { readonly kind: 'rows'; readonly options: BenchOptions }
  | { readonly kind: 'size'; readonly size: Size }
  | { readonly kind: 'outages' }
  | { readonly kind: 'scale'; readonly isSaving: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'problem'; readonly text: string };

export const benchHelp = `npm run bench -- [FLAGS]

Measures every row of the table in docs/performance.md in about twelve minutes, and compares it with bench/results.json.
Exits with 1 when a row is worse than its saved figure by more than its threshold, or could not be measured.
A missed goal is printed, and does not fail the run.

  --quick         three rounds instead of five, and only rows that take seconds: under two minutes
  --only=ID       this row and those that are measured with it; may be repeated
  --save          writes bench/results.json and the table of docs/performance.md; not with --quick
  --compare=FILE  compares with these results instead

Instead of the rows:

  --namespaces=N  what Reeve needs for a cluster of that size, with --policies=2, --shares=1, --others=0, --secret-bytes=1000
  --outages       what users see when parts of a cluster are lost; on real nodes, as root
  --scale         simulates clusters that are too large to run, for docs/operate/scale.md; --save writes that page
`;

export function benchCommand(args: readonly string[]): BenchCommand {
  try {
    return commandOf(flagsOf(args));
  } catch (error) {
    // Errors of parseArgs name the argument: https://nodejs.org/api/util.html#utilparseargsconfig
    return { kind: 'problem', text: error instanceof Error ? error.message : String(error) };
  }
}

type Flags = ReturnType<typeof flagsOf>;

function flagsOf(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      save: { type: 'boolean', default: false },
      compare: { type: 'string' },
      scale: { type: 'boolean', default: false },
      outages: { type: 'boolean', default: false },
      namespaces: { type: 'string' },
      policies: { type: 'string', default: '2' },
      shares: { type: 'string', default: '1' },
      others: { type: 'string', default: '0' },
      'secret-bytes': { type: 'string', default: '1000' },
    },
  }).values;
}

function commandOf(flags: Flags): BenchCommand {
  if (flags.help) return { kind: 'help' };
  if (flags.outages) return { kind: 'outages' };
  if (flags.scale) return { kind: 'scale', isSaving: flags.save };
  if (flags.namespaces !== undefined) return { kind: 'size', size: sizeOf(flags, flags.namespaces) };
  // Figures of fewer rounds must not replace those of all rounds.
  if (flags.save && flags.quick) throw new Error('--save needs all rounds: leave out --quick');
  const { quick: isQuick, only, save: isSaving, compare: comparedFile } = flags;
  return { kind: 'rows', options: { isQuick, only, isSaving, comparedFile } };
}

function sizeOf(flags: Flags, namespaces: string): Size {
  return {
    namespaces: count('namespaces', namespaces),
    policies: count('policies', flags.policies),
    shares: count('shares', flags.shares),
    others: count('others', flags.others),
    secretBytes: count('secret-bytes', flags['secret-bytes']),
  };
}

function count(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number: ${text}`);
  return Number(text);
}
