// Writes what `reeve up` prints when it is ready: how to reach the sandbox, what to try, and what was loaded.
import { isJsonObject, ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import { providerKindOf } from '../policy/terms/provider-id.ts';
import type { Paint } from './feed.ts';

export interface UpFacts {
  readonly url: string;
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly webhookUrl: string;
  readonly metricsUrl: string;
  /** The command that starts this program, for a shell. */
  readonly program: string;
  /** The folder of the samples, relative to the current folder. Undefined if other policies than the first steps were loaded. */
  readonly samples: string | undefined;
  readonly loaded: readonly KubeObject[];
}

type Hint = readonly [command: string, effect: string];

const getProviders: Hint = [
  'kubectl get namespacepolicies,secretshares',
  'policies, shares and their status',
];

/** The effects are true only for the policies of the first steps. */
function hintsFor(samples: string | undefined): readonly Hint[] {
  if (samples === undefined) return [getProviders];
  return [
    ['kubectl create namespace app-shop', 'refused, with the reason'],
    [`kubectl apply -f ${samples}/app-shop.yaml`, 'created, with a default label'],
    ['kubectl get rolebindings,secrets,resourcequotas -n app-shop', 'the objects that Reeve created'],
    getProviders,
  ];
}

function curlLines({ samples, caFile, webhookUrl }: UpFacts): readonly string[] {
  if (samples === undefined) return [];
  const local = webhookUrl.replace('127.0.0.1', 'localhost');
  const review = `${samples}/app-without-owner.json`;
  const curl = `curl --cacert ${caFile} -H 'Content-Type: application/json' --data @${review} ${local}/validate`;
  return ['Or send a review as the API server does:', `  ${curl}`, ''];
}

export function readyText(facts: UpFacts, paint: Paint): string {
  const { url, kubeconfig, metricsUrl, loaded, samples, program } = facts;
  const providers = inForce(loaded);
  const hints = hintsFor(samples);
  const width = Math.max(...hints.map(([command]) => command.length));
  return [
    `${paint('bold', 'Reeve runs on a sandbox')}: a Kubernetes API in memory, on ${url}. Ctrl-C stops it and deletes everything.`,
    '',
    'kubectl works with it, kubectl apply included. In another terminal:',
    `  ${paint('bold', `export KUBECONFIG=${kubeconfig}`)}`,
    `  ${paint('bold', `alias reeve='${program}'`)}`,
    '',
    'Then try:',
    ...hints.map(([command, effect]) => `  ${command.padEnd(width)}  ${paint('dim', `# ${effect}`)}`),
    '',
    ...curlLines(facts),
    `Metrics: ${metricsUrl}`,
    '',
    'In force:',
    ...(providers.length === 0
      ? ['  no policies and shares yet: kubectl apply -f one, or start with --policies FOLDER']
      : providers.map(({ kind, name, reach }) => `  ${kind}/${name}: ${reach}`)),
  ].join('\n');
}

/** `processMs`: the CPU time of the start. */
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
    const kind = providerKindOf(object.kind);
    if (kind === undefined) return [];
    const { name = '', namespace } = object.metadata;
    if (namespace !== undefined)
      return [{ kind, name: `${namespace}/${name}`, reach: `namespace ${namespace}` }];
    const { spec } = object;
    const terms = ownMember(spec, 'match') ?? ownMember(spec, 'targets');
    return [{ kind, name, reach: reachText(terms) }];
  });
}

function reachText(terms: unknown): string {
  const parts = termTexts(terms);
  return parts.length === 0 ? 'every namespace' : `namespaces ${parts.join(', ')}`;
}

/** Summarizes the terms, which must all hold. */
function termTexts(terms: unknown): readonly string[] {
  const anyOf = ownMember(terms, 'anyOf');
  const selector = ownMember(terms, 'namespaceSelector');
  return [
    ...named(textsOf(ownMember(terms, 'names')), 'called'),
    ...named(textsOf(ownMember(terms, 'excludeNames')), 'not called'),
    ...named([pairsOf(ownMember(selector, 'matchLabels')).join(' and ')], 'labeled'),
    ...(ownMember(selector, 'matchExpressions') === undefined ? [] : ['selected by labels']),
    ...(ownMember(terms, 'matchConditions') === undefined ? [] : ['that meet its conditions']),
    ...(Array.isArray(anyOf) ? [anyOf.map((each: unknown) => termTexts(each).join(', ')).join(', or ')] : []),
  ];
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
