// Reads credentials from a kubeconfig; the only file that knows @kubernetes/client-node.
//
// The library is loaded only for a kubeconfig: it takes half a second and 85 MB, which a Pod with a service account
// does not need. Its errors quote files and the output of plugins, so no text of them goes further.
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { abortable } from '../../base/abort.ts';
import { errorCode } from '../../base/error-code.ts';
import { CredentialError, type Credentials, type CredentialSource } from './credentials.ts';
import { readKubeconfigs, type ChosenContext } from './kubeconfig-files.ts';

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
