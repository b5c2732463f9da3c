// A marked value passes through every path on a cluster. No output of Reeve contains it, not even at the lowest log level.
import { expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { namespaceObject, policy, share, source, type WrittenObject } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const canary = 'c4n4ry-on-a-cluster';
/** The base64 of any text that contains the value contains one of these, whatever precedes the value. */
const traces = [
  canary,
  ...[0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + canary)
      .toString('base64')
      .slice(4, -4),
  ),
];

describeControllers('the bytes of Secrets', () => {
  const stage = new Stage(sharedCluster(), 'ca-');
  const reeve = withReeve(stage, { args: ['--log-level=trace'] });

  function secret(name: string, type: string, stringData: Readonly<Record<string, string>>): WrittenObject {
    const annotations = { note: canary };
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'ca-one', annotations },
      type,
      stringData,
    };
  }

  test('the bytes of Secrets are in no log line, metric, event, status, warning or refusal', async () => {
    const names = { names: ['ca-*'] };
    await stage.apply(
      namespaceObject('ca-one', {}),
      secret('ca-taken', 'Opaque', { password: canary }),
      source('ca-source', { password: canary }),
      source('ca-other', { password: canary }),
      source('ca-user', { user: canary }),
      policy('ca-rules', {
        match: names,
        validationActions: ['Deny', 'Audit'],
        secrets: {
          maxBytes: 10_000,
          tls: { keyMatchesCertificate: true },
          dockerConfig: { allowedRegistries: ['registry.example.com'] },
        },
      }),
      share('ca-share', {
        source: { namespace: 'reeve-shared', name: 'ca-source' },
        targets: names,
        target: { name: 'ca' },
      }),
      share('ca-built', {
        source: { namespace: 'reeve-shared', name: 'ca-source' },
        targets: names,
        target: { name: 'ca-built', template: { url: 'x://${data.password}' } },
      }),
      share('ca-failing', {
        sources: ['ca-source', 'ca-user'].map((name) => ({ namespace: 'reeve-shared', name })),
        targets: names,
        target: {
          name: 'ca-failing',
          template: { a: '${string(int(data.password))}', b: '${data[data.password]}' },
        },
      }),
      share('ca-registry', {
        sources: ['ca-source', 'ca-user'].map((name) => ({ namespace: 'reeve-shared', name })),
        targets: names,
        target: {
          name: 'ca-registry',
          dockerConfig: { registry: 'other.example.com', usernameKey: 'user', passwordKey: 'password' },
        },
      }),
      share('ca-conflict', {
        source: { namespace: 'reeve-shared', name: 'ca-other' },
        targets: names,
        target: { name: 'ca-taken' },
      }),
    );
    const copy = { kind: 'Secret', name: 'ca', namespace: 'ca-one' } as const;
    await until(
      async () => (await stage.ownersOf(copy))[0] === 'SecretShare/ca-share',
      () => reeve.process.output.slice(-2000),
    );
    const refused = await Promise.all(
      [
        secret('a', 'kubernetes.io/tls', { 'tls.crt': canary, 'tls.key': canary }),
        secret('b', 'kubernetes.io/dockerconfigjson', {
          '.dockerconfigjson': JSON.stringify({
            auths: { 'other.example.com': { auth: canary, password: canary } },
          }),
        }),
        secret('c', 'Opaque', { password: canary.repeat(1000) }),
      ].map((each) => stage.tryApply([each])),
    );
    for (const { code, stderr } of refused) {
      expect(code).toBe(1);
      expect(stderr).toContain('policy ca-rules');
    }
    const conflict = { kind: 'SecretShare', name: 'ca-conflict' } as const;
    await until(
      async () => (await stage.condition(conflict)) === 'False Conflicts',
      () => 'the conflict is told',
    );
    for (const [name, condition] of [
      ['ca-built', 'True Synced'],
      ['ca-failing', 'False TemplateFailed'],
      ['ca-registry', 'False Failed'],
    ] as const)
      await until(
        async () => (await stage.condition({ kind: 'SecretShare', name })) === condition,
        async () => await stage.condition({ kind: 'SecretShare', name }),
      );
    // Reeve rewrites a deleted, a changed and a tampered copy in three different ways.
    await stage.inEmergency('delete', 'secret', 'ca', '-n', 'ca-one');
    await stage.apply(source('ca-source', { password: `${canary}${canary}`, another: canary }));
    await until(
      async () => JSON.stringify(await stage.get(copy)).includes('another'),
      () => 'the copy follows its source',
    );
    const said = [
      reeve.process.output,
      await reeve.process.metrics(),
      await stage.kubectl('get', 'events', '-A', '-o=json'),
      await stage.kubectl('get', 'nspol,sshare,namespaces', '-o=json'),
      ...refused.map(({ stderr }) => stderr),
    ];
    // The copy did hold the value, and all of this output is about that copy.
    expect(JSON.stringify(await stage.get(copy))).toContain(
      Buffer.from(canary).toString('base64').slice(0, 20),
    );
    for (const [index, text] of said.entries()) {
      expect(text.length, `output ${index}`).toBeGreaterThan(index < 4 ? 100 : 0);
      for (const trace of traces) expect(text.includes(trace), `output ${index}`).toBe(false);
    }
  });
});
