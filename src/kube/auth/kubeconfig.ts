// Reads credentials from a kubeconfig; the only file that knows @kubernetes/client-node.
//
// The library takes half a second and 85 MB. A Pod with a service account does not need that, so the library is loaded only
// for a kubeconfig. Its errors quote files and the output of plugins, so no text of them goes further.
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { abortable } from '../../base/abort.ts';
import { errorCode } from '../../base/kube-error.ts';
import { CredentialError, type Credentials, type CredentialSource } from '../http/http-exchange.ts';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { alternatives, clipped } from '../../base/text.ts';
import { parseYaml } from '../../base/yaml.ts';

/** A plugin may open a browser, or hang. */
const maxPluginMs = 60_000;

/** Rejects with a CredentialError. Keeps the current context even when the kubeconfig switches to another later. */
export async function kubeconfigSource(
  paths: readonly string[],
  context?: string,
): Promise<CredentialSource> {
  const chosen = await readKubeconfigs(paths, context);
  const session = new KubeconfigSession(paths, chosen, await loaded(chosen));
  return { server: chosen.server, description: chosen.description, read: (how) => session.read(how) };
}

class KubeconfigSession {
  readonly #paths: readonly string[];
  #chosen: ChosenContext;
  #config: KubeConfig;

  constructor(paths: readonly string[], chosen: ChosenContext, config: KubeConfig) {
    this.#paths = paths;
    this.#chosen = chosen;
    this.#config = config;
  }

  /** The library runs a plugin again only after the expiry of its credentials, and never reads the kubeconfig again. */
  async read({ refused }: { readonly refused: boolean }): Promise<Credentials> {
    if (refused || this.#chosen.plugin === undefined) await this.#readAgain();
    const options: RequestOptions = {};
    try {
      await abortable(this.#config.applyToHTTPSOptions(options), AbortSignal.timeout(maxPluginMs));
    } catch (error) {
      throw new CredentialError(`${problemOf(this.#chosen)} (${errorCode(error) ?? 'no error code'})`);
    }
    return credentialsIn(options);
  }

  async #readAgain(): Promise<void> {
    const chosen = await readKubeconfigs(this.#paths, this.#chosen.context);
    if (chosen.server.href !== this.#chosen.server.href) {
      throw new CredentialError(`${chosen.description} now names another server; restart to use it`);
    }
    this.#config = await loaded(chosen);
    this.#chosen = chosen;
  }
}

function problemOf({ plugin, description }: ChosenContext): string {
  return plugin === undefined
    ? `a file named in ${description} cannot be read`
    : `${JSON.stringify(plugin)}, named in ${description}, gave no credentials`;
}

async function loaded({ config, description }: ChosenContext): Promise<KubeConfig> {
  const library = await import('@kubernetes/client-node');
  const kubeConfig = new library.KubeConfig();
  try {
    kubeConfig.loadFromString(JSON.stringify(config));
  } catch {
    throw new CredentialError(`${description} is not valid`);
  }
  return kubeConfig;
}

function credentialsIn(options: RequestOptions): Credentials {
  const given = Object.entries(options.headers ?? {}).map(
    ([name, value]) => [name, String(value).trim()] as const,
  );
  const basic = options.auth ?? undefined;
  const { servername } = options;
  return {
    headers: {
      ...(basic === undefined ? {} : { Authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
      ...Object.fromEntries(given),
    },
    tls: {
      ...pem('ca', options.ca),
      ...pem('cert', options.cert),
      ...pem('key', options.key),
      ...(servername === undefined ? {} : { servername }),
      // If left undefined, an environment variable could switch the check off.
      rejectUnauthorized: options.rejectUnauthorized !== false,
    },
  };
}

function pem(name: 'ca' | 'cert' | 'key', value: unknown): Readonly<Record<string, string>> {
  return typeof value === 'string' || Buffer.isBuffer(value) ? { [name]: value.toString() } : {};
}

// Reads kubeconfigs as kubectl does, and extracts the context to use.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/

interface ChosenContext {
  readonly context: string;
  readonly server: URL;
  readonly description: string;
  /** The plugin or auth provider that gives the credentials; undefined when they are in files. */
  readonly plugin: string | undefined;
  /** A kubeconfig with only this context. */
  readonly config: JsonObject;
}

/** Uses the current context unless given. Rejects with a CredentialError. */
async function readKubeconfigs(paths: readonly string[], context?: string): Promise<ChosenContext> {
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

/** With several files, some may be missing. */
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
    throw new CredentialError(`the kubeconfig ${path} cannot be read (${code ?? 'no error code'})`);
  }
  return withAbsolutePaths(parsed(text, path), dirname(path));
}

function parsed(text: string, path: string): JsonObject {
  const [document] = parseYaml(text).documents;
  if (document?.kind === 'data' && isJsonObject(document.value)) return document.value;
  const line = document?.kind === 'broken' ? document.problems[0]?.line : undefined;
  throw new CredentialError(
    line === undefined ? `${path} is not a kubeconfig` : `${path}, line ${line}: invalid YAML`,
  );
}

/** Makes paths absolute: they are relative to their file. */
function withAbsolutePaths(file: JsonObject, folder: string): JsonObject {
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
      user: withAbsoluteCommand(item['user'], folder),
    })),
  };
}

