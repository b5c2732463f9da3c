// Where the sandbox answers otherwise than the real API server, on purpose; docs/sandbox.md has the list in words.

export interface Difference<T> {
  readonly real: T;
  readonly sandbox: T;
}

function difference<T>(real: T, sandbox: T): Difference<T> {
  return { real, sandbox };
}

export const differences = {
  /** Built-in kinds have no decoder apart from their validation. */
  wrongType: difference(400, 422),
  /** The same for the data of a Secret. */
  noBase64: difference(400, 422),
  /** A patch of the name is refused with another code. */
  patchedName: difference(400, 422),
  /** A patch of the uid, too. */
  patchedUid: difference(422, 409),
  /** An unknown field in an apply with fieldValidation=Strict. */
  unknownFieldApplied: difference(500, 400),
  /** The sandbox suggests the known field whose name is similar to an unknown one. */
  similarField: difference('', ' (did you mean spec.suspend?)'),
  /** The sandbox lists all built-in kinds, and stores some of them. */
  unstoredKind: difference(200, 501),
  /** So kubectl fails after it has shown what there is of all kinds. */
  everyKindShown: difference(0, 1),
  /** An update creates a missing Lease or RBAC object on the real API server. */
  updateOfNothing: difference([201], [404, 422]),
  /** Amounts of quotas and limits, ports, ranges of IP addresses and times are stored as written, without checks. */
  uncheckedAmount: difference(422, 201),
  uncheckedText: difference(400, 201),
  /** A list is always whole, whatever its limit. */
  pages: difference([['a', 'b'], ['c']], [['a', 'b', 'c']]),
  /** Lists show the present only. */
  listOfThePast: difference(200, 410),
  /** A missing roleRef is one problem, not one for each of its fields. */
  missingRoleRef: difference(['roleRef.kind', 'roleRef.name'], ['roleRef']),
  /** Kubernetes 1.30 cannot check in a CRD that a range of IP addresses is exact, so the webhook does. */
  exactRange: difference(201, 422),
  /** An impersonated user has a name and groups, and nothing else. */
  impersonatedDetails: difference(201, 501),
} as const;
