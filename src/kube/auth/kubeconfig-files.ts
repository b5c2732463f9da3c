// Reads kubeconfigs as kubectl does, and takes out of them the one context that counts.
//
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { errorCode } from '../../base/error-code.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import { parseYaml } from '../../base/yaml.ts';
import { CredentialError } from './credentials.ts';
import { userAsLoaded } from './kubeconfig-user.ts';

export interface ChosenContext {
  readonly context: string;
  readonly server: URL;
  readonly description: string;
  /** The program, or the kind of provider, that is asked for credentials; undefined where they stand in files. */
  readonly plugin: string | undefined;
  /** A kubeconfig of this context alone. */
  readonly config: JsonObject;
}

/** Rejects with a CredentialError. Without a context it is the current one. */
export async function readKubeconfigs(paths: readonly string[], context?: string): Promise<ChosenContext> {
  const files = await readAll(paths);
  const where = `the kubeconfig ${paths.join(delimiter)}`;
  const name = context ?? files.map((file) => textOf(file, 'current-context')).find((text) => text !== '');
  if (name === undefined) throw new CredentialError(`${where} has no current-context`);
  const description = `${where}, context ${name}`;
  const chosen = entry(files, 'contexts', 'context', name, where);
  const cluster = entry(files, 'clusters', 'cluster', textOf(chosen, 'cluster'), description);
  const user = entry(files, 'users', 'user', textOf(chosen, 'user'), description);
  const server = serverOf(cluster, description);
  const { plugin, user: loadable } = userAsLoaded(user, description);
  const config = {
    clusters: [{ name, cluster: { ...cluster, server: server.href } }],
    users: [{ name, user: loadable }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  return { context: name, server, description, plugin, config };
}

/** Of several files some may be missing. */
async function readAll(paths: readonly string[]): Promise<readonly JsonObject[]> {
  const files = await Promise.all(paths.map((path) => readOne(resolve(path), paths.length > 1)));
  return files.filter((file) => file !== undefined);
}

async function readOne(path: string, mayBeMissing: boolean): Promise<JsonObject | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' && mayBeMissing) return undefined;
    throw new CredentialError(`the kubeconfig ${path} cannot be read (${code ?? 'no reason known'})`);
  }
  return withWholePaths(parsed(text, path), dirname(path));
}

function parsed(text: string, path: string): JsonObject {
  const [document] = parseYaml(text).documents;
  if (document?.kind === 'data' && isJsonObject(document.value)) return document.value;
  const line = document?.kind === 'broken' ? document.problems[0]?.line : undefined;
  throw new CredentialError(
    line === undefined ? `${path} is not a kubeconfig` : `${path}, line ${line}: this is not YAML`,
  );
}

/** Relative paths are relative to their file. */
function withWholePaths(file: JsonObject, folder: string): JsonObject {
  const whole = (list: string, field: string, keys: readonly string[]): readonly JsonObject[] =>
    objectsIn(file[list]).map((item) => ({
      ...item,
      [field]: resolved(ownMember(item, field), keys, folder),
    }));
  return {
    'current-context': file['current-context'],
    contexts: file['contexts'],
    clusters: whole('clusters', 'cluster', ['certificate-authority']),
    users: whole('users', 'user', ['client-certificate', 'client-key', 'tokenFile']).map((item) => ({
      ...item,
      user: withWholeCommand(item['user'], folder),
    })),
  };
}

function resolved(value: unknown, keys: readonly string[], folder: string): unknown {
  if (!isJsonObject(value)) return value;
  const paths = keys.filter((key) => textOf(value, key) !== '');
  return { ...value, ...Object.fromEntries(paths.map((key) => [key, resolve(folder, textOf(value, key))])) };
}

/** A command without a slash is looked up in PATH. */
function withWholeCommand(user: unknown, folder: string): unknown {
  const command = textOf(ownMember(user, 'exec'), 'command');
  if (!isJsonObject(user) || !command.includes('/')) return user;
  return { ...user, exec: resolved(user['exec'], ['command'], folder) };
}

/** The first of that name counts, over all files. */
function entry(
  files: readonly JsonObject[],
  list: string,
  field: string,
  name: string,
  where: string,
): JsonObject {
  const found = files.flatMap((file) => objectsIn(file[list])).find((item) => textOf(item, 'name') === name);
  const content = ownMember(found, field);
  if (isJsonObject(content)) return content;
  throw new CredentialError(`${where}: there is no ${field} ${JSON.stringify(name)}`);
}

function serverOf(cluster: JsonObject, where: string): URL {
  const server = URL.parse(textOf(cluster, 'server'));
  if (server?.protocol !== 'https:')
    throw new CredentialError(`${where}: its server is not an https:// address`);
  if (textOf(cluster, 'proxy-url') !== '') throw new CredentialError(`${where}: proxy-url is not supported`);
  return server;
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: unknown, key: string): string {
  const text = ownMember(value, key);
  return typeof text === 'string' ? text : '';
}
