// Puts a webhook behind a proxy, and watches its connection while the API server sends no review.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { until } from '../../support/until.ts';

const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

export interface IdleConnection {
  /** The status of the first write after the pause. */
  readonly status: number;
  /** The total number of connections that the API server has opened. */
  readonly connections: number;
}

interface Configuration {
  readonly webhooks: readonly {
    readonly name: string;
    readonly clientConfig: { readonly service: object };
  }[];
}

/** Sends a write for review and another one after this many seconds, with no write between them. */
export async function idleFor(
  seconds: number,
  { admin }: ClusterAccess,
  webhookPort: number,
): Promise<IdleConnection> {
  const name = `fa-idle-${seconds}`;
  using proxy = await startFaultProxy({ port: webhookPort });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await admin.mustSend('POST', '/api/v1/namespaces', namespace);
  const { webhooks } = (await admin.mustSend('GET', `${configurations}/reeve`)) as Configuration;
  const like = webhooks.find((each) => each.name === 'namespaces.validate.reeve.dev');
  const hook = {
    ...like,
    name: `${name}.reeve.dev`,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    clientConfig: {
      ...like?.clientConfig,
      service: { ...like?.clientConfig.service, port: proxy.port },
    },
  };
  await admin.mustSend('POST', configurations, { metadata: { name }, webhooks: [hook] });
  const write = async (): Promise<number> =>
    (await admin.send('DELETE', `/api/v1/namespaces/${name}?dryRun=All`)).status;
  try {
    await until(
      async () => (await write()) === 200 && proxy.accepted > 0,
      () => `${name} is asked`,
    );
    await sleep(seconds * 1000);
    return { status: await write(), connections: proxy.accepted };
  } finally {
    await admin.send('DELETE', `${configurations}/${name}`);
  }
}
