// Reads and changes the two webhook configurations of a cluster as people do.
import { sealed } from '../../../src/registration/configuration-drift.ts';
import { versionAnnotation } from '../../../src/registration/wanted-configurations.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { mustKubectl } from '../../support/kubectl.ts';

export const configurationKinds = ['mutating', 'validating'] as const;
export type ConfigurationKind = (typeof configurationKinds)[number];

export interface StoredWebhook {
  readonly name: string;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly service: { readonly name: string; readonly port: number };
  };
  readonly failurePolicy: string;
  readonly timeoutSeconds: number;
  readonly rules: readonly object[];
  readonly matchConditions: readonly object[];
  readonly namespaceSelector: {
    readonly matchExpressions?: readonly { readonly values: readonly string[] }[];
  };
}

export interface StoredConfiguration {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly labels?: object;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly webhooks: readonly StoredWebhook[];
}

/** The arguments that name both configurations for kubectl. */
export const configurationNames = configurationKinds.map((kind) => `${kind}webhookconfiguration/reeve`);

export class Configurations {
  readonly #cluster: ClusterAccess;

  constructor(cluster: ClusterAccess) {
    this.#cluster = cluster;
  }

  async find(kind: ConfigurationKind): Promise<StoredConfiguration | undefined> {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/reeve`;
    const { status, body } = await this.#cluster.admin.send('GET', path);
    return status === 200 ? (body as StoredConfiguration) : undefined;
  }

  async mustFind(kind: ConfigurationKind): Promise<StoredConfiguration> {
    const found = await this.find(kind);
    if (found === undefined) throw new Error(`there is no ${kind} configuration`);
    return found;
  }

  async names(kind: ConfigurationKind): Promise<readonly string[]> {
    return (await this.mustFind(kind)).webhooks.map(({ name }) => name);
  }

  /** Returns the CA bundles of all webhooks in both configurations, each value once. */
  async bundles(): Promise<readonly string[]> {
    const found = await Promise.all(configurationKinds.map((kind) => this.find(kind)));
    const all = found.flatMap((each) => each?.webhooks ?? []);
    const decoded = all.map(({ clientConfig: { caBundle = '' } }) => Buffer.from(caBundle, 'base64'));
    return [...new Set(decoded.map((each) => each.toString()))];
  }

  /** Returns both configurations without the fields that the API server sets. */
  async shown(): Promise<unknown> {
    return await Promise.all(
      configurationKinds.map(async (kind) => {
        const found = await this.find(kind);
        const { labels, annotations, ownerReferences } = found?.metadata ?? {};
        return { kind, labels, annotations, ownerReferences, webhooks: found?.webhooks };
      }),
    );
  }

  /** The versions change whenever a client changes a configuration. */
  async resourceVersions(): Promise<readonly (string | undefined)[]> {
    return await Promise.all(
      configurationKinds.map(async (kind) => (await this.find(kind))?.metadata.resourceVersion),
    );
  }

  async patch(kind: ConfigurationKind, type: 'merge' | 'json', patch: unknown): Promise<void> {
    const what = [`${kind}webhookconfiguration/reeve`, `--type=${type}`, '-p', JSON.stringify(patch)];
    await mustKubectl(['patch', ...what], this.#cluster);
  }

  /** Seals the current content as if that version of Reeve had written it, optionally for another Service. */
  async sealAs(kind: ConfigurationKind, version: string, serviceName?: string): Promise<void> {
    const { webhooks: found } = await this.mustFind(kind);
    const webhooks = found.map((webhook) =>
      serviceName === undefined ? webhook : withService(webhook, serviceName),
    );
    const { metadata } = sealed(
      { metadata: { annotations: { [versionAnnotation]: version } }, webhooks },
      true,
    );
    await this.patch(kind, 'merge', { metadata, webhooks });
  }

  async remove(...kinds: readonly ConfigurationKind[]): Promise<void> {
    const names = kinds.map((kind) => `${kind}webhookconfiguration/reeve`);
    await mustKubectl(
      ['delete', ...(kinds.length === 0 ? configurationNames : names), '--ignore-not-found'],
      this.#cluster,
    );
  }
}

function withService(webhook: StoredWebhook, name: string): StoredWebhook {
  const { clientConfig } = webhook;
  return { ...webhook, clientConfig: { ...clientConfig, service: { ...clientConfig.service, name } } };
}
