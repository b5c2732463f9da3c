// What the API server refuses to store: the status names the one cause, and never a value of a Secret.
import { beforeAll, expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { forbidden } from './support/forbidden.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap, share, source, type WrittenObject } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'rw-';
const canary = 'not-a-certificate-canary';

describeControllers('a write that the API server refuses', () => {
  const stage = new Stage(sharedCluster(), prefix);
  const namesakes = new Namesakes(stage, prefix);
  const reeve = withReeve(stage);

  beforeAll(async () => {
    await stage.apply(source('rw-source', { cert: canary, note: canary }));
  });

  const shared = (name: string, target: object): WrittenObject =>
    share(name, {
      source: { namespace: 'reeve-shared', name: 'rw-source' },
      targets: { names: ['rw-shared'] },
      target: { name, ...target },
    });
  const lines = (kind: 'NamespacePolicy' | 'SecretShare', name: string) => async (): Promise<string> =>
    (await stage.failures({ kind, name })).join();

  test('the status names the invalid field and what is wrong with it', async () => {
    await namesakes.makeNamespace('field');
    await stage.apply(
      namesakes.policy('field', { resources: [configMap('settings', { 'not a key': 'x' })] }),
    );
    await inTime(lines('NamespacePolicy', 'rw-field')).toMatch(/Rejected/);
    expect(await lines('NamespacePolicy', 'rw-field')()).toMatch(
      /^rw-field ConfigMap settings: Rejected, the API server finds it invalid: data\[not a key\]: Invalid value: /,
    );
    await inTime(() => stage.namespaceCondition('rw-field')).toBe('False Rejected');
  });

  test('the status names the ValidatingAdmissionPolicy that refuses an object', async () => {
    await namesakes.makeNamespace('policy');
    const path = '/api/v1/namespaces/rw-policy/configmaps?dryRun=All';
    const isLetThrough = async (): Promise<boolean> =>
      (await stage.cluster.admin.send('POST', path, { metadata: { name: 'probe' } })).status === 201;
    const writes = { namespace: 'rw-policy', resource: 'configmaps', operations: ['CREATE'] } as const;
    await using _ = await forbidden(stage, writes, isLetThrough);
    await stage.apply(namesakes.policy('policy', { resources: [configMap('settings', {})] }));
    await inTime(lines('NamespacePolicy', 'rw-policy')).toMatch(/Rejected/);
    expect(await lines('NamespacePolicy', 'rw-policy')()).toBe(
      'rw-policy ConfigMap settings: Rejected, ValidatingAdmissionPolicy forbidden-in-rw-policy refuses it: failed expression: false',
    );
  });

  test('a share whose keys do not fit its type is refused when it is written', async () => {
    const keys = [{ from: 'cert', to: 'tls.crt' }];
    const { code, stderr } = await stage.tryApply([
      shared('rw-refused', { type: 'kubernetes.io/tls', keys }),
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('tls.crt and tls.key among its keys if its type is kubernetes.io/tls'),
    ]);
  });

  test('a share says which key of its type the source does not have', async () => {
    await namesakes.makeNamespace('shared');
    await stage.apply(shared('rw-typed', { type: 'kubernetes.io/ssh-auth' }));
    const ref = { kind: 'SecretShare', name: 'rw-typed' } as const;
    await inTime(() => stage.condition(ref)).toBe('False KeyMissing');
    expect(JSON.stringify((await stage.mustGet(ref)).status)).toContain(
      'copies of type kubernetes.io/ssh-auth need ssh-privatekey, which the source does not give them',
    );
  });

  test('the status names the key of a Secret that is invalid, and never quotes the Secret', async () => {
    await namesakes.makeNamespace('shared');
    const keys = [{ from: 'cert', to: '.dockerconfigjson' }];
    await stage.apply(shared('rw-pull', { type: 'kubernetes.io/dockerconfigjson', keys }));
    await inTime(lines('SecretShare', 'rw-pull')).toBe(
      'rw-shared Secret rw-pull: Rejected, the API server finds it invalid: data[.dockerconfigjson] is invalid',
    );
    const { status } = await stage.mustGet({ kind: 'SecretShare', name: 'rw-pull' });
    const condition = await stage.kubectl('get', 'namespace', 'rw-shared', '-o=yaml');
    for (const text of [JSON.stringify(status), condition, reeve.process.output]) {
      expect(text).not.toContain(canary);
      expect(text).not.toContain(btoa(canary));
      // JSON parsers quote what they do not understand.
      expect(text).not.toContain('invalid character');
    }
  });
});
