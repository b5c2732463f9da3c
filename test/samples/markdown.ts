// Reads the fenced blocks and the tables of a Markdown file.

interface Block {
  readonly language: string;
  readonly text: string;
}

export function blocksOf(markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}

/** The block for the shell that is one curl command, and what stands in the block after it. */
export interface Example {
  readonly command: string;
  readonly output: Block;
}

export function curlExamples(markdown: string): readonly Example[] {
  const blocks = blocksOf(markdown);
  return blocks.flatMap(({ language, text }, index) => {
    const output = blocks[index + 1];
    if (language !== 'sh' || !text.startsWith('curl ')) return [];
    if (output === undefined) throw new Error(`no output is shown for ${text}`);
    return [{ command: text.trimEnd(), output }];
  });
}

/** The cells of every row of the table below a line, without its head. */
export function tableBelow(markdown: string, line: string): readonly (readonly string[])[] {
  const start = markdown.indexOf(`\n${line}\n`);
  if (start === -1) throw new Error(`there is no line ${line}`);
  const table = /\n((?:\|.*\n)+)/.exec(markdown.slice(start))?.[1] ?? '';
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
