// Runs the same tests against the sandbox and a real control plane. The one file that knows how they are started.
import { kindDefinitions } from '../../../src/api/kinds.ts';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { layoutOf } from '../../cluster/layout.ts';
import { userCertificate } from '../../cluster/pki.ts';
import { removeWebhooks } from '../../cluster/reeve-install.ts';
import { describeControllers, sharedCluster } from '../../support/shared-cluster.ts';
import type { Connection } from './api.ts';
import { Backend, type Access } from './backend.ts';

/** Each test uses names of its own, because the backends hold objects of other tests. */
export function onEachBackend(behavior: string, define: (backend: Backend) => void): void {
  describeControllers(`${behavior}: real control plane`, () => {
    whileOpen(new Backend('real', realAccess), define);
  });
  describe(`${behavior}: sandbox`, () => {
    whileOpen(new Backend('sandbox', sandboxAccess), define);
  });
}

/** Compares the two with each other. */
export function onBothBackends(behavior: string, define: (real: Backend, sandbox: Backend) => void): void {
  describeControllers(behavior, () => {
    const [real, sandbox] = [new Backend('real', realAccess), new Backend('sandbox', sandboxAccess)] as const;
    beforeAll(() => Promise.all([real.open(), sandbox.open()]));
    afterAll(() => Promise.all([real.close(), sandbox.close()]));
    define(real, sandbox);
  });
}

function whileOpen(backend: Backend, define: (backend: Backend) => void): void {
  beforeAll(() => backend.open());
  afterAll(() => backend.close());
  define(backend);
}

async function realAccess(): Promise<Access> {
  const cluster = sharedCluster();
  // Earlier tests may have left webhooks that no longer answer.
  await removeWebhooks(cluster);
  const { caFile, caKey, adminCertificate, userKey } = layoutOf(cluster.folder);
  const [ca, authorityKey, cert, key] = await Promise.all([
    readFile(caFile, 'utf8'),
    readFile(caKey, 'utf8'),
    readFile(adminCertificate, 'utf8'),
    readFile(userKey, 'utf8'),
  ]);
  const agents: Agent[] = [];
  const connected = (certificate?: string): Connection => {
    const identity = certificate === undefined ? {} : { cert: certificate, key };
    const agent = new Agent({ keepAlive: true, ca, ...identity });
    agents.push(agent);
    return { server: cluster.server, agent };
  };
  const authority = { certPem: ca, keyPem: authorityKey };
  return {
    connection: connected(cert),
    anonymous: connected(),
    kubeconfig: cluster.kubeconfig,
    login: (user, groups) => Promise.resolve(connected(userCertificate(authority, key, user, groups))),
    close: () => Promise.resolve(agents.forEach((agent) => agent.destroy())),
  };
}

async function sandboxAccess(): Promise<Access> {
  const { serving, caPem } = inject('contractCertificates');
  const faults: unknown[] = [];
  const sandbox = await startSandbox({
    tls: { ...serving, caPem },
    customKinds: kindDefinitions,
    onError: (error) => faults.push(error),
  });
  const folder = await mkdtemp(join(tmpdir(), 'reeve-contract-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig('admin', sandbox.adminToken), { mode: 0o600 });
  const agent = new Agent({ keepAlive: true, ca: caPem });
  const anonymous = { server: sandbox.url, agent };
  return {
    connection: { ...anonymous, token: sandbox.adminToken },
    anonymous,
    kubeconfig,
    login: (username, groups) => {
      const user = { username, groups: [...groups, 'system:authenticated'] };
      return Promise.resolve({ ...anonymous, token: sandbox.tokenFor(user) });
    },
    close: async () => {
      agent.destroy();
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
      // The sandbox met errors of its own while it served: no test may cause one by accident.
      if (faults.length > 0) throw new AggregateError(faults, String(faults[0]));
    },
  };
}
