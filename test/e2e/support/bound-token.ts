// A revocable token of one of Reeve's accounts, in a file as in a Pod, where another token can replace it.
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';

const namespace = 'reeve-system';
const secrets = `/api/v1/namespaces/${namespace}/secrets`;

export class BoundToken {
  readonly #cluster: ClusterAccess;
  readonly #account: string;
  readonly #file: string;
  /** The Secret to which the token is bound. The token is valid as long as the Secret exists. */
  #name = '';

  constructor(cluster: ClusterAccess, account = 'reeve-reconciler') {
    this.#cluster = cluster;
    this.#account = account;
    this.#file = join(cluster.folder, `token-${randomUUID()}`);
  }

  /** Returns the path of a kubeconfig that names the file. */
  async kubeconfig(): Promise<string> {
    await this.issue();
    const like = await this.#cluster.tokenKubeconfig(namespace, this.#account);
    const config = JSON.parse(await readFile(like, 'utf8')) as {
      readonly users: readonly { name: string }[];
    };
    const users = config.users.map(({ name }) => ({ name, user: { tokenFile: this.#file } }));
    const path = join(dirname(like), `token-file-${randomUUID()}`);
    await writeFile(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
    return path;
  }

  /** Puts another token into the file and revokes the old one. The API server may still accept the old one for 10 s. */
  async replace(): Promise<void> {
    const before = this.#name;
    await this.issue();
    await this.#revoke(before);
  }

  /** Revokes the token that is still in the file, and returns it. The API server may still accept it for 10 s. */
  async revoke(): Promise<string> {
    await this.#revoke(this.#name);
    return await readFile(this.#file, 'utf8');
  }

  /** Returns true when the API server accepts the token. */
  async isGood(token: string): Promise<boolean> {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const path = '/apis/authentication.k8s.io/v1/tokenreviews';
    const answer = await this.#cluster.admin.mustSend('POST', path, review);
    return (
      (answer as { readonly status: { readonly authenticated?: boolean } }).status.authenticated === true
    );
  }

  async #revoke(name: string): Promise<void> {
    await this.#cluster.admin.mustSend('DELETE', `${secrets}/${name}`);
  }

  /**
   * Puts another token into the file.
   * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
   */
  async issue(): Promise<void> {
    const { admin } = this.#cluster;
    const name = `fa-token-${randomUUID()}`;
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name } };
    const { metadata } = (await admin.mustSend('POST', secrets, secret)) as {
      readonly metadata: { readonly uid: string };
    };
    const boundObjectRef = { apiVersion: 'v1', kind: 'Secret', name, uid: metadata.uid };
    const answer = await admin.mustSend(
      'POST',
      `/api/v1/namespaces/${namespace}/serviceaccounts/${this.#account}/token`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } },
    );
    const { token } = (answer as { readonly status: { readonly token: string } }).status;
    await writeFile(this.#file, token, { mode: 0o600 });
    this.#name = name;
  }
}
