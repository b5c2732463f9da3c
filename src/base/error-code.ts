// Names what failed by the code that Node gives an error, because its text may hold anything.

/** `ENOENT`, `ERR_HTTP_REQUEST_TIMEOUT`; undefined for an error without one. https://nodejs.org/api/errors.html#errorcode */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
