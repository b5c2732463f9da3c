// The Reports that the reconciler keeps: their content is that of `reeve report`, and they follow what they report.
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { namespaceReports } from '../../../../src/inspect/report/open-reports.ts';
import { objectTypeOf } from '../../../../src/base/object-type.ts';
import { failure } from '../../../support/memory-objects.ts';
import { bindingOf } from '../../../support/provided.ts';
import type { Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const made = useHarness();
/** Longer than a Report waits for other changes. */
const waitMs = 6000;
const reportRef = { ...namespaceReports.type, name: 'reeve' };
const group = 'rbac.authorization.k8s.io';
const labels = { env: 'dev' };
const rules = { match: { names: ['team-*'] }, namespaces: { required: { labels: { env: {} } } } };

const harness = (
  options: ConstructorParameters<typeof Harness>[0] = {},
  unserved: readonly string[] = [],
): Harness => made({ reports: namespaceReports, ...options }, undefined, { unserved });

/** Starts with two namespaces that a policy matches. One violates it. */
async function settled(...unserved: readonly string[]): Promise<Harness> {
  const h = harness({}, unserved);
  h.namespace('other');
  h.namespace('team-a');
  h.namespace('team-b', labels);
  h.policy('team', rules);
  h.start();
  await h.settle(waitMs);
  return h;
}

const reportIn = (h: Harness, namespace: string): KubeObject | undefined =>
  h.memory.get({ ...reportRef, namespace });

/** The number of results of each kind, by namespace. */
function summaries(h: Harness): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    h.memory.list('Report').map(({ metadata, ...report }) => {
      const counts = Object.entries(report['summary'] as Record<string, number>);
      return [
        metadata.namespace ?? '',
        counts.flatMap(([outcome, count]) => (count > 0 ? `${count} ${outcome}` : [])).join(', '),
      ];
    }),
  );
}

const writes = (h: Harness): readonly string[] =>
  h.takeWrites().flatMap(({ kind, verb, namespace }) => (kind === 'Report' ? [`${verb} ${namespace}`] : []));

const failures = (h: Harness): readonly { readonly isNew: boolean }[] =>
  h.told.observed
    .filter(([what]) => what === 'reportNotWritten')
    .map(([, failed]) => failed as { isNew: boolean });

/** Lets time pass while a request gets no answer, so that the reconciler does not settle. */
async function pass(h: Harness, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 100) {
    await h.clock.advance(100);
    await setImmediate();
  }
}

/** Without what the API server adds, and without times. */
function comparable({ metadata: { name, namespace, labels: own }, ...report }: KubeObject): unknown {
  const text = JSON.stringify({ ...report, metadata: { name, namespace, labels: own } });
  return JSON.parse(text.replaceAll(/,"timestamp":\{[^}]*\}/g, ''));
}

describe('the content of a Report', () => {
  test('the content of a Report is that of `reeve report`, apart from times', async () => {
    const h = harness({
      install: {
        auditSecrets: true,
        resourceKinds: ['v1/ConfigMap', 'v1/LimitRange', 'v1/ResourceQuota', 'v1/ServiceAccount'].map(
          objectTypeOf,
        ),
      },
    });
    for (const file of ['cluster', 'policies']) {
      const text = await readFile(`test/fixtures/report/state/${file}.yaml`, 'utf8');
      for (const document of parseAllDocuments(text)) h.memory.put(document.toJS() as KubeObject);
    }
    h.start();
    await h.settle(waitMs);
    const expected = JSON.parse(
      await readFile('test/fixtures/report/expected/report.openreports', 'utf8'),
    ) as {
      readonly items: readonly KubeObject[];
    };
    expect(expected.items.length).toBeGreaterThan(3);
    const byNamespace = h.memory
      .list('Report')
      .toSorted((a, b) => ((a.metadata.namespace ?? '') < (b.metadata.namespace ?? '') ? -1 : 1));
    expect(byNamespace.map(comparable)).toEqual(expected.items.map(comparable));
  });
});

