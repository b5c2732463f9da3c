// What may be told of an error that we did not expect: its name and where it happened, never its text.

interface ErrorTrace {
  readonly error: string;
  /** Lines of the stack, without the message, which may quote what somebody sent. */
  readonly frames: readonly string[];
}

const mostFrames = 8;

export function traceOf(error: unknown): ErrorTrace {
  if (!(error instanceof Error)) return { error: typeof error, frames: [] };
  return { error: error.constructor.name, frames: framesOf(error) };
}

/** The stack begins with the message, of any number of lines; a stack that does not is not understood, and not shown. */
function framesOf({ name, message, stack }: Error): readonly string[] {
  const head = message === '' ? name : `${name}: ${message}`;
  if (stack?.startsWith(`${head}\n`) !== true) return [];
  return stack
    .slice(head.length + 1)
    .split('\n')
    .slice(0, mostFrames)
    .map((line) => line.trim());
}
