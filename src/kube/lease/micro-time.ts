// Moments as Leases and Events hold them: UTC with six digits after the point.

/** https://kubernetes.io/docs/reference/kubernetes-api/definitions/micro-time-v1-meta/ */
export function microTime(moment: Date): string {
  return moment.toISOString().replace('Z', '000Z');
}