describe('a Report', () => {
  test('a Report follows its namespace, and is deleted with the last policy', async () => {
    const h = await settled();
    expect(summaries(h)).toEqual({ 'team-a': '1 fail', 'team-b': '1 pass' });
    h.namespace('team-a', labels);
    await h.settle(waitMs);
    expect(summaries(h)).toEqual({ 'team-a': '1 pass', 'team-b': '1 pass' });
    h.policy('team', { ...rules, match: { names: ['team-b'] } });
    await h.settle(waitMs);
    expect(summaries(h)).toEqual({ 'team-b': '1 pass' });
  });

  test('a Report follows existing RoleBindings, also those that the audit does not keep in words', async () => {
    const h = harness();
    for (let index = 10; index < 35; index += 1) {
      h.namespace(`team-${index}`);
      h.memory.put(binding(`team-${index}`, 'admin'));
    }
    h.policy('team', { match: { names: ['team-*'] }, rbac: { allowedRoleRefs: ['ClusterRole/view'] } });
    h.start();
    await h.settle(waitMs);
    expect(Object.values(summaries(h))).toEqual(Array.from({ length: 25 }, () => '1 fail'));
    h.memory.delete(bindingRef('team-34'));
    h.memory.put(binding('team-34', 'edit'));
    await h.settle(waitMs);
    expect(JSON.stringify(reportIn(h, 'team-34'))).toContain('ClusterRole/edit');
    h.memory.delete(bindingRef('team-34'));
    await h.settle(waitMs);
    expect(summaries(h)).toMatchObject({ 'team-33': '1 fail', 'team-34': '1 pass' });
  });

  test('a Report names an exceeded quota in the first of its namespaces, and follows the others', async () => {
    const h = harness();
    for (const name of ['team-a', 'team-b']) h.namespace(name, { team: 'red' });
    h.policy('team', { match: { names: ['team-*'] }, namespaces: { quota: { label: 'team', max: 1 } } });
    h.start();
    await h.settle(waitMs);
    expect(summaries(h)).toEqual({ 'team-a': '1 fail', 'team-b': '1 pass' });
    h.namespace('team-b', { team: 'blue' });
    await h.settle(waitMs);
    expect(summaries(h)).toEqual({ 'team-a': '1 pass', 'team-b': '1 pass' });
  });

  test('a Report loses an exception when it ends, though nothing else changes', async () => {
    const h = harness();
    h.namespace('team-a');
    h.policy('team', {
      match: { names: ['team-*'] },
      rbac: { forbidWildcardRules: true },
      exceptions: [
        { namespaces: ['*'], rules: ['rbac.forbidWildcardRules'], expiresAt: '2026-11-21T12:02:00Z' },
      ],
    });
    h.start();
    await h.settle(waitMs);
    expect(summaries(h)).toEqual({ 'team-a': '1 skip' });
    await h.clock.advance(120_000);
    await h.settle(waitMs);
    expect(summaries(h)).toEqual({ 'team-a': '1 pass' });
  });

  test('a Report is written at most every five seconds, and not again while nothing changes', async () => {
    const h = await settled();
    h.takeWrites();
    for (const team of ['a', 'b', 'c']) {
      h.namespace('team-a', { team });
      await h.quiet();
      h.policy('team', { ...rules, validations: [{ name: team, expression: 'false' }] });
      await h.quiet();
    }
    expect(writes(h)).toEqual([]);
    await h.settle(waitMs);
    expect(writes(h)).toEqual(['update team-a', 'update team-b']);
    await h.clock.advance(600_000);
    await h.settle(waitMs);
    expect(writes(h)).toEqual([]);
  });

  test('a Report comes back when another client changes or deletes it', async () => {
    const h = await settled();
    const before = summaries(h);
    h.memory.change({ ...reportRef, namespace: 'team-a' }, { summary: { fail: 7 } });
    h.memory.delete({ ...reportRef, namespace: 'team-b' });
    expect(summaries(h)).not.toEqual(before);
    h.takeWrites();
    await h.settle(waitMs);
    expect(summaries(h)).toEqual(before);
    expect(writes(h)).toEqual(['update team-a', 'create team-b']);
  });

  test('a Report that the API server stores without some fields is not written again and again', async () => {
    const h = harness();
    h.memory.normalized = ({ scope: _scope, ...object }) => object;
    h.namespace('team-a');
    h.policy('team', rules);
    h.start();
    await h.settle(waitMs);
    await h.clock.advance(600_000);
    await h.settle(waitMs);
    expect(writes(h)).toEqual(['create team-a']);
  });

  test('a Report stays as another leader has written it', async () => {
    const h = await settled();
    await h.stop();
    h.takeWrites();
    h.rerun();
    await h.settle(waitMs);
    expect(writes(h)).toEqual([]);
  });

  test('a Report waits for the first audit of a new leader, and does not lose its violations meanwhile', async () => {
    const h = harness();
    h.namespace('team-a');
    h.memory.put(binding('team-a', 'admin'));
    h.policy('team', { match: { names: ['team-*'] }, rbac: { allowedRoleRefs: ['ClusterRole/view'] } });
    h.start();
    await h.settle(waitMs);
    await h.stop();
    h.takeWrites();
    const audit = Promise.withResolvers<void>();
    h.memory.before = async ({ verb, ref }) =>
      verb === 'list' && ref.kind === 'RoleBinding' ? await audit.promise : undefined;
    h.rerun();
    await pass(h, 4 * waitMs);
    expect(h.reconciler.health().isInitialSyncDone).toBe(true);
    expect(writes(h)).toEqual([]);
    audit.resolve();
    await h.settle(waitMs);
    expect(writes(h)).toEqual([]);
    expect(summaries(h)).toEqual({ 'team-a': '1 fail' });
  });

  test('a Report waits until every namespace has been reconciled once', async () => {
    const h = harness();
    for (const name of ['team-a', 'team-b']) h.namespace(name);
    h.policy('team', { match: { names: ['team-*'] }, contents: { roleBindings: [bindingOf()] } });
    const apply = Promise.withResolvers<void>();
    h.memory.before = async ({ verb, ref }) =>
      verb === 'apply' && ref.kind === 'RoleBinding' && ref.namespace === 'team-a'
        ? await apply.promise
        : undefined;
    h.start();
    await pass(h, 2 * waitMs);
    expect(h.memory.list('RoleBinding', 'team-b')).toHaveLength(1);
    expect(summaries(h)).toEqual({});
    apply.resolve();
    await h.settle(waitMs);
    expect(summaries(h)).toEqual({ 'team-a': '1 pass', 'team-b': '1 pass' });
  });

  test('a Report waits while namespaces wait', async () => {
    const h = harness({ concurrency: 1 });
    for (const name of ['team-a', 'team-b']) h.namespace(name);
    h.policy('team', { match: { names: ['team-*'] }, contents: { roleBindings: [bindingOf()] } });
    h.start();
    await h.settle(waitMs);
    const apply = Promise.withResolvers<void>();
    h.memory.before = async ({ verb, ref }) =>
      verb === 'apply' && ref.kind === 'RoleBinding' ? await apply.promise : undefined;
    h.memory.delete({ ...bindingRef('team-a'), name: 'devs' });
    h.namespace('team-b', labels);
    h.memory.delete({ ...reportRef, namespace: 'team-b' });
    h.takeWrites();
    await pass(h, 2 * waitMs);
    expect(h.reconciler.health()).toMatchObject({ queued: 1, running: 1 });
    expect(writes(h)).toEqual([]);
    apply.resolve();
    await h.settle(waitMs);
    expect(writes(h)).toEqual(['create team-b']);
  });

  test('a Report is never written into a namespace that is being deleted', async () => {
    const h = await settled();
    h.takeWrites();
    h.memory.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'team-a' });
    await h.settle(waitMs);
    h.memory.finishNamespace('team-a');
    await h.settle(waitMs);
    expect(writes(h)).toEqual([]);
    expect(failures(h)).toEqual([]);
  });
});

