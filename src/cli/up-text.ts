// What `reeve up` prints when it is ready: how to reach it, what to try, and what is in force.
import { isJsonObject, ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { providerKinds } from '../policy/terms/provider-id.ts';
import type { Paint } from './feed-text.ts';

export interface UpFacts {
  readonly url: string;
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly webhookUrl: string;
  /** The folder of the samples, as a person in the present folder names it. */
  readonly samples: string;
  readonly loaded: readonly KubeObject[];
}

function triesIn(samples: string): readonly (readonly [command: string, effect: string])[] {
  return [
    ['kubectl create namespace app-shop', 'refused, and why'],
    [`kubectl apply -f ${samples}/app-shop.yaml`, 'taken, with a label set'],
    ['kubectl get rolebindings,secrets,resourcequotas -n app-shop', 'what it contains'],
  ];
}

export function readyText(facts: UpFacts, paint: Paint): string {
  const { url, kubeconfig, caFile, webhookUrl, loaded, samples } = facts;
  const local = webhookUrl.replace('127.0.0.1', 'localhost');
  const review = `${samples}/app-without-owner.json`;
  const curl = `curl --cacert ${caFile} -H 'Content-Type: application/json' --data @${review} ${local}/validate`;
  const tries = triesIn(samples);
  const width = Math.max(...tries.map(([command]) => command.length));
  return [
    `${paint('bold', 'Reeve runs on a sandbox')}: a Kubernetes-shaped API in memory, on ${url}, gone when you stop it (Ctrl-C).`,
    '',
    'In another terminal:',
    `  ${paint('bold', `export KUBECONFIG=${kubeconfig}`)}`,
    '',
    'Then try:',
    ...tries.map(([command, effect]) => `  ${command.padEnd(width)}  ${paint('dim', `# ${effect}`)}`),
    '',
    'Or be the API server:',
    `  ${curl}`,
    '',
    'In force:',
    ...inForce(loaded).map(({ kind, name, reach }) => `  ${kind}/${name}: ${reach}`),
  ].join('\n');
}

/** `processMs`: what it took to get ready. */
export function readyJson({ loaded, ...facts }: UpFacts, processMs: number): string {
  return JSON.stringify({ type: 'ready', ...facts, inForce: inForce(loaded), processMs });
}

interface InForce {
  readonly kind: string;
  readonly name: string;
  readonly reach: string;
}

function inForce(loaded: readonly KubeObject[]): readonly InForce[] {
  return loaded.flatMap((object) => {
    const kind = providerKinds.find((each) => each === object.kind);
    if (kind === undefined) return [];
    const terms = ownMember(object['spec'], kind === 'NamespacePolicy' ? 'match' : 'targets');
    return [{ kind, name: object.metadata.name ?? '', reach: reachText(terms) }];
  });
}

/** All terms must hold; in full they are in the object itself. */
function reachText(terms: unknown): string {
  const selector = ownMember(terms, 'namespaceSelector');
  const parts = [
    ...named(textsOf(ownMember(terms, 'names')), 'called'),
    ...named(textsOf(ownMember(terms, 'excludeNames')), 'not called'),
    ...named([pairsOf(ownMember(selector, 'matchLabels')).join(' and ')], 'labeled'),
    ...(ownMember(selector, 'matchExpressions') === undefined ? [] : ['selected by labels']),
    ...(ownMember(terms, 'matchConditions') === undefined ? [] : ['that meet its conditions']),
  ];
  return parts.length === 0 ? 'every namespace' : `namespaces ${parts.join(', ')}`;
}

function named(texts: readonly string[], word: string): readonly string[] {
  const given = texts.filter((text) => text !== '');
  return given.length === 0 ? [] : [`${word} ${given.join(' or ')}`];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function pairsOf(value: unknown): readonly string[] {
  return isJsonObject(value) ? Object.entries(value).map(([key, text]) => `${key}=${String(text)}`) : [];
}
