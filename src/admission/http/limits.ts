// The limits of the server, and the refusals below the review that a client gets beyond them.

export interface ServerLimits {
  /**
   * A review contains two objects of at most 3 MiB each (`MaxRequestBodyBytes`), and some metadata.
   * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/server/config.go
   */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  readonly headersMs: number;
  readonly requestMs: number;
  /**
   * Longer than the 90 s after which the API server closes an idle connection: the client must close first.
   * The 90 s are Go's, https://pkg.go.dev/net/http#DefaultTransport, copied by `SetOldTransportDefaults` in
   * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apimachinery/pkg/util/net/http.go
   */
  readonly keepAliveMs: number;
  readonly handshakeMs: number;
  /** How often Node checks for slow requests. */
  readonly checkMs: number;
  readonly connections: number;
  /** The bytes of all bodies in memory. */
  readonly totalBodyBytes: number;
}

const mebibyte = 1024 * 1024;

export const serverLimits: ServerLimits = {
  bodyBytes: 7 * mebibyte,
  headerBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 120_000,
  handshakeMs: 10_000,
  checkMs: 1000,
  connections: 2000,
  totalBodyBytes: 64 * mebibyte,
};

// The refusals below the review: an HTTP status and a short reason that repeats nothing of the request.

export interface HttpRefusal {
  readonly code: number;
  /** The reason of metav1.Status, where Kubernetes defines one. */
  readonly reason: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * client-go retries, POST included, when a 5xx answer states a whole number of seconds.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/client-go/rest/with_retry.go
 */
const retrySoon = { 'Retry-After': '1' };

export function badBody(message: string): HttpRefusal {
  return { code: 400, reason: 'BadRequest', message };
}

export const emptyBody = badBody('the body is empty');
export const malformedRequest = badBody('the request is not valid HTTP');
export const missingHost = badBody('exactly one Host header is required');
export const unknownTransferCoding = badBody('Transfer-Encoding: only chunked is accepted');
export const badTimeout = badBody('timeout: must be one positive duration such as 10s');

export const unknownPath: HttpRefusal = {
  code: 404,
  reason: 'NotFound',
  message: 'unknown path; send reviews to /validate or /mutate',
};

export function wrongMethod(allow: string): HttpRefusal {
  return {
    code: 405,
    reason: 'MethodNotAllowed',
    message: `only ${allow} is accepted here`,
    headers: { Allow: allow },
  };
}

export const timedOut: HttpRefusal = {
  code: 408,
  reason: 'Timeout',
  message: 'the request did not arrive in time',
};

export const bodyTooLarge: HttpRefusal = {
  code: 413,
  reason: 'RequestEntityTooLarge',
  message: 'the body is larger than 7 MiB',
};

export const wrongMediaType: HttpRefusal = {
  code: 415,
  reason: 'UnsupportedMediaType',
  message: 'the body must be application/json in UTF-8',
};

export const wrongContentCoding: HttpRefusal = {
  code: 415,
  reason: 'UnsupportedMediaType',
  message: 'the body must not be compressed',
};

export const unknownExpectation: HttpRefusal = {
  code: 417,
  reason: 'ExpectationFailed',
  message: 'Expect: only 100-continue is accepted',
};

export const headersTooLarge: HttpRefusal = {
  code: 431,
  reason: 'RequestHeaderFieldsTooLarge',
  message: 'the headers are larger than 16 kB',
};

export const serverError: HttpRefusal = {
  code: 500,
  reason: 'InternalError',
  message: 'internal error; see the log of the webhook',
};

export const notReady: HttpRefusal = {
  code: 503,
  reason: 'ServiceUnavailable',
  message: 'the policies are not loaded yet',
  headers: retrySoon,
};

export const tooManyBytes: HttpRefusal = {
  code: 503,
  reason: 'ServiceUnavailable',
  message: 'too many requests are being read at once',
  headers: retrySoon,
};

/** Returns a small metav1.Status, which Kubernetes clients expect with an error code. */
export function refusalBody({ code, reason, message }: HttpRefusal): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
  });
}
