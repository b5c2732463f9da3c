// Tests that the sandbox knows every built-in kind: in discovery, in RBAC, and in the refusal of kinds that it does not store.
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { groupResource } from '../../src/sandbox/api-error.ts';
import { unstoredKinds } from '../../src/sandbox/kinds/unstored-kinds.ts';
import { apiVersionOf } from '../../src/sandbox/resource.ts';
import { differences } from './support/differences.ts';
import { mayDo } from './support/grant.ts';
import { type Backend, freshName } from './support/backend.ts';
import { onBothBackends, onEachBackend } from './support/backends.ts';
import { at, binding, configMap } from './support/objects.ts';

interface Named {
  readonly responseKind: { readonly kind: string };
  readonly verbs: readonly string[];
}

interface DiscoveredResource extends Named {
  readonly resource: string;
  readonly singularResource: string;
  readonly scope: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly (Named & { readonly subresource: string })[];
}

interface Group {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources: readonly DiscoveredResource[];
  }[];
}

/** Other tests define kinds of their own. */
const builtIn = /^([a-z]*|.+\.k8s\.io)$/;

/** Returns each built-in resource by version and name, in a form that compares. */
async function builtInResources({ api }: Backend): Promise<Record<string, object>> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const answers = await Promise.all(['/api', '/apis'].map((path) => api.get(path, { accept })));
  const groups = answers
    .flatMap(({ body }) => body.items as unknown as readonly Group[])
    .filter(({ metadata: { name = '' } }) => builtIn.test(name));
  const resources = groups.flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources: all }, preference) =>
      all.map((one) => {
        const what = `${one.resource}.${version}.${metadata.name ?? ''}`;
        return [what, { preference, ...comparable(one) }] as const;
      }),
    ),
  );
  return Object.fromEntries(resources);
}

function comparable({ subresources = [], ...one }: DiscoveredResource): object {
  const named = ({ responseKind, verbs }: Named): object => {
    return { kind: responseKind.kind, verbs: verbs.toSorted() };
  };
  const { singularResource, scope, shortNames = [], categories = [] } = one;
  const parts = subresources.map((part) => [part.subresource, named(part)] as const);
  return {
    ...named(one),
    singularResource,
    scope,
    shortNames,
    categories,
    subresources: Object.fromEntries(parts),
  };
}

interface RoleRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** Returns what a ClusterRole permits, as `verb resource.group`. */
async function permitted({ api }: Backend, role: string): Promise<readonly string[]> {
  const rules = (await api.get(at('clusterroles', '', role))).body['rules'] as readonly RoleRule[];
  const all = rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
    ),
  );
  return [...new Set(all)].toSorted();
}

onBothBackends('built-in kinds', (real, sandbox) => {
  it('built-in kinds are the same in the discovery of the sandbox as in that of the real control plane', async () => {
    expect(await builtInResources(sandbox)).toEqual(await builtInResources(real));
  });

  it.each(['view', 'edit', 'admin', 'system:basic-user'])('%s permits the same kinds', async (role) => {
    expect(await permitted(sandbox, role)).toEqual(await permitted(real, role));
  });
});

onEachBackend('a Deployment', (backend) => {
  let ns = '';
  beforeAll(async () => {
    ns = await backend.namespace();
  });

  it('a Deployment is known to kubectl auth can-i, by its names and by the rights of the user', async () => {
    const user = freshName('editor');
    const grantEdit = binding('RoleBinding', user, ['ClusterRole', 'edit'], user);
    await backend.api.must(backend.api.create(at('rolebindings', ns), grantEdit));
    const right = { verb: 'create', group: 'apps', resource: 'deployments', namespace: ns };
    await eventually(() => mayDo(backend, user, right)).toBe(true);
    const mayCreate = async (what: string, namespace: string): Promise<string> => {
      const { stdout, stderr } = await backend.kubectl([
        'auth',
        'can-i',
        'create',
        what,
        '-n',
        namespace,
        '--as',
        user,
      ]);
      return `${stdout}${stderr}`.trim();
    };
    for (const what of ['deployments.apps', 'deployments', 'deploy', 'deployment.v1.apps']) {
      expect(await mayCreate(what, ns), what).toBe('yes');
      expect(await mayCreate(what, 'default'), what).toBe('no');
    }
  });
});

onEachBackend('kinds that the sandbox does not store', (backend) => {
  const unstored = unstoredKinds.map((kind) => ({ ...kind, what: groupResource(kind) }));

  it.each(unstored.filter(({ verbs }) => verbs === undefined))(
    'a list of $what ($version) is refused by the sandbox alone',
    async (kind) => {
      const root = kind.group === '' ? '/api' : '/apis';
      const { status, body } = await backend.api.get(`${root}/${apiVersionOf(kind)}/${kind.plural}`);
      expect(status, body.message).toBe(backend.expects(differences.unstoredKind));
      if (status === 501) expect(body.message).toBe(`${kind.what}: not served by the sandbox`);
    },
  );

  it('kubectl shows the objects of all other kinds when it asks for every kind', async () => {
    const ns = await backend.namespace();
    await backend.api.must(backend.api.create(at('configmaps', ns), configMap('one')));
    const kinds = await backend.mustKubectl(['api-resources', '--verbs=list', '--namespaced', '-o', 'name']);
    const every = kinds.trim().replaceAll('\n', ',');
    const { code, stdout, stderr } = await backend.kubectl(['get', every, '-n', ns, '-o', 'name']);
    expect(stdout.split('\n')).toContain('configmap/one');
    expect(code, stderr).toBe(backend.expects(differences.everyKindShown));
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('Warning: '));
    for (const line of lines)
      expect(line).toMatch(/^Error from server \(NotImplemented\): \S+: not served by the sandbox$/);
  });
});
