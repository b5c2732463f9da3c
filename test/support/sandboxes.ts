// Before tests that also run on the sandbox: starts a sandbox for each worker, and provides it like a control plane.
import { kindDefinitions } from '../../src/api/kinds.ts';
import { appendFileSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { RequestRecord } from '../../src/sandbox/http/server.ts';
import { fillFolder, makeFolder } from '../cluster/folder.ts';
import { layoutOf, type Layout } from '../cluster/layout.ts';
import { freePorts } from '../cluster/ports.ts';
import { clusterWorkers } from './cluster-workers.ts';
import type { ProvidedPlane } from './control-plane.ts';

interface Plane {
  readonly provided: ProvidedPlane;
  stop(): Promise<void>;
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const planes = await Promise.all(Array.from({ length: clusterWorkers }, startSandboxPlane));
  project.provide('cluster', {
    kind: 'running',
    planes: planes.map(({ provided }) => provided),
    hasControllers: true,
  });
  return async () => {
    await Promise.all(planes.map((plane) => plane.stop()));
  };
}

export async function startSandboxPlane(): Promise<Plane> {
  const layout = layoutOf(await makeFolder(undefined));
  const [port = 0] = await freePorts(1);
  const server = `https://127.0.0.1:${port}`;
  await fillFolder(layout, server);
  const faults: unknown[] = [];
  const sandbox = await start(layout, port, (error) => faults.push(error));
  const { folder, kubeconfig, caFile } = layout;
  return {
    provided: { folder, kubeconfig, caFile, server, etcd: '', hasControllers: true, isSandbox: true },
    stop: async () => {
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
      // The sandbox answered these requests with 500 or ignored their errors. No test may cause that by accident.
      if (faults.length > 0) throw new AggregateError(faults, String(faults[0]));
    },
  };
}

async function start(layout: Layout, port: number, faulted: (error: unknown) => void): Promise<Sandbox> {
  const [certPem, keyPem, caPem] = await Promise.all(
    [layout.serverCertificate, layout.serverKey, layout.caFile].map((path) => readFile(path, 'utf8')),
  );
  writeFileSync(layout.auditLog, '');
  return await startSandbox({
    tls: { certPem: certPem ?? '', keyPem: keyPem ?? '', caPem: caPem ?? '' },
    customKinds: kindDefinitions,
    port,
    observer: {
      answered: (record) => {
        const event = auditEvent(record);
        if (event !== undefined) appendFileSync(layout.auditLog, `${JSON.stringify(event)}\n`);
      },
    },
    onError: faulted,
  });
}

/** Returns the record in the form of the control planes' audit policy; see test/cluster/audit-record.ts. */
function auditEvent(record: RequestRecord): object | undefined {
  const { user = '', impersonatedUser, verb, group = '', resource, subresource, namespace, name } = record;
  if (resource === undefined || resource === 'events' || resource === 'leases') return undefined;
  const isRead = ['get', 'list', 'watch'].includes(verb);
  return {
    stage: 'ResponseComplete',
    requestURI: `${record.path}${record.dryRun ? '?dryRun=All' : ''}`,
    verb,
    user: { username: user },
    ...(impersonatedUser === undefined ? {} : { impersonatedUser: { username: impersonatedUser } }),
    objectRef: { resource, ...(group === '' ? {} : { apiGroup: group }), subresource, namespace, name },
    responseStatus: { code: record.code },
    ...(isRead ? {} : { responseObject: record.answer }),
    requestReceivedTimestamp: new Date().toISOString(),
  };
}
