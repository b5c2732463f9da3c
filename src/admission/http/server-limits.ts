// The limits of the server: how much a client may send, and how long it may take.

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
