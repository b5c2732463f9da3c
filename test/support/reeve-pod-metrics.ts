// Pods of Reeve as objects, their metrics as text, and a client that gives both as an API server with a kubelet does.
import { KubeError } from '../../src/base/kube-error.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { KubeObject } from '../../src/base/metadata.ts';
import type { KubeClient } from '../../src/kube/http/client.ts';

/** Samples of one metric, as Prometheus reads them. */
export function metricsText(name: string, label: string, values: Readonly<Record<string, number>>): string {
  const samples = Object.entries(values).map(([key, value]) => `${name}{${label}="${key}"} ${value}`);
  return [`# HELP ${name} Help.`, `# TYPE ${name} gauge`, ...samples, ''].join('\n');
}

const containerPorts = { webhook: 8443, probes: 8081 } as const;

export function podObject(
  name: string,
  ports: readonly (keyof typeof containerPorts)[],
  phase = 'Running',
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'reeve-system', uid: name, resourceVersion: '1' },
    spec: {
      containers: [{ ports: ports.map((each) => ({ name: each, containerPort: containerPorts[each] })) }],
    },
    status: { phase },
  };
}

export function listOf(items: readonly KubeObject[]): JsonObject {
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
}

/** `metrics`: by path. A path without an entry cannot be reached. */
export function clientOfPods(
  pods: readonly KubeObject[],
  metrics: ReadonlyMap<string, string | KubeError>,
): KubeClient {
  return {
    request: () => Promise.resolve(listOf(pods)),
    stream: async ({ path }) => {
      const unreachable = new KubeError({ code: 503, reason: 'ServiceUnavailable', retryable: true });
      const found = metrics.get(path) ?? unreachable;
      if (found instanceof KubeError) throw found;
      return await Promise.resolve(inTwo(Buffer.from(found)));
    },
    close: () => undefined,
  };
}

async function* inTwo(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const middle = Math.floor(bytes.length / 2);
  for (const part of [bytes.subarray(0, middle), bytes.subarray(middle)]) yield await Promise.resolve(part);
}
