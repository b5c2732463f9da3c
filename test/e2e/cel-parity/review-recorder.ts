// Runs a webhook that allows everything and records reviews, so that src/cel gets the same input as in production.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { decodeReview } from '../../../src/admission/decode/decode-review.ts';
import { issueCertificates } from '../../../src/certs/issue/issue.ts';
import type { AnyReview } from '../../../src/policy/terms/review.ts';
import type { ApiClient } from './api-client.ts';
import { askedFor } from './judge.ts';
import { requestOf } from './subject.ts';
import type { Subject } from './subject.ts';

const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const name = 'cel-parity.reeve.dev';

export class ReviewRecorder {
  readonly #client: ApiClient;
  readonly #server: Server;
  #last: AdmissionReview | undefined;

  private constructor(client: ApiClient, pair: { readonly cert: string; readonly key: string }) {
    this.#client = client;
    this.#server = createServer(pair, (request, response) => {
      void this.#record(request).then((allowance) => response.end(allowance));
    });
  }

  static async start(client: ApiClient): Promise<ReviewRecorder> {
    const { ca, serving } = await issueCertificates({
      namespace: 'cel-parity',
      extraNames: ['127.0.0.1'],
      now: new Date(),
      caLifetimeDays: 2,
      leafLifetimeDays: 1,
    });
    const recorder = new ReviewRecorder(client, { cert: serving.certPem, key: serving.keyPem });
    recorder.#server.listen(0, '127.0.0.1');
    await once(recorder.#server, 'listening');
    const { port } = recorder.#server.address() as AddressInfo;
    await recorder.#unregister();
    const body = configuration(`https://127.0.0.1:${port}/`, ca.certPem);
    await client.mustSend({ method: 'POST', path, body });
    return recorder;
  }

  async stop(): Promise<void> {
    await this.#unregister();
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }

  /** Sends one write at a time. Returns undefined while the webhook is not in force. */
  async reviewOf(subject: Subject): Promise<AnyReview | undefined> {
    this.#last = undefined;
    await this.#client.mustSend(requestOf(subject, name));
    const review = this.#last as AdmissionReview | undefined;
    if (review === undefined) return undefined;
    const decoded = decodeReview(Buffer.from(JSON.stringify(review)), 'validate');
    if (decoded.kind === 'review') return decoded.review;
    throw new Error(`${subject.name}: ${JSON.stringify(decoded)}`);
  }

  async #record(request: IncomingMessage): Promise<string> {
    const review = (await json(request)) as AdmissionReview;
    this.#last = review;
    return allowanceOf(review);
  }

  /** Deletes the configuration, even one that an earlier run has left. */
  async #unregister(): Promise<void> {
    const { status, body } = await this.#client.send({ method: 'DELETE', path: `${path}/${name}` });
    if (status !== 200 && status !== 404) throw new Error(JSON.stringify(body));
  }
}

interface AdmissionReview {
  readonly request: { readonly uid: string };
}

function allowanceOf({ request: { uid } }: AdmissionReview): string {
  const response = { uid, allowed: true };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
}

function configuration(url: string, caPem: string): unknown {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: ['namespaces', 'namespaces/status', 'secrets'],
  };
  const webhook = {
    name,
    rules: [rule],
    matchConditions: [{ name: 'asked', expression: askedFor(name) }],
    clientConfig: { url, caBundle: Buffer.from(caPem).toString('base64') },
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 10,
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [webhook],
  };
}
