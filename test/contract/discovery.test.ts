// Tests discovery: the served kinds in one answer for all groups, and in one answer for each group.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { onEachBackend } from './support/backends.ts';

interface Served {
  readonly at: string;
  readonly plural: string;
  readonly kind: string;
  readonly singular: string;
  readonly isNamespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly verbs?: readonly string[];
}

const full = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const createOnly = ['create'];

function served(at: string, kind: string, isNamespaced: boolean, rest: Partial<Served> = {}): Served {
  const singular = kind.toLowerCase();
  const plural = singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
  return { at, plural, kind, singular, isNamespaced, ...rest };
}

const rbac = 'apis/rbac.authorization.k8s.io/v1';
const admission = 'apis/admissionregistration.k8s.io/v1';
const authorization = 'apis/authorization.k8s.io/v1';
const reeve = 'apis/reeve.dev/v1alpha1';

const kinds: readonly Served[] = [
  served('api/v1', 'Namespace', false, {
    shortNames: ['ns'],
    verbs: full.filter((verb) => verb !== 'deletecollection'),
  }),
  served('api/v1', 'Secret', true),
  served('api/v1', 'ConfigMap', true, { shortNames: ['cm'] }),
  served('api/v1', 'ServiceAccount', true, { shortNames: ['sa'] }),
  served('api/v1', 'ResourceQuota', true, { shortNames: ['quota'] }),
  served('api/v1', 'LimitRange', true, { shortNames: ['limits'] }),
  served('api/v1', 'Event', true, { shortNames: ['ev'] }),
  served('apis/events.k8s.io/v1', 'Event', true, { shortNames: ['ev'] }),
  served('apis/networking.k8s.io/v1', 'NetworkPolicy', true, { shortNames: ['netpol'] }),
  served('apis/coordination.k8s.io/v1', 'Lease', true),
  served(rbac, 'Role', true),
  served(rbac, 'RoleBinding', true),
  served(rbac, 'ClusterRole', false),
  served(rbac, 'ClusterRoleBinding', false),
  served(admission, 'MutatingWebhookConfiguration', false),
  served(admission, 'ValidatingWebhookConfiguration', false),
  served(admission, 'ValidatingAdmissionPolicy', false),
  served(admission, 'ValidatingAdmissionPolicyBinding', false),
  served('apis/apiextensions.k8s.io/v1', 'CustomResourceDefinition', false, { shortNames: ['crd', 'crds'] }),
  served(authorization, 'SubjectAccessReview', false, { verbs: createOnly }),
  served(authorization, 'SelfSubjectAccessReview', false, { verbs: createOnly }),
  served(authorization, 'SelfSubjectRulesReview', false, { verbs: createOnly }),
  served(authorization, 'LocalSubjectAccessReview', true, { verbs: createOnly }),
  served('apis/authentication.k8s.io/v1', 'SelfSubjectReview', false, { verbs: createOnly }),
  served('apis/authentication.k8s.io/v1', 'TokenReview', false, { verbs: createOnly }),
  served(reeve, 'NamespacePolicy', false, { shortNames: ['nspol'] }),
  served(reeve, 'SecretShare', false, { shortNames: ['sshare'] }),
  served(reeve, 'SecurityIntent', false, { shortNames: ['sint'] }),
  served(reeve, 'ClusterSecurityIntentBinding', false, { shortNames: ['csib'] }),
  served(reeve, 'SecurityIntentBinding', true, { shortNames: ['sib'] }),
];

interface Resource {
  readonly name: string;
  readonly singularName: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

interface AggregatedResource {
  readonly resource: string;
  readonly singularResource: string;
  readonly responseKind: { readonly kind: string };
  readonly scope: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string; readonly verbs: readonly string[] }[];
}

interface AggregatedGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources: readonly AggregatedResource[];
  }[];
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

