// Tests kubectl as people use it: what it sends and what it prints.
import { beforeAll, describe, expect, it } from 'vitest';
import { mayDo } from './support/grant.ts';
import { eventually } from '../support/eventually.ts';
import { watchWithKubectl } from '../e2e/support/kubectl-watch.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, binding, configMap, share, shareSpec } from './support/objects.ts';

const yaml = (object: object): string => JSON.stringify(object);

onEachBackend('kubectl', (backend) => {
  let ns = '';
  beforeAll(async () => {
    await backend.installKinds();
    ns = await backend.namespace();
  });

  /** Returns the output without the spaces that align it. */
  const run = async (...args: readonly string[]): Promise<string> =>
    squeezed(await backend.mustKubectl(args));
  const refusal = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stderr } = await backend.kubectl(args, { input });
    expect(code, stderr).toBe(1);
    return stderr;
  };
  const applied = async (object: object, ...args: readonly string[]): Promise<string> =>
    squeezed(await backend.mustKubectl(['apply', '-n', ns, '-f', '-', ...args], { input: yaml(object) }));

  describe('create', () => {
    it('kubectl create creates objects with its generators', async () => {
      const name = freshName('made');
      expect(await run('create', 'namespace', name)).toBe(`namespace/${name} created`);
      expect(await run('create', 'configmap', 'a', '-n', name, '--from-literal=b=c')).toBe(
        'configmap/a created',
      );
      expect(await run('create', 'secret', 'generic', 'a', '-n', name, '--from-literal=b=c')).toBe(
        'secret/a created',
      );
      expect(await run('create', 'serviceaccount', 'a', '-n', name)).toBe('serviceaccount/a created');
      expect(await run('create', 'quota', 'a', '-n', name, '--hard=pods=3')).toBe('resourcequota/a created');
      expect(await run('create', 'role', 'a', '-n', name, '--verb=get', '--resource=configmaps,leases')).toBe(
        'role.rbac.authorization.k8s.io/a created',
      );
      expect(await run('create', 'rolebinding', 'a', '-n', name, '--role=a', '--user=ann')).toBe(
        'rolebinding.rbac.authorization.k8s.io/a created',
      );
      expect(await run('create', 'token', 'a', '-n', name)).toMatch(/^\S{16,}$/);
      expect(await refusal(['create', 'configmap', 'a', '-n', name])).toBe(
        'error: failed to create configmap: configmaps "a" already exists\n',
      );
      expect(await run('delete', 'namespace', name, '--wait=false')).toBe(`namespace "${name}" deleted`);
    });

    it('kubectl create refuses a misspelled field', async () => {
      const input = yaml({ ...share(freshName('share')), spec: { ...shareSpec, suspended: true } });
      expect(await refusal(['create', '-f', '-'], input)).toContain('unknown field "spec.suspended"');
    });
  });

  describe('apply', () => {
    it('kubectl apply creates, keeps and changes objects', async () => {
      expect(await applied(configMap('one', { a: 'b', c: 'd' }))).toBe('configmap/one created');
      expect(await applied(configMap('one', { a: 'b', c: 'd' }))).toBe('configmap/one unchanged');
      expect(await applied(configMap('one', { a: 'e' }))).toBe('configmap/one configured');
      const { body } = await backend.api.get(at('configmaps', ns, 'one'));
      expect(body.data).toEqual({ a: 'e' });
      expect(body.metadata.annotations).toHaveProperty(['kubectl.kubernetes.io/last-applied-configuration']);
    });

    it('kubectl apply creates, keeps and changes objects of the kinds of Reeve', async () => {
      const name = freshName('share');
      expect(await applied(share(name))).toBe(`secretshare.reeve.dev/${name} created`);
      const changed = share(name, { ...shareSpec, suspend: true });
      expect(await applied(changed, '--dry-run=server')).toBe(
        `secretshare.reeve.dev/${name} configured (server dry run)`,
      );
      expect(await applied(changed)).toBe(`secretshare.reeve.dev/${name} configured`);
      expect(await run('delete', 'sshare', name)).toBe(`secretshare.reeve.dev "${name}" deleted`);
    });

    it('kubectl apply works with --server-side', async () => {
      const serverSide = '--server-side';
      expect(await applied(configMap('two', { a: 'b' }), serverSide)).toBe(
        'configmap/two serverside-applied',
      );
      const manager = ['--field-manager=other', serverSide];
      const input = yaml(configMap('two', { a: 'c' }));
      const said = await refusal(['apply', '-n', ns, '-f', '-', ...manager], input);
      expect(said).toContain('Apply failed with 1 conflict: conflict with "kubectl": .data.a');
      expect(await applied(configMap('two', { a: 'c' }), ...manager, '--force-conflicts')).toBe(
        'configmap/two serverside-applied',
      );
    });

    it('kubectl apply moves from client-side to server-side apply', async () => {
      await applied(configMap('three', { a: 'b', c: 'd' }));
      expect(await applied(configMap('three', { a: 'b' }), '--server-side')).toBe(
        'configmap/three serverside-applied',
      );
      expect((await backend.api.get(at('configmaps', ns, 'three'))).body.data).toEqual({ a: 'b' });
    });

    it('kubectl apply merges the lists of built-in kinds', async () => {
      const policy = (...ports: readonly number[]): object => ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'ports' },
        spec: { podSelector: {}, ingress: [{ ports: ports.map((port) => ({ port, protocol: 'TCP' })) }] },
      });
      expect(await applied(policy(80, 443))).toBe('networkpolicy.networking.k8s.io/ports created');
      expect(await applied(policy(443))).toBe('networkpolicy.networking.k8s.io/ports configured');
      expect(await applied(policy(443))).toBe('networkpolicy.networking.k8s.io/ports unchanged');
    });

    it('kubectl apply shows a difference', async () => {
      await applied(configMap('four', { a: 'b' }));
      const input = yaml(configMap('four', { a: 'c' }));
      const { code, stdout } = await backend.kubectl(['diff', '-n', ns, '-f', '-'], { input });
      expect(code).toBe(1);
      expect(stdout).toContain('-  a: b\n+  a: c\n');
    });
  });

  describe('get', () => {
    it('kubectl get shows tables', async () => {
      await applied(configMap('shown', { a: 'b' }, { labels: { shown: 'yes' } }));
      const lines = (await run('get', 'cm', '-n', ns, '-l', 'shown=yes')).split('\n');
      expect(lines[0]).toBe('NAME DATA AGE');
      expect(lines[1]).toMatch(/^shown 1 \d+s$/);
      expect(await run('get', 'cm', '-A', '-l', 'shown=yes', '--no-headers')).toMatch(
        new RegExp(`^${ns} shown 1 \\d+s$`, 'm'),
      );
      expect(await run('get', 'cm', 'shown', '-n', ns, '--show-labels', '-L', 'shown')).toContain(
        'NAME DATA AGE SHOWN LABELS',
      );
    });

    it('kubectl get shows the columns of the kinds of Reeve, by short name and by category', async () => {
      const name = freshName('share');
      await applied(share(name));
      expect(await run('get', 'sshare', name)).toMatch(
        new RegExp(`^NAME SOURCE DESIRED SYNCED CONFLICTS READY REASON AGE\n${name} nothing \\d+s$`),
      );
      expect(await run('get', 'reeve', '-o', 'name')).toContain(`secretshare.reeve.dev/${name}`);
      expect(await run('get', 'sshare', name, '-o', 'wide')).toContain('SOURCE-NAMESPACE');
      await run('delete', 'sshare', name);
    });

    it('kubectl get sorts, selects and prints', async () => {
      for (const [name, value] of [
        ['sort-a', '2'],
        ['sort-b', '1'],
      ] as const) {
        await applied(configMap(name, { value }, { labels: { sorted: 'yes' } }));
      }
      const selected = ['-n', ns, '-l', 'sorted=yes'];
      expect(await run('get', 'cm', ...selected, '--sort-by=.data.value', '-o', 'name')).toBe(
        'configmap/sort-b\nconfigmap/sort-a',
      );
      expect(await run('get', 'cm', ...selected, '-o', 'jsonpath={.items[*].data.value}')).toBe('2 1');
      expect(
        await run('get', 'cm', ...selected, '-o', 'custom-columns=V:.data.value', '--chunk-size=1'),
      ).toBe('V\n2\n1');
    });

    it('kubectl get reports that no objects were found', async () => {
      const { stderr } = await backend.kubectl(['get', 'leases', '-n', ns]);
      expect(stderr).toBe(`No resources found in ${ns} namespace.\n`);
      expect(await refusal(['get', 'cm', 'none', '-n', ns])).toBe(
        'Error from server (NotFound): configmaps "none" not found\n',
      );
      expect(await refusal(['get', 'nothings'])).toBe(
        'error: the server doesn\'t have a resource type "nothings"\n',
      );
    });

    it('kubectl get prints changes while it watches', async () => {
      await applied(configMap('watched', { a: '1' }));
      await using watch = await watchWithKubectl(backend, ['cm', 'watched', '-n', ns], '{.data.a}');
      await applied(configMap('watched', { a: '2' }));
      await eventually(() => watch.lines).toEqual(['1', '2']);
    });
  });

  describe('the description', () => {
    it('kubectl describe shows everything about an object', async () => {
      await applied(configMap('told', { a: 'b' }, { labels: { told: 'yes' } }));
      const said = await run('describe', 'cm', 'told', '-n', ns);
      expect(said).toContain(`Name: told\nNamespace: ${ns}\nLabels: told=yes`);
      expect(said).toContain('Events: <none>');
      expect(await run('describe', 'ns', ns)).toContain('Status: Active');
      const name = freshName('share');
      await applied(share(name));
      expect(await run('describe', 'sshare', name)).toContain('Kind: SecretShare');
      await run('delete', 'sshare', name);
    });
  });

  describe('changes', () => {
    it('labels, annotations and patches', async () => {
      await applied(configMap('changed', { a: 'b' }));
      const target = ['cm', 'changed', '-n', ns];
      expect(await run('label', ...target, 'one=two')).toBe('configmap/changed labeled');
      expect(await refusal(['label', ...target, 'one=three'])).toContain("'one' already has a value (two)");
      expect(await run('label', ...target, 'one=three', '--overwrite')).toBe('configmap/changed labeled');
      expect(await run('label', ...target, 'one-')).toBe('configmap/changed unlabeled');
      expect(await run('annotate', ...target, 'note=that')).toBe('configmap/changed annotated');
      for (const [type, patch] of [
        ['merge', '{"data":{"m":"1"}}'],
        ['strategic', '{"data":{"s":"2"}}'],
        ['json', '[{"op":"add","path":"/data/j","value":"3"}]'],
      ] as const) {
        expect(await run('patch', ...target, `--type=${type}`, '-p', patch)).toBe(
          'configmap/changed patched',
        );
      }
      const { body } = await backend.api.get(at('configmaps', ns, 'changed'));
      expect(body.data).toEqual({ a: 'b', m: '1', s: '2', j: '3' });
      expect(body.metadata.annotations).toMatchObject({ note: 'that' });
    });

    it('kubectl replaces objects, and is refused with an outdated version', async () => {
      const path = at('configmaps', ns);
      const { metadata } = await backend.api.must(
        backend.api.create(path, configMap('replaced', { a: 'b' })),
      );
      const stale = configMap('replaced', { a: 'c' }, { resourceVersion: metadata.resourceVersion });
      const input = yaml(stale);
      expect(await backend.mustKubectl(['replace', '-n', ns, '-f', '-'], { input })).toBe(
        'configmap/replaced replaced\n',
      );
      expect(await refusal(['replace', '-n', ns, '-f', '-'], input)).toContain(
        'Error from server (Conflict)',
      );
    });

    it('kubectl writes a status', async () => {
      const name = freshName('share');
      await applied(share(name));
      const patch = yaml({ status: { desired: 2 } });
      const target = ['sshare', name, '--type=merge', '-p', patch];
      expect(await run('patch', ...target, '--subresource=status')).toBe(
        `secretshare.reeve.dev/${name} patched`,
      );
      expect(await run('get', 'sshare', name, '-o', 'jsonpath={.status.desired}')).toBe('2');
      await run('delete', 'sshare', name);
    });
  });

  it('kubectl waits for conditions, for values and for deletion', async () => {
    const name = freshName('waited');
    await run('create', 'namespace', name);
    expect(await run('wait', 'ns', name, '--for=jsonpath={.status.phase}=Active', '--timeout=30s')).toBe(
      `namespace/${name} condition met`,
    );
    const crd = 'crd/secretshares.reeve.dev';
    expect(await run('wait', crd, '--for=condition=Established', '--timeout=30s')).toContain('condition met');
    const [waited] = await Promise.all([
      run('wait', 'ns', name, '--for=delete', '--timeout=60s'),
      run('delete', 'ns', name),
    ]);
    expect(['', `namespace/${name} condition met`]).toContain(waited);
  });

  it('kubectl deletes by label, and ignores missing objects when asked to', async () => {
    await applied(configMap('gone', {}, { labels: { going: 'yes' } }));
    expect(await run('delete', 'cm', '-n', ns, '-l', 'going=yes')).toBe('configmap "gone" deleted');
    expect(await run('delete', 'cm', 'gone', '-n', ns, '--ignore-not-found')).toBe('');
  });

  describe('auth', () => {
    it('kubectl auth can-i prints what a user may do', async () => {
      const bound = binding('RoleBinding', 'viewers', ['ClusterRole', 'view'], 'ct-viewer');
      await backend.api.must(backend.api.create(at('rolebindings', ns), bound));
      const asks = { verb: 'get', resource: 'configmaps', namespace: ns };
      await eventually(() => mayDo(backend, 'ct-viewer', asks)).toBe(true);
      const may = async (...args: readonly string[]): Promise<string> =>
        (await backend.kubectl(['auth', 'can-i', ...args, '-n', ns, '--as=ct-viewer'])).stdout.trim();
      expect(await may('get', 'configmaps')).toBe('yes');
      expect(await may('create', 'configmaps')).toBe('no');
      expect(await may('use', 'sshare/anything')).toBe('no');
      expect(squeezed(await may('--list'))).toMatch(/^configmaps \[\] \[\] \[get list watch\]$/m);
    });

    it('kubectl auth whoami prints the user', async () => {
      const said = await run('auth', 'whoami', '--as=ann', '--as-group=ct-team');
      expect(said).toContain('Username ann');
      expect(said).toContain('ct-team');
    });

    it('kubectl auth can-i prints the refusal of RBAC', async () => {
      expect(await refusal(['get', 'secrets', '-n', ns, '--as=ct-nobody'])).toBe(
        `Error from server (Forbidden): secrets is forbidden: User "ct-nobody" cannot list resource "secrets" in API group "" in the namespace "${ns}"\n`,
      );
    });
  });

  it('kubectl prints the versions and the kinds', async () => {
    expect(await run('version')).toMatch(/^Server Version: v1\.\d+\.\d+/m);
    expect(await run('api-versions')).toContain('reeve.dev/v1alpha1');
    expect(await run('api-resources', '--api-group=reeve.dev', '--no-headers')).toContain(
      'secretshares sshare reeve.dev/v1alpha1 false SecretShare',
    );
  });
});

function squeezed(output: string): string {
  return output
    .trim()
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .join('\n');
}
