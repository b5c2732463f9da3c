// `npm run bench`: measures every row of the table in docs/performance.md. `--help` lists the flags.
import { benchCommand, benchHelp, type BenchCommand } from './bench-command.ts';
import { runBench } from './bench.ts';
import { measureOutages } from './outage-bench.ts';
import { benchScale } from './scale/scale-bench.ts';
import { measureSize } from './sizing-bench.ts';

/** Returns the exit code. */
async function run(command: BenchCommand): Promise<number> {
  switch (command.kind) {
    case 'rows':
      return (await runBench(command.options)) ? 0 : 1;
    case 'size':
      await measureSize(command.size);
      return 0;
    case 'outages':
      await measureOutages();
      return 0;
    case 'scale':
      return benchScale(command.isSaving) ? 0 : 1;
    case 'help':
      process.stdout.write(benchHelp);
      return 0;
    case 'problem':
      process.stderr.write(`${command.text}\n\n${benchHelp}`);
      return 2;
    default:
      return command satisfies never;
  }
}

try {
  process.exitCode = await run(benchCommand(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
