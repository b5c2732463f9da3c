// The roles of an install, as shipped and as an administrator may have changed them.
import { readFile } from 'node:fs/promises';
import { kubectl, mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';

/** A rule as a status shows it, and the manifest to which it belongs. */
export interface PastedRule {
  readonly role: string;
  readonly file: string;
  readonly line: string;
}

/** Parses `...; to the rules of ClusterRole NAME (FILE; with Helm: VALUE): - {...} and - {...}; ...`. */
export function rulesIn(message: string): readonly PastedRule[] {
  const parts = message.matchAll(
    /rules of (?:Cluster)?Role (\S+) \((\S+?)(?:; with Helm: [\w ]+)?\): (.*?)(?=;|$)/g,
  );
  return [...parts].flatMap(([, role = '', file = '', lines = '']) =>
    [...lines.matchAll(/- \{.*?\}/g)].map(([line]) => ({ role, file, line })),
  );
}

/** Returns the manifest with these lines as the only rules of the role. */
export async function fileWith(file: string, role: string, lines: readonly string[]): Promise<string> {
  const text = await readFile(file, 'utf8');
  const documents = text.split(/^---$/m).map((document) => {
    if (!document.includes(`name: ${role}\n`) || !document.includes('\nrules:')) return document;
    const head = document.slice(0, document.indexOf('\nrules:'));
    return `${head}\nrules: ${lines.length === 0 ? '[]' : ''}\n${lines.map((line) => `  ${line}\n`).join('')}`;
  });
  return documents.join('---');
}

export async function applyText(text: string, who: KubectlOptions): Promise<void> {
  await mustKubectl(['apply', '-f', '-'], { ...who, input: text });
}

/** Waits until the API server gives this answer about a right. */
export async function mayDo(
  what: readonly string[],
  answer: 'yes' | 'no',
  who: KubectlOptions,
): Promise<void> {
  const ask = async (): Promise<string> =>
    (await kubectl(['auth', 'can-i', ...what], who)).stdout.trim().split('\n').at(-1) ?? '';
  await until(
    async () => (await ask()) === answer,
    async () => `can-i ${what.join(' ')}: ${await ask()}`,
  );
}
