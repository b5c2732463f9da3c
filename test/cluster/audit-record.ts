// Reads lines of the API server's audit log, and counts how many resourceVersions each request changed.

/** The fields used of https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/#audit-k8s-io-v1-Event */
interface AuditEvent {
  readonly stage: string;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: AuditedUser;
  readonly impersonatedUser?: AuditedUser;
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: { readonly dryRun?: readonly string[]; readonly spec?: AskedPerson };
  readonly responseObject?: AuditedObject;
  readonly requestReceivedTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface AuditedUser {
  readonly username: string;
  readonly groups?: readonly string[];
}

interface AuditedObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly items?: readonly AuditedObject[];
}

const accessReviews = 'subjectaccessreviews';

/** https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/ */
export interface AskedPerson {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface AuditRecord {
  /** The user whose rights count. With impersonation, this is the impersonated user. */
  readonly user: string;
  readonly authenticatedAs: string;
  /** The groups of that user. */
  readonly groups: readonly string[];
  readonly userAgent: string;
  readonly verb: string;
  /** `secrets` or `rolebindings.rbac.authorization.k8s.io`. Empty for a path that is no resource. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uri: string;
  /** `ResponseStarted` for a watch that has begun, `ResponseComplete` for a finished request, or `Panic`. */
  readonly stage: string;
  readonly status: number;
  readonly isDryRun: boolean;
  readonly receivedAt: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The number of objects that were removed or got another resourceVersion. Only deletecollection changes more than one. */
  readonly changes: number;
  /** The user whom a SubjectAccessReview asks about. */
  readonly askedPerson?: AskedPerson;
}

/**
 * The audit policy of the API server. Leases and Events never count as writes. Only its response shows whether a request
 * changed anything: an apply without changes is answered with 200 and the old resourceVersion.
 */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  omitManagedFields: true,
  rules: [
    {
      level: 'None',
      resources: [
        { group: '', resources: ['events'] },
        { group: 'events.k8s.io', resources: ['events'] },
        { group: 'coordination.k8s.io', resources: ['leases'] },
      ],
    },
    { level: 'None', nonResourceURLs: ['*'] },
    { level: 'Metadata', verbs: ['get', 'list', 'watch'] },
    { level: 'Request', resources: [{ group: 'authorization.k8s.io', resources: [accessReviews] }] },
    {
      level: 'Metadata',
      resources: [
        { group: '', resources: ['serviceaccounts/token'] },
        { group: 'authentication.k8s.io', resources: ['*'] },
        { group: 'authorization.k8s.io', resources: ['*'] },
      ],
    },
    { level: 'RequestResponse' },
  ],
};

/** Parses the lines in order, from the first one on. Remembers the versions of every object. */
export class AuditParser {
  readonly #versions = new Set<string>();

  parse(line: string): AuditRecord {
    const event = JSON.parse(line) as AuditEvent;
    const isDryRun = isDry(event);
    return {
      ...requesterOf(event),
      ...targetOf(event),
      verb: event.verb,
      uri: event.requestURI,
      stage: event.stage,
      status: event.responseStatus?.code ?? 0,
      isDryRun,
      receivedAt: event.requestReceivedTimestamp,
      annotations: event.annotations ?? {},
      changes: isDryRun || !isDone(event) ? 0 : this.#changesOf(event),
      ...askedPersonOf(event),
    };
  }

  #changesOf({ verb, responseObject }: AuditEvent): number {
    if (responseObject === undefined) return 0;
    if (verb === 'deletecollection') return responseObject.items?.length ?? 0;
    // A delete returns a Status when the object is removed at once, and the object when it waits for its finalizers.
    if (verb === 'delete' && responseObject.kind === 'Status') return 1;
    return this.#isNew(responseObject) || isRemoval(verb, responseObject) ? 1 : 0;
  }

  /** A write gets a new resourceVersion. A later answer with the same version changed nothing. */
  #isNew({ metadata }: AuditedObject): boolean {
    if (metadata?.resourceVersion === undefined || metadata.uid === undefined) return false;
    const version = `${metadata.uid}@${metadata.resourceVersion}`;
    if (this.#versions.has(version)) return false;
    this.#versions.add(version);
    return true;
  }
}

export interface WriteFilter {
  readonly user?: string;
  readonly resource?: string;
  readonly namespace?: string;
}

/** Returns the requests that changed something. */
export function writesOf(records: readonly AuditRecord[], filter: WriteFilter = {}): readonly AuditRecord[] {
  return records.filter(
    (record) =>
      record.changes > 0 &&
      (filter.user === undefined || record.user === filter.user) &&
      (filter.resource === undefined || record.resource === filter.resource) &&
      (filter.namespace === undefined || record.namespace === filter.namespace),
  );
}

type Requester = Pick<AuditRecord, 'user' | 'authenticatedAs' | 'groups' | 'userAgent'>;

function requesterOf({ user, impersonatedUser, userAgent = '' }: AuditEvent): Requester {
  const { username, groups = [] } = impersonatedUser ?? user;
  return { user: username, authenticatedAs: user.username, groups, userAgent };
}

type Target = Pick<AuditRecord, 'resource' | 'subresource' | 'namespace' | 'name'>;

function targetOf({ objectRef = {}, responseObject }: AuditEvent): Target {
  const { resource = '', apiGroup, subresource = '', namespace = '', name } = objectRef;
  return {
    resource: apiGroup === undefined ? resource : `${resource}.${apiGroup}`,
    subresource,
    namespace,
    // The request of a create does not name its object.
    name: name ?? responseObject?.metadata?.name ?? '',
  };
}

function askedPersonOf({ objectRef, requestObject }: AuditEvent): Pick<AuditRecord, 'askedPerson'> {
  const { spec } = requestObject ?? {};
  return objectRef?.resource === accessReviews && spec !== undefined ? { askedPerson: spec } : {};
}

function isDone({ stage, responseStatus }: AuditEvent): boolean {
  const code = responseStatus?.code ?? 0;
  return stage === 'ResponseComplete' && code >= 200 && code < 300;
}

/** Only a delete may set dryRun in its body. */
function isDry({ requestURI, verb, requestObject }: AuditEvent): boolean {
  const { searchParams } = new URL(requestURI, 'https://localhost');
  return (
    searchParams.has('dryRun') || (verb.startsWith('delete') && (requestObject?.dryRun ?? []).length > 0)
  );
}

/** The update that removes the last finalizer removes the object. Its answer holds the last resourceVersion. */
function isRemoval(verb: string, { metadata, spec }: AuditedObject): boolean {
  return (
    (verb === 'update' || verb === 'patch') &&
    metadata?.deletionTimestamp !== undefined &&
    (metadata.finalizers ?? []).length === 0 &&
    (spec?.finalizers ?? []).length === 0
  );
}
