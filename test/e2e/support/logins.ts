// Sends single requests as users with a certificate and accounts with a token, because attackers need not use kubectl.
import { readFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { layoutOf } from '../../cluster/layout.ts';
import { userCertificate } from '../../cluster/pki.ts';
import { Api } from '../../contract/support/api.ts';

export class Logins {
  readonly #cluster: ClusterAccess;
  readonly #agents: Agent[] = [];

  constructor(cluster: ClusterAccess) {
    this.#cluster = cluster;
  }

  async as(user: string, ...groups: readonly string[]): Promise<Api> {
    const { caFile, caKey, userKey } = layoutOf(this.#cluster.folder);
    const [ca, authorityKey, key] = await Promise.all([
      readFile(caFile, 'utf8'),
      readFile(caKey, 'utf8'),
      readFile(userKey, 'utf8'),
    ]);
    const cert = userCertificate({ certPem: ca, keyPem: authorityKey }, key, user, groups);
    const agent = new Agent({ keepAlive: true, ca, cert, key });
    this.#agents.push(agent);
    return new Api({ server: this.#cluster.server, agent });
  }

  async account(namespace: string, name: string): Promise<Api> {
    const kubeconfig = await readFile(await this.#cluster.tokenKubeconfig(namespace, name), 'utf8');
    const { users } = JSON.parse(kubeconfig) as { readonly users: readonly [{ user: { token: string } }] };
    const agent = new Agent({ keepAlive: true, ca: await readFile(this.#cluster.caFile, 'utf8') });
    this.#agents.push(agent);
    return new Api({ server: this.#cluster.server, agent, token: users[0].user.token });
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }
}
