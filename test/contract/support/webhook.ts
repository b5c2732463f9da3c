// Runs an admission webhook on loopback whose answers a test decides, and registers it with a backend.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { until } from '../../support/until.ts';
import type { ApiObject } from './answers.ts';
import { freshName, type Backend } from './backend.ts';
import { at, configMap } from './objects.ts';

export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly dryRun: boolean;
  readonly subResource?: string;
  readonly object: ApiObject | null;
  readonly oldObject: ApiObject | null;
  readonly options: ApiObject | null;
  readonly userInfo: { readonly username: string; readonly groups: readonly string[] };
  readonly [field: string]: unknown;
}

/**
 * The answer to an AdmissionReview without the uid, with a JSON patch as a list. Undefined: the webhook never
 * answers.
 */
export interface Verdict {
  readonly allowed: boolean;
  readonly patch?: readonly object[];
  readonly warnings?: readonly string[];
  readonly status?: object;
}

type Judge = (request: AdmissionRequest) => Verdict | undefined | Promise<Verdict>;

/** A controller writes this ConfigMap into every new namespace, at any time. */
const rootCertificate = 'kube-root-ca.crt';

export class Webhook implements AsyncDisposable {
  readonly #server;
  readonly #judges = new Map<string, Judge>();
  readonly #asked = new Map<string, AdmissionRequest[]>();

  constructor() {
    const { certPem, keyPem } = inject('contractCertificates').serving;
    this.#server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
      void this.#answer(request, response);
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Returns a client configuration with its own path, at which the judge decides. */
  client(judge: Judge): { readonly path: string; readonly config: object } {
    const path = freshName('hook');
    this.#judges.set(path, judge);
    const { port } = this.#server.address() as AddressInfo;
    const caBundle = Buffer.from(inject('contractCertificates').caPem).toString('base64');
    return { path, config: { url: `https://127.0.0.1:${port}/${path}`, caBundle } };
  }

  /** The reviews that arrived there. */
  asked(path: string): readonly AdmissionRequest[] {
    return this.#asked.get(path) ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = /^\/([\w-]+)/.exec(incoming.url ?? '')?.[1] ?? '';
    const review = JSON.parse(await text(incoming)) as { readonly request: AdmissionRequest };
    const { request } = review;
    const verdict = request.name === rootCertificate ? { allowed: true } : await this.#judge(path, request);
    if (verdict === undefined) return;
    const { patch, ...rest }: Verdict = verdict;
    const patched =
      patch === undefined
        ? {}
        : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...review, response: { uid: request.uid, ...rest, ...patched } }));
  }

  #judge(path: string, request: AdmissionRequest): ReturnType<Judge> {
    this.#asked.set(path, [...this.asked(path), request]);
    return this.#judges.get(path)?.(request);
  }
}

export interface Hook {
  readonly kind: 'mutating' | 'validating';
  readonly config: object;
  /** Fields beside the required ones of a webhook. */
  readonly rest?: object;
}

const plurals = {
  mutating: 'mutatingwebhookconfigurations',
  validating: 'validatingwebhookconfigurations',
} as const;

/** Matches all ConfigMaps of the namespace unless the hook says otherwise. Resolves when it is in force. */
export async function register(
  backend: Backend,
  namespace: string,
  hooks: readonly Hook[],
): Promise<AsyncDisposable> {
  const { api } = backend;
  const name = freshName('hooks');
  for (const kind of ['mutating', 'validating'] as const) {
    const webhooks = hooks
      .filter((hook) => hook.kind === kind)
      .map((hook, index) => webhookOf(`hook-${index}.${name}.test.dev`, namespace, hook));
    await api.must(
      api.create(at(plurals[kind], ''), {
        metadata: { name },
        webhooks: [...webhooks, refusing(name, kind)],
      }),
    );
  }
  await until(
    () => areInForce(backend, name),
    () => 'the webhooks are in force',
  );
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(Object.values(plurals).map((plural) => api.delete(at(plural, '', name))));
    },
  };
}

/**
 * The last webhook refuses an object with the name of the configuration. When it does, the earlier ones are in force.
 */
async function areInForce({ api }: Backend, name: string): Promise<boolean> {
  for (const kind of ['mutating', 'validating'] as const) {
    const object = configMap(`${name}-${kind}`, {}, { labels: { [name]: kind } });
    const { status } = await api.create(`${at('configmaps', 'default')}?dryRun=All`, object);
    if (status === 201) return false;
  }
  return true;
}

function refusing(name: string, kind: string): object {
  return {
    ...webhookOf(`refusing.${name}.test.dev`, 'default', {
      kind: 'validating',
      config: { url: 'https://127.0.0.1:1/nobody' },
    }),
    timeoutSeconds: 1,
    objectSelector: { matchLabels: { [name]: kind } },
  };
}

function webhookOf(name: string, namespace: string, { config, rest = {} }: Hook): object {
  return {
    name,
    clientConfig: config,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] }],
    ...rest,
  };
}
