// Reads the code that Node gives an error, which is safe to log where the message is not.

/** `ENOENT`, `ERR_HTTP_REQUEST_TIMEOUT`; undefined for an error without a code. https://nodejs.org/api/errors.html#errorcode */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
