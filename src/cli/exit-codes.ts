// The exit codes of all commands. A program that asks a question can tell "no" from "could not find out".

export const exitCodes = { done: 0, no: 1, wrongArguments: 2, unknown: 3 } as const;

/** For the help of the program and the reference. The help of a command says what they mean there. */
export const exitCodeMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.done, 'Yes, or done. Also the help and the version.'],
  [
    exitCodes.no,
    'No: a problem was found, a test failed, a request is refused, an object does not exist, or a write was refused.',
  ],
  [
    exitCodes.wrongArguments,
    'Wrong flags, or a person did not confirm. With plan --exit-code: something would change.',
  ],
  [
    exitCodes.unknown,
    'The command could not find out: the cluster did not answer, a kind, a file or a flag could not be read, the files have no object or no suite, a program did not start, or an internal error ended it.',
  ],
];
