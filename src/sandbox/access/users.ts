// Issues the bearer tokens of the sandbox and finds the user of a token. Tokens live in this process alone.
import { randomBytes } from 'node:crypto';

interface Holder {
  readonly user: User;
  readonly isGood: () => boolean;
}

export class Tokens {
  readonly #holders = new Map<string, Holder>();

  issue(user: User, isGood = () => true): string {
    const token = randomBytes(24).toString('base64url');
    this.#holders.set(token, { user, isGood });
    return token;
  }

  find(token: string): User | undefined {
    const { user, isGood } = this.#holders.get(token) ?? {};
    if (isGood?.() === true) return user;
    this.#holders.delete(token);
    return undefined;
  }
}

/** https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#user-accounts-versus-service-accounts */
export function serviceAccountIdentity(namespace: string, name: string, uid: string): User {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    uid,
  };
}

export interface User {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
