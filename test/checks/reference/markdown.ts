// Writes the pieces of Markdown that the pages of docs/reference are made of.

const generatedNote = '<!-- Generated from the code by `npm run generate`; change the code instead. -->';

/** A table without padding: it is generated, so short lines matter more than straight columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function code(text: string): string {
  return `\`${text.replaceAll('|', String.raw`\|`)}\``;
}

/** Plain text from the code, in which no character may act as Markdown. */
export function prose(text: string): string {
  return text.replaceAll(/[\\`*<|[\]$]/g, String.raw`\$&`);
}

/** The address of a heading within its page, as GitHub forms it. */
export function anchor(heading: string): string {
  return `#${heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')}`;
}

export function page(title: string, parts: readonly string[]): string {
  return `${[generatedNote, `# ${title}`, ...parts].join('\n\n')}\n`;
}
