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
  /** The same, of the data of a Secret. */
  noBase64: difference(400, 422),
  /** A patch of the name: refused, as another fault. */
  patchedName: difference(400, 422),
  /** A patch of the uid: the same. */
  patchedUid: difference(422, 409),
  /** A field that the kind does not have, applied by who wants to be told. */
  unknownFieldApplied: difference(500, 400),
  /** The sandbox suggests the known field whose name is similar to an unknown one. */
  similarField: difference('', ' (did you mean spec.suspend?)'),
  /** Leases and the kinds of RBAC come into being by an update on the real one. */
  updateOfNothing: difference([201], [404, 422]),
  /** Amounts of quotas and limits, ports and times are stored as they are written, and not looked at. */
  uncheckedAmount: difference(422, 201),
  uncheckedText: difference(400, 201),
  /** A list is always whole, whatever its limit. */
  pages: difference([['a', 'b'], ['c']], [['a', 'b', 'c']]),
  /** Lists show the present alone. */
  listOfThePast: difference(200, 410),
  /** A roleRef that is missing is one fault, not one for each of its fields. */
  missingRoleRef: difference(['roleRef.kind', 'roleRef.name'], ['roleRef']),
  /** Who is impersonated has a name and groups, and nothing else. */
  impersonatedDetails: difference(201, 501),
} as const;
