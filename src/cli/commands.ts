// The commands, in the order of the help. The file of each is loaded when it is called, because a Pod must not load the others.
import type { Command } from './command.ts';

/** Help, completion and reference read a list of these. Its keys are the names. */
export type CommandList = Readonly<Record<string, ListedCommand>>;

interface ListedCommand {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command<unknown> }>;
}

export const commands = {
  up: {
    summary: 'Try Reeve on a sandbox in this process, with a feed of its decisions and writes.',
    load: async () => await import('./commands/up.ts'),
  },
  run: {
    summary: 'Run on a cluster: answer admission reviews, and create and keep the contents of namespaces.',
    load: async () => await import('./commands/run.ts'),
  },
  serve: {
    summary: 'Answer admission reviews for a folder of policies, without a cluster.',
    load: async () => await import('./commands/serve.ts'),
  },
  certs: {
    summary: 'Create a certificate authority and a serving certificate, and print the caBundle.',
    load: async () => await import('./commands/certs.ts'),
  },
  check: {
    summary: 'Find what is wrong with policies in files, or what of an install on a cluster does not work.',
    load: async () => await import('./commands/check.ts'),
  },
  explain: {
    summary: 'Say why a namespace, an object or a policy is as it is, or why a request is refused.',
    load: async () => await import('./commands/explain.ts'),
  },
  adopt: {
    summary: 'Mark existing objects for adoption by a policy or share, after showing them.',
    load: async () => await import('./commands/adopt.ts'),
  },
  confirm: {
    summary: 'Confirm deletions that a policy, share or binding holds back, after showing them.',
    load: async () => await import('./commands/confirm.ts'),
  },
  grant: {
    summary: 'Make the objects that let users bring namespaces under a policy, share or binding.',
    load: async () => await import('./commands/grant.ts'),
  },
  plan: {
    summary: 'Show what applying policies would change: objects created, updated, deleted or in conflict.',
    load: async () => await import('./commands/plan.ts'),
  },
  report: {
    summary: 'List everything that is not as policies want it, and everything that ends.',
    load: async () => await import('./commands/report.ts'),
  },
  import: {
    summary: 'Print the setup of an older tool as objects of Reeve, with the steps of the move.',
    load: async () => await import('./commands/import.ts'),
  },
  test: {
    summary: 'Test policies with suites of requests and expected answers.',
    load: async () => await import('./commands/test.ts'),
  },
  uninstall: {
    summary: 'Remove Reeve from a cluster, so that nothing of it blocks requests.',
    load: async () => await import('./commands/uninstall.ts'),
  },
  completion: {
    summary: 'Print the script with which a shell completes commands and flags.',
    load: async () => await import('./commands/completion.ts'),
  },
} as const satisfies CommandList;
