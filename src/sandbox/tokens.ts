// The bearer tokens that the sandbox has given out: random, known to this process alone.
import { randomBytes } from 'node:crypto';
import type { User } from './user.ts';

export class Tokens {
  readonly #users = new Map<string, User>();

  issue(user: User): string {
    const token = randomBytes(24).toString('base64url');
    this.#users.set(token, user);
    return token;
  }

  find(token: string): User | undefined {
    return this.#users.get(token);
  }
}

/** https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#user-accounts-versus-service-accounts */
export function serviceAccountUser(namespace: string, name: string, uid: string): User {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    uid,
  };
}
