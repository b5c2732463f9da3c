// Reads the golden cases of admission, and writes a short request out as the AdmissionReview of the API server.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../src/base/json.ts';
import { parseYaml } from '../../src/base/yaml.ts';
import { isProviderResource, type AnyReview } from '../../src/policy/terms/review.ts';

const fixtureRoot = 'test/fixtures/admission';
const pki = 'test/fixtures/pki';

export interface CaseRequest {
  readonly operation: string;
  readonly resource?: AnyReview['resource'];
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly user?: { readonly username: string; readonly groups?: readonly string[] };
  readonly dryRun?: boolean;
  readonly object?: Readonly<Record<string, unknown>>;
  readonly oldObject?: Readonly<Record<string, unknown>>;
}

const kinds = {
  namespaces: { group: '', version: 'v1', kind: 'Namespace' },
  secrets: { group: '', version: 'v1', kind: 'Secret' },
  roles: { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' },
  rolebindings: { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleBinding' },
  namespacepolicies: { group: 'reeve.dev', version: 'v1alpha1', kind: 'NamespacePolicy' },
  secretshares: { group: 'reeve.dev', version: 'v1alpha1', kind: 'SecretShare' },
  configmapshares: { group: 'reeve.dev', version: 'v1alpha1', kind: 'ConfigMapShare' },
  securityintents: { group: 'reeve.dev', version: 'v1alpha1', kind: 'SecurityIntent' },
  clustersecurityintentbindings: {
    group: 'reeve.dev',
    version: 'v1alpha1',
    kind: 'ClusterSecurityIntentBinding',
  },
  securityintentbindings: { group: 'reeve.dev', version: 'v1alpha1', kind: 'SecurityIntentBinding' },
  namespaceclaims: { group: 'reeve.dev', version: 'v1alpha1', kind: 'NamespaceClaim' },
};

export interface FixtureFolder {
  readonly name: string;
  readonly path: string;
  /** All files of the folder: policies, requests, expected answers and, where needed, the cluster. */
  readonly files: readonly string[];
  readonly requests: ReadonlyMap<string, CaseRequest>;
  /** Empty before the first `--update`. */
  readonly expected: ReadonlyMap<string, unknown>;
}

export function fixtureFolders(): readonly FixtureFolder[] {
  return readdirSync(fixtureRoot).map((name) => {
    const path = join(fixtureRoot, name);
    const expectedFile = join(path, 'expected.yaml');
    return {
      name,
      path,
      files: readdirSync(path),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fixtures are ours, and a wrong one fails its test
      requests: casesIn(join(path, 'requests.yaml')) as ReadonlyMap<string, CaseRequest>,
      expected: existsSync(expectedFile) ? casesIn(expectedFile) : new Map(),
    };
  });
}

/** Returns the entries of a file by the name of their case. */
function casesIn(file: string): ReadonlyMap<string, unknown> {
  const [document, ...more] = parseYaml(readFileSync(file, 'utf8')).documents;
  if (document?.kind === 'broken') throw new Error(`${file}: ${JSON.stringify(document.problems)}`);
  if (document?.kind !== 'data' || more.length > 0 || !isJsonObject(document.value)) {
    throw new Error(`${file} must be one mapping from the name of a case to its content`);
  }
  return new Map(Object.entries(document.value));
}

/** Cluster administrators write policies and shares. Alice sends all other requests. */
function defaultUser(resource: AnyReview['resource']): CaseRequest['user'] {
  return isProviderResource(resource)
    ? { username: 'admin', groups: ['system:masters'] }
    : { username: 'alice', groups: ['system:authenticated'] };
}

/** Returns the whole AdmissionReview as the bytes of a request body. */
export function reviewBody(request: CaseRequest): Buffer {
  const resource = request.resource ?? 'namespaces';
  const kind = kinds[resource];
  const metadata = metadataOf(request.object ?? request.oldObject);
  const name = request.name ?? metadata['name'] ?? '';
  return Buffer.from(
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
        kind,
        resource: { group: kind.group, version: kind.version, resource },
        ...(request.subResource === undefined ? {} : { subResource: request.subResource }),
        name,
        // In a review of a Namespace, the API server sends the Namespace's name as its namespace.
        namespace: request.namespace ?? (resource === 'namespaces' ? name : ''),
        operation: request.operation,
        userInfo: request.user ?? defaultUser(resource),
        object: objectOf(request.object, kind),
        oldObject: objectOf(request.oldObject, kind),
        dryRun: request.dryRun ?? false,
        options: null,
      },
    }),
  );
}

function objectOf(object: CaseRequest['object'], kind: (typeof kinds)[keyof typeof kinds]): unknown {
  if (object === undefined) return null;
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return {
    apiVersion,
    kind: kind.kind,
    ...object,
    ...('data' in object ? { data: filesIn(object['data'], 'base64') } : {}),
    ...('stringData' in object ? { stringData: filesIn(object['stringData'], 'utf8') } : {}),
  };
}

/** Replaces `@good.crt` by the content of that file. */
function filesIn(map: unknown, encoding: 'base64' | 'utf8'): unknown {
  if (typeof map !== 'object' || map === null) return map;
  return Object.fromEntries(
    Object.entries(map).map(([key, value]: [string, unknown]) =>
      typeof value === 'string' && value.startsWith('@')
        ? [key, readFileSync(join(pki, value.slice(1))).toString(encoding)]
        : [key, value],
    ),
  );
}

function metadataOf(object: CaseRequest['object']): Readonly<Record<string, unknown>> {
  const metadata = object?.['metadata'];
  return typeof metadata === 'object' && metadata !== null ? { ...metadata } : {};
}