onEachBackend('discovery', (backend) => {
  beforeAll(() => backend.installKinds());

  const plain = async (path: string): Promise<readonly Resource[]> =>
    (await backend.api.must(backend.api.get(`/${path}`)))['resources'] as readonly Resource[];

  it.each(kinds)('$at $plural', async ({ at, plural, kind, singular, isNamespaced, ...rest }) => {
    const found = (await plain(at)).find(({ name }) => name === plural);
    expect(found).toMatchObject({ kind, singularName: singular, namespaced: isNamespaced });
    expect([...(found?.verbs ?? [])].sort()).toEqual(rest.verbs ?? full);
    expect(found?.shortNames ?? []).toEqual(rest.shortNames ?? []);
  });

  describe('in one document', () => {
    const groups = async (path: string): Promise<readonly AggregatedGroup[]> => {
      const { body, type } = await backend.api.get(path, { accept: `${aggregated},application/json` });
      expect(type.replaceAll(' ', '')).toBe(aggregated);
      expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
      return body.items as unknown as readonly AggregatedGroup[];
    };

    const resourceAt = (all: readonly AggregatedGroup[], path: string, plural: string): unknown => {
      const [version, group = ''] = path.split('/').slice(1).toReversed();
      const found = all.find(({ metadata }) => (metadata.name ?? '') === group);
      const its = found?.versions.find((entry) => entry.version === version);
      return its?.resources.find(({ resource }) => resource === plural);
    };

    it('discovery in one document holds the same as the documents of the groups', async () => {
      const all = [...(await groups('/api')), ...(await groups('/apis'))];
      for (const { at, plural, kind, singular, isNamespaced, ...rest } of kinds) {
        const found = resourceAt(all, at, plural);
        expect(found, at).toMatchObject({
          responseKind: { kind },
          singularResource: singular,
          scope: isNamespaced ? 'Namespaced' : 'Cluster',
        });
        const { verbs, shortNames = [] } = found as AggregatedResource;
        expect([...verbs].sort(), at).toEqual(rest.verbs ?? full);
        expect(shortNames, at).toEqual(rest.shortNames ?? []);
      }
    });

    it('discovery in one document lists subresources below their resource', async () => {
      const core = (await groups('/api'))[0]?.versions[0]?.resources ?? [];
      const namespaces = core.find(({ resource }) => resource === 'namespaces');
      const subresources = namespaces?.subresources?.map(({ subresource }) => subresource);
      expect([...(subresources ?? [])].sort()).toEqual(['finalize', 'status']);
    });
  });

  it.each([
    ['api/v1', 'namespaces/status', ['get', 'patch', 'update']],
    ['api/v1', 'namespaces/finalize', ['update']],
    ['api/v1', 'serviceaccounts/token', ['create']],
    [reeve, 'secretshares/status', ['get', 'patch', 'update']],
  ])('%s %s', async (at, name, verbs) => {
    const found = (await plain(at)).find((resource) => resource.name === name);
    expect([...(found?.verbs ?? [])].sort()).toEqual(verbs);
  });

  it('discovery names the category of the kinds of Reeve', async () => {
    const found = (await plain(reeve)).find(({ name }) => name === 'secretshares');
    expect(found?.categories).toEqual(['reeve']);
  });

  it('discovery lists the versions of the core and of the groups', async () => {
    const core = await backend.api.get('/api');
    expect(core.body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const { body } = await backend.api.get('/apis');
    expect(body).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
    const groups = body['groups'] as readonly { name: string; preferredVersion: object }[];
    const version = { groupVersion: 'reeve.dev/v1alpha1', version: 'v1alpha1' };
    expect(groups.find(({ name }) => name === 'reeve.dev')).toEqual({
      name: 'reeve.dev',
      versions: [version],
      preferredVersion: version,
    });
    const group = await backend.api.get('/apis/reeve.dev');
    expect(group.body).toMatchObject({ kind: 'APIGroup', name: 'reeve.dev', versions: [version] });
  });

  it('discovery has a version that kubectl can read', async () => {
    const { status, body } = await backend.api.get('/version');
    expect(status).toBe(200);
    expect(body).toMatchObject({ major: '1', gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/) as string });
  });

  it.each(['/healthz', '/livez', '/readyz'])('%s answers ok', async (path) => {
    expect(await backend.api.get(path)).toMatchObject({ status: 200, text: 'ok' });
  });

  it('discovery is permitted to all authenticated users', async () => {
    const somebody = backend.as('somebody');
    for (const path of ['/api', '/apis', '/api/v1', '/version']) {
      expect((await somebody.get(path)).status, path).toBe(200);
    }
  });

  it.each(['api/v1', rbac, reeve])('discovery has an OpenAPI document for %s', async (path) => {
    const url = async (): Promise<string> => {
      const { status, body } = await backend.api.get('/openapi/v3');
      expect(status).toBe(200);
      const paths = body['paths'] as Readonly<Record<string, { readonly serverRelativeURL: string }>>;
      return paths[path]?.serverRelativeURL ?? '';
    };
    expect(await url()).toMatch(new RegExp(`^/openapi/v3/${path}`));
    // The URL contains a hash of the document, which changes while the API server publishes new kinds.
    await eventually(async () => (await backend.api.get(await url())).body['openapi']).toMatch(/^3\./);
  });
});
