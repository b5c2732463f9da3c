// Traces on a real control plane: reviews continue the traces of the API server, and its spans link to those of Reeve.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { folderOf, type TestFolder } from '../support/serve-process.ts';
import { TraceCollector, type CollectedSpan } from '../support/trace-collector.ts';
import { ApiServerTraces } from './support/api-server-traces.ts';
import { namespaceObject, policy, roleBinding, share, source } from './support/objects.ts';
import { Stage } from './support/stage.ts';

describeControllers('an API server that traces every request', () => {
  let cluster: ControlPlane;
  let stage: Stage;
  let reeve: Reeve;
  let folder: TestFolder;
  let ofReeve: TraceCollector;
  let ofApiServer: ApiServerTraces;

  beforeAll(async () => {
    ofApiServer = await ApiServerTraces.start();
    ofReeve = await TraceCollector.start();
    folder = await folderOf({});
    const file = join(folder.path, 'tracing.yaml');
    await writeFile(file, ofApiServer.configuration);
    cluster = await startControlPlane({ apiServerFlags: [`--tracing-config-file=${file}`] });
    stage = new Stage(cluster, 'tr-');
    await installReeve(cluster);
    reeve = await startReeve(cluster, { args: [`--trace-endpoint=${ofReeve.url}`] });
    const match = { names: ['tr-*'] };
    await stage.apply(
      source('tr-source', { password: 'c4n4ry' }),
      policy('tr-policy', { match, contents: { roleBindings: [roleBinding('tr', 'readers')] } }),
      share('tr-share', { source: { namespace: 'reeve-shared', name: 'tr-source' }, targets: match }),
    );
    await stage.apply(namespaceObject('tr-one'));
  });
  afterAll(async () => {
    await reeve.stop();
    await cluster.stop();
    ofApiServer.close();
    await ofReeve[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const spansOf = (name: string, attributes: CollectedSpan['attributes']): readonly CollectedSpan[] =>
    ofReeve
      .named(name)
      .filter((span) => Object.entries(attributes).every(([key, value]) => span.attributes[key] === value));
  const requestsOf = (spans: readonly CollectedSpan[]): readonly string[] =>
    spans
      .flatMap((span) => ofReeve.childrenOf(span))
      .map(({ attributes }) => `${attributes['http.request.method']} ${attributes['url.path']}`);

  test('a review is part of the trace of the write that the API server asks about', async () => {
    const attributes = {
      'reeve.resource': 'namespaces',
      'reeve.name': 'tr-one',
      'reeve.operation': 'CREATE',
    };
    await eventually(() => spansOf('review', attributes).length).toBe(2);
    const [mutate, validate] = spansOf('review', attributes);
    expect(mutate?.attributes).toMatchObject({ 'reeve.endpoint': 'mutate', 'reeve.allowed': true });
    expect(validate?.attributes).toMatchObject({ 'reeve.endpoint': 'validate', 'reeve.allowed': true });
    expect(mutate?.traceId).toBe(validate?.traceId);
    expect(mutate?.parentSpanId).toMatch(/^[0-9a-f]{16}$/);
    expect(mutate?.parentSpanId).not.toBe(validate?.parentSpanId);
  });

  test('the rights that a review asks about are its children', async () => {
    const reviews = spansOf('review', { 'reeve.resource': 'namespacepolicies', 'reeve.name': 'tr-policy' });
    await eventually(() => requestsOf(reviews)).toContain(
      'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
    );
  });

  test('a reconcile shows what it writes, and the API server links these requests to it', async () => {
    const writes = [
      /^PATCH \/apis\/rbac.authorization.k8s.io\/v1\/namespaces\/tr-one\/rolebindings\/tr/,
      /^PATCH \/api\/v1\/namespaces\/tr-one\/secrets\/tr-source/,
    ];
    const reconciles = () =>
      spansOf('reconcile namespace', { 'reeve.key': 'tr-one', 'reeve.result': 'done' });
    for (const write of writes) {
      await eventually(() => requestsOf(reconciles())).toContainEqual(expect.stringMatching(write));
    }
    const requests = reconciles().flatMap((span) => ofReeve.childrenOf(span));
    await eventually(() => requests.some((span) => ofApiServer.linksTo(span))).toBe(true);
    await eventually(() => ofReeve.named('reconcile provider').length).toBeGreaterThan(0);
  });

  test('no value of a Secret is in a trace, and no span is lost', async () => {
    expect(ofReeve.received).not.toMatch(/c4n4ry|YzRuNHJ5/);
    expect(await reeve.metric('reeve_trace_spans_total{result="failed"}')).toBe(0);
    expect(await reeve.metric('reeve_trace_spans_total{result="dropped"}')).toBe(0);
  });

  test('while the collector does not answer, writes are reviewed and contents are provided', async () => {
    ofReeve.answer = 'silent';
    const before = ofReeve.requests.length;
    await stage.apply(namespaceObject('tr-two'));
    await eventually(async () => await stage.namespaceCondition('tr-two')).toBe('True Synced');
    await eventually(() => ofReeve.requests.length).toBeGreaterThan(before);
    await stage.apply(namespaceObject('tr-three'));
    await eventually(async () => await stage.namespaceCondition('tr-three')).toBe('True Synced');
  });
});
