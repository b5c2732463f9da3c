// Runs `reeve test` in this process, and returns what it prints.
import { runCommand } from './run-command.ts';

export async function reeveTest(args: readonly string[], now?: Date) {
  return await runCommand(['test', ...args], now === undefined ? {} : { now });
}
