// Cleans all that a command prints: texts of others cannot steer a terminal, or give orders to the runner of a pipeline.

/** Control characters but tabs and line ends, halves of characters, and those that turn the direction of writing. */
const steering =
  // oxlint-disable-next-line no-control-regex -- these are what must not be printed
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\p{Cs}]/gu;

/** Our own styles: https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters */
// oxlint-disable-next-line no-control-regex -- styles begin with the escape character
const style = /(\u001B\[(?:0|1|2|22|31|32|33|34|35|36|39)m)/u;

/** A runner reads such a line as a command: https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions */
const command = /^(\s*):(?=:[\w-]+(?: [^\n]*)?::)/gm;
/** The older form, anywhere in a line. */
const oldCommand = /##(?=\[[\w-]+)/g;

export interface Cleaning {
  /** True where styles are printed. A text of others can then only color itself. */
  readonly isColored: boolean;
  /** True where the command prints commands for the runner itself. Its texts are then escaped one by one. */
  readonly givesCommands: boolean;
}

/** Characters are replaced, not dropped: two different texts must not look the same. */
export function cleanText(text: string, { isColored, givesCommands }: Cleaning): string {
  const shown = isColored
    ? text
        .split(style)
        .map((part) => (style.test(part) ? part : printable(part)))
        .join('')
    : printable(text);
  const harmless = shown.replaceAll(oldCommand, '#\uFFFD');
  return givesCommands ? harmless : harmless.replaceAll(command, '$1\uFFFD');
}

function printable(part: string): string {
  return part.replaceAll(steering, '\uFFFD');
}
