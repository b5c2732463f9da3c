// Reads the golden fixtures of admission: short requests, written out to the AdmissionReviews that the API server sends.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '../../src/base/yaml.ts';
import { isProviderResource, type AnyReview } from '../../src/policy/terms/review.ts';

const fixtureRoot = 'test/fixtures/admission';
const pki = 'test/fixtures/pki';

interface CaseRequest {
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
};

export interface FixtureFolder {
  readonly name: string;
  readonly path: string;
  readonly cases: readonly string[];
  readonly files: readonly string[];
}

export function fixtureFolders(): readonly FixtureFolder[] {
  return readdirSync(fixtureRoot).map((name) => {
    const path = join(fixtureRoot, name);
    const files = readdirSync(path);
    const cases = files
      .filter((file) => file.endsWith('.request.yaml'))
      .map((file) => file.replace('.request.yaml', ''));
    return { name, path, cases, files };
  });
}

export function readRequest(folder: FixtureFolder, name: string): CaseRequest {
  const [document] = parseYaml(readFileSync(join(folder.path, `${name}.request.yaml`), 'utf8')).documents;
  if (document?.kind !== 'data') throw new Error(`${folder.name}/${name} is not a request`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fixtures are ours, and a wrong one fails its test
  return document.value as CaseRequest;
}

/** Of policies and shares somebody who may do whatever they say. */
function usualUser(resource: AnyReview['resource']): CaseRequest['user'] {
  return isProviderResource(resource)
    ? { username: 'admin', groups: ['system:masters'] }
    : { username: 'alice', groups: ['system:authenticated'] };
}

/** The whole AdmissionReview, as bytes of a body. */
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
        // For a Namespace, the API server gives its own name.
        namespace: request.namespace ?? (resource === 'namespaces' ? name : ''),
        operation: request.operation,
        userInfo: request.user ?? usualUser(resource),
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

/** `@good.crt` stands for the content of that file. */
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
