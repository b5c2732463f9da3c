// Reads from an unexpected error what may be logged: its class and its stack, never its message.

interface ErrorTrace {
  readonly error: string;
  /** Lines of the stack without the message, which may quote user data. */
  readonly frames: readonly string[];
}

const maxFrames = 8;

export function traceOf(error: unknown): ErrorTrace {
  if (!(error instanceof Error)) return { error: typeof error, frames: [] };
  return { error: error.constructor.name, frames: framesOf(error) };
}

/** The stack starts with the message, which may have several lines. Any other stack is left out. */
function framesOf({ name, message, stack }: Error): readonly string[] {
  const head = message === '' ? name : `${name}: ${message}`;
  if (stack?.startsWith(`${head}\n`) !== true) return [];
  return stack
    .slice(head.length + 1)
    .split('\n')
    .slice(0, maxFrames)
    .map((line) => line.trim());
}