function resolved(value: unknown, keys: readonly string[], folder: string): unknown {
  if (!isJsonObject(value)) return value;
  const paths = keys.filter((key) => textOf(value, key) !== '');
  return { ...value, ...Object.fromEntries(paths.map((key) => [key, resolve(folder, textOf(value, key))])) };
}

/** A command without a slash is searched in PATH. */
function withAbsoluteCommand(user: unknown, folder: string): unknown {
  const command = textOf(ownMember(user, 'exec'), 'command');
  if (!isJsonObject(user) || !command.includes('/')) return user;
  return { ...user, exec: resolved(user['exec'], ['command'], folder) };
}

/** Returns the first entry of that name in all files. */
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
  throw new CredentialError(`${where}: ${field} ${JSON.stringify(name)} is missing${knownText(files, list)}`);
}

const maxKnown = 20;

function knownText(files: readonly JsonObject[], list: string): string {
  const names = files.flatMap((file) => objectsIn(file[list])).map((item) => clipped(textOf(item, 'name')));
  const known = [...new Set(names)].filter((name) => name !== '');
  return known.length === 0 ? '' : `; accepted: ${alternatives(known, maxKnown)}`;
}

function serverOf(cluster: JsonObject, where: string): URL {
  const server = URL.parse(textOf(cluster, 'server'));
  if (server?.protocol !== 'https:') throw new CredentialError(`${where}: its server is not an https:// URL`);
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

interface LoadableUser {
  /** The plugin or auth provider that gives the credentials. */
  readonly plugin: string | undefined;
  readonly user: JsonObject;
}

/** The library ignores these fields, and would act as another user than the kubeconfig says. */
const unsupported = ['as-uid', 'as-groups', 'as-user-extra'];

/** Rewrites the user so that the library behaves like kubectl. Throws a CredentialError. */
function userAsLoaded(user: JsonObject, where: string): LoadableUser {
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

/** The library supports a token file only as an auth provider, and would prefer `token` to it. */
function withTokenFile(user: JsonObject, tokenFile: string): JsonObject {
  return { ...user, token: undefined, 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
}

/**
 * Plugins written with client-go require this variable.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats
 */
function withExecInfo(exec: JsonObject): JsonObject {
  const info = { apiVersion: exec['apiVersion'], kind: 'ExecCredential', spec: { interactive: false } };
  const env = Array.isArray(exec['env']) ? exec['env'].filter(isJsonObject) : [];
  return { ...exec, env: [...env, { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }] };
}
