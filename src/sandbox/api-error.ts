// Defines the errors that the sandbox answers with, in the words of the API server: a metav1.Status.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
import type { JsonObject } from '../base/json.ts';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural if the message names the resource. The kind if the message names an invalid object. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface ErrorStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: StatusDetails;
}

/** Thrown anywhere while a request is served; http/server.ts turns it into the answer. */
export class ApiError extends Error {
  readonly status: ErrorStatus;

  constructor(status: ErrorStatus) {
    super(status.message);
    this.name = 'ApiError';
    this.status = status;
  }

  get body(): JsonObject {
    const { code, reason, message, details } = this.status;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

interface Named {
  readonly group: string;
  readonly plural: string;
}

/** `secrets`, `roles.rbac.authorization.k8s.io` */
export function groupResource({ group, plural }: Named): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function about({ group, plural }: Named, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: plural };
}

export function notFoundError(resource: Named, name: string): ApiError {
  const message = `${groupResource(resource)} ${JSON.stringify(name)} not found`;
  return new ApiError({ code: 404, reason: 'NotFound', message, details: about(resource, name) });
}

export function alreadyExistsError(resource: Named, name: string, isEnding: boolean): ApiError {
  const message = `${isEnding ? 'object is being deleted: ' : ''}${groupResource(resource)} ${JSON.stringify(name)} already exists`;
  return new ApiError({ code: 409, reason: 'AlreadyExists', message, details: about(resource, name) });
}

export function conflictError(resource: Named, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${groupResource(resource)} ${JSON.stringify(name)}: ${why}`;
  return new ApiError({ code: 409, reason: 'Conflict', message, details: about(resource, name) });
}

export function forbiddenError(
  resource: Named,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): ApiError {
  const subject = name === '' ? '' : ` ${JSON.stringify(name)}`;
  const message = `${groupResource(resource)}${subject} is forbidden: ${why}`;
  const details = { ...about(resource, name), ...(causes === undefined ? {} : { causes }) };
  return new ApiError({ code: 403, reason: 'Forbidden', message, details });
}

export function badRequestError(message: string): ApiError {
  return new ApiError({ code: 400, reason: 'BadRequest', message });
}

/** Returns 422 with all problems of the object. */
export function invalidError(
  { group, kind }: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly StatusCause[],
): ApiError {
  const texts = causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  const list = texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
  const what = group === '' ? kind : `${kind}.${group}`;
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: `${what} ${JSON.stringify(name)} is invalid: ${list}`,
    details: { name, ...(group === '' ? {} : { group }), kind, causes },
  });
}

/** Says that the API server serves the kind, and the sandbox does not. */
export function notServedError(what: string): ApiError {
  return new ApiError({
    code: 501,
    reason: 'NotImplemented',
    message: `${what}: not served by the sandbox`,
  });
}

/** Says that a watch or list names a revision that is no longer kept. */
export function expiredError(): ApiError {
  return new ApiError({
    code: 410,
    reason: 'Expired',
    message: 'The resourceVersion for the provided watch or list is too old.',
  });
}
