// Creates the folder of a control plane, readable only by its owner, with all files that the components read.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { auditPolicy } from './audit-record.ts';
import { controllersUser } from './flags.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import type { Layout } from './layout.ts';
import { makeKeys, userCertificate } from './pki.ts';

export async function fillFolder(layout: Layout, server: string): Promise<void> {
  const keys = await makeKeys();
  const certificateOf = (user: string, groups: readonly string[]): string =>
    userCertificate(keys.authority, keys.userKeyPem, user, groups);
  const admin = certificateOf('admin', ['system:masters']);
  const kubeconfig = (user: string, certPem: string): string =>
    kubeconfigOf(server, keys.authority.certPem, user, {
      kind: 'certificate',
      certPem,
      keyPem: keys.userKeyPem,
    });
  const files: readonly (readonly [string, string])[] = [
    [layout.caFile, keys.authority.certPem],
    [layout.caKey, keys.authority.keyPem],
    [layout.serverCertificate, keys.server.certPem],
    [layout.serverKey, keys.server.keyPem],
    [layout.userKey, keys.userKeyPem],
    [layout.adminCertificate, admin],
    [layout.tokenKey, keys.serviceAccount.privatePem],
    [layout.tokenPublicKey, keys.serviceAccount.publicPem],
    [layout.kubeconfig, kubeconfig('admin', admin)],
    [layout.controllersKubeconfig, kubeconfig(controllersUser, certificateOf(controllersUser, []))],
    [layout.auditPolicy, JSON.stringify(auditPolicy)],
  ];
  await Promise.all(files.map(([path, content]) => writeFile(path, content, { mode: 0o600 })));
}

/** Rejects when the named folder already exists. */
export async function makeFolder(wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return await mkdtemp(join(tmpdir(), 'reeve-cluster-'));
  await mkdir(dirname(wanted), { recursive: true });
  await mkdir(wanted, { mode: 0o700 });
  return wanted;
}
