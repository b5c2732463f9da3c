// Cleans all that a command prints, so that texts of others cannot steer a terminal or the runner of a pipeline.
import { oldRunnerCommand, runnerCommand, steering } from '../../base/text.ts';

/** Our own styles: https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters */
// oxlint-disable-next-line no-control-regex -- styles begin with the escape character
const style = /(\u001B\[(?:0|1|2|22|31|32|33|34|35|36|39)m)/u;

interface Cleaning {
  /** True if styles are printed. Then a text of others can only color itself. */
  readonly isColored: boolean;
  /** True if the command itself prints commands for the runner. Then its texts are escaped one by one. */
  readonly givesCommands: boolean;
}

/** Replaces characters instead of dropping them, so that two different texts never look the same. */
export function cleanText(text: string, { isColored, givesCommands }: Cleaning): string {
  const shown = isColored
    ? text
        .split(style)
        .map((part) => (style.test(part) ? part : printable(part)))
        .join('')
    : printable(text);
  const harmless = shown.replaceAll(oldRunnerCommand, '#\uFFFD');
  return givesCommands ? harmless : harmless.replaceAll(runnerCommand, '$1\uFFFD');
}

function printable(part: string): string {
  return part.replaceAll(steering, '\uFFFD');
}
