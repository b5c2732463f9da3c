// The user of a kubeconfig, put so that the library does with it what kubectl does.
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import { CredentialError } from './credentials.ts';

interface LoadableUser {
  /** The program, or the kind of provider, that is asked for credentials. */
  readonly plugin: string | undefined;
  readonly user: JsonObject;
}

/** The library would leave these out, and act as somebody else than the kubeconfig says. */
const unsupported = ['as-uid', 'as-groups', 'as-user-extra'];

/** Throws a CredentialError. */
export function userAsLoaded(user: JsonObject, where: string): LoadableUser {
  const field = unsupported.find((name) => Object.hasOwn(user, name));
  if (field !== undefined) throw new CredentialError(`${where}: ${field} is not supported`);
  const { tokenFile, exec } = user;
  if (typeof tokenFile === 'string' && tokenFile !== '') {
    return { plugin: undefined, user: withTokenFile(user, tokenFile) };
  }
  if (isJsonObject(exec)) {
    return { plugin: String(exec['command']), user: { ...user, exec: withExecInfo(exec) } };
  }
  const provider = ownMember(user['auth-provider'], 'name');
  return { plugin: typeof provider === 'string' ? provider : undefined, user };
}

/** The library knows a token file only by another name, and a token would go before it. */
function withTokenFile(user: JsonObject, tokenFile: string): JsonObject {
  return { ...user, token: undefined, 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
}

/** Plugins written with client-go do not run without it: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats */
function withExecInfo(exec: JsonObject): JsonObject {
  const info = { apiVersion: exec['apiVersion'], kind: 'ExecCredential', spec: { interactive: false } };
  const env = Array.isArray(exec['env']) ? exec['env'].filter(isJsonObject) : [];
  return { ...exec, env: [...env, { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }] };
}
