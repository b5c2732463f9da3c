// Names the levels of the log. The command line knows them without loading the library that writes the log.

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