test('a kind that is not served gets no request, and its Reports are written as soon as it is served', async () => {
  const h = await settled('Report');
  expect(writes(h)).toEqual([]);
  expect(failures(h)).toEqual([]);
  h.serve('Report');
  await h.settle(waitMs);
  expect(writes(h).toSorted()).toEqual(['create team-a', 'create team-b']);
});

describe('a Report that cannot be written', () => {
  test('a Report of another program stays as it is, and is reported once', async () => {
    const h = harness();
    h.namespace('team-a');
    h.namespace('team-b');
    h.memory.put({
      ...namespaceReports.type,
      metadata: { name: 'reeve', namespace: 'team-a' },
      source: 'scanner',
    });
    h.policy('team', rules);
    h.start();
    await h.settle(waitMs);
    await h.clock.advance(600_000);
    await h.settle(waitMs);
    expect(failures(h)).toEqual([
      { namespace: 'team-a', reason: 'AlreadyExists', isNew: true },
      { namespace: 'team-a', reason: 'AlreadyExists', isNew: false },
    ]);
    expect(reportIn(h, 'team-a')).toMatchObject({ source: 'scanner' });
    h.memory.delete({ ...reportRef, namespace: 'team-a' });
    await h.settle(waitMs);
    expect(reportIn(h, 'team-a')).toMatchObject({ source: 'reeve' });
  });

  test.each([403, 404, 500, 0])(
    'after an error %i all Reports wait for half a minute, and the error is reported once',
    async (code) => {
      const h = harness();
      for (let index = 10; index < 20; index += 1) h.namespace(`team-${index}`);
      const fault: typeof h.memory.fault = (verb, { kind }) =>
        verb === 'apply' && kind === 'Report' ? failure(code) : undefined;
      h.memory.fault = fault;
      h.policy('team', rules);
      h.start();
      await h.settle(waitMs);
      // Two are written at once.
      expect(failures(h).length).toBeLessThanOrEqual(2);
      await h.clock.advance(31_000);
      await h.settle(waitMs);
      const all = failures(h);
      expect(all.length).toBeLessThanOrEqual(4);
      expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
      h.memory.fault = () => undefined;
      await h.clock.advance(31_000);
      await h.settle(waitMs);
      expect(Object.keys(summaries(h))).toHaveLength(10);
      h.memory.fault = fault;
      h.namespace('team-10', labels);
      await h.settle(waitMs);
      expect(failures(h).filter((each) => each.isNew)).toHaveLength(2);
    },
  );
});

test('without the flag there are no Reports, and no watch of them', async () => {
  const h = made();
  h.namespace('team-a');
  h.policy('team', rules);
  h.start();
  await h.settle(waitMs);
  expect(h.memory.list('Report')).toEqual([]);
  expect(h.reconciler.watches.some(({ type }) => type.kind === 'Report')).toBe(false);
});

function bindingRef(namespace: string) {
  return { apiVersion: `${group}/v1`, kind: 'RoleBinding', namespace, name: 'theirs' };
}

function binding(namespace: string, role: string): KubeObject {
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: role };
  return { apiVersion: `${group}/v1`, kind: 'RoleBinding', metadata: { name: 'theirs', namespace }, roleRef };
}
