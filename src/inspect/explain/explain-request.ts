// Explains an admission request: what each rule of each policy compared, the rights that were asked, and the answer.
import { cliApiVersion, emergencyGroup } from '../../schema/names.ts';
import type { RuleId } from '../../rules/rules.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { rightKey, type RuleOutcome, type Right, type RightKey } from '../../policy/terms/review.ts';
import { useOf } from '../../policy/terms/provider-id.ts';
import type { Comparison, Operation } from '../../rules/rule.ts';
import type { LoadedProvider } from '../../state/stored-provider.ts';
import { judgeWrite } from '../input/judged-write.ts';
import type {
  ExplainedProvider,
  ExplainedRight,
  ExplainedRule,
  ExplainOutput,
} from '../output-schemas/explanation.ts';
import { sortedProviders, type LookedAt, excludedText, explainMatch, isAbout } from './looked-at.ts';
import { policyIn, type PolicyDefinition } from '../../policy/compile/load-provider.ts';
import { exceptedBy, exceptionOf, saidBy } from './namespace-rules.ts';
import { reeveAccount, rightText } from './rights.ts';

/** `request`: the `request` of an AdmissionReview. */
export async function explainRequest(request: JsonObject, at: LookedAt): Promise<ExplainOutput> {
  const { state, cluster, now, mayDo } = at;
  const outcomes: RuleOutcome[] = [];
  const rights: ExplainedRight[] = [];
  const held = new Set<RightKey>();
  const { answer, warnings, object } = await judgeWrite(request, {
    snapshot: cluster.snapshot(),
    install: state.install,
    access: {
      mayDo: async (user, right) => {
        const found = await mayDo(user, right);
        rights.push(askedRight(user.username, right, found));
        if (found === 'yes') held.add(rightKey(right));
        return found;
      },
    },
    now,
    trace: (outcome) => void outcomes.push(outcome),
  });
  const parts = { ...partsOf(request), object: object ?? objectIn(request['object']) };
  const { refusal } = answer;
  return {
    apiVersion: cliApiVersion,
    kind: 'Explanation',
    about: 'request',
    target: parts.target,
    found: true,
    summary: refusal === undefined ? `${parts.title} is allowed` : `${parts.title} is refused`,
    unread: state.unread,
    allowed: refusal === undefined,
    ...(refusal === undefined ? {} : { refusal: refusal.message }),
    notes: [
      ...exemptionNotes(request, parts.namespace, at),
      ...(refusal !== undefined &&
      object === undefined &&
      parts.object !== undefined &&
      answer.decision !== 'malformed'
        ? [noRuleAsked]
        : []),
      ...warnings.map((warning) => `warning: ${warning}`),
    ],
    providers: answer.decision === 'malformed' ? [] : providersOf(parts, at),
    rules: outcomes.flatMap((outcome) => ruleOf(outcome, { ...parts, held }, at)),
    rights: rights.toSorted((a, b) => (a.right < b.right ? -1 : Number(a.right > b.right))),
  };
}

const noRuleAsked = 'the webhook that sets defaults refused the request, so no rule was asked';

interface RequestParts {
  readonly target: ExplainOutput['target'];
  /** Example: `CREATE of Namespace team-a by alice`. */
  readonly title: string;
  readonly namespace: string;
  readonly resource: string;
  readonly username: string;
  readonly operation: Operation;
  readonly oldObject: KubeObject | undefined;
}

const operations = ['CREATE', 'UPDATE', 'DELETE'] as const;

function partsOf(request: JsonObject): RequestParts {
  const text = (...path: readonly string[]): string => {
    const value = path.reduce<unknown>(ownMember, request);
    return typeof value === 'string' ? clipped(value, 253) : '';
  };
  const [group, version, kind] = [text('kind', 'group'), text('kind', 'version'), text('kind', 'kind')];
  const name = text('name') || text('object', 'metadata', 'name');
  const resource = text('resource', 'resource');
  const namespace = resource === 'namespaces' ? name : text('namespace');
  const username = text('userInfo', 'username');
  const shownName = name === '' ? 'without a name' : name;
  const place = resource === 'namespaces' || namespace === '' ? '' : `${namespace}/`;
  return {
    target: {
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      ...(place === '' ? {} : { namespace }),
      name,
    },
    title:
      kind === '' ? 'the request' : `${text('operation')} of ${kind} ${place}${shownName} by ${username}`,
    namespace,
    resource,
    username,
    operation: operations.find((each) => each === text('operation')) ?? 'CREATE',
    oldObject: objectIn(request['oldObject']),
  };
}

function objectIn(value: unknown): KubeObject | undefined {
  const metadata = ownMember(value, 'metadata');
  return isJsonObject(value) && isJsonObject(metadata) ? { ...value, metadata } : undefined;
}

function askedRight(username: string, right: Right, found: 'yes' | 'no' | 'unknown'): ExplainedRight {
  const outcome = { yes: 'held', no: 'missing', unknown: 'unknown' } as const;
  const text = rightText({ ...right, verbs: [right.verb] });
  return { holder: clipped(username), right: `${text}, to ${right.effect}`, outcome: outcome[found] };
}

function isExcluded(namespace: string, { cluster }: LookedAt): boolean {
  return cluster.snapshot().policies.isExcluded(namespace);
}

/** Says that the webhook configurations exempt the user or the namespace, so that the API server does not ask Reeve. */
function exemptionNotes(request: JsonObject, namespace: string, at: LookedAt): readonly string[] {
  const user = request['userInfo'];
  const groups = ownMember(user, 'groups');
  const isEmergency = Array.isArray(groups) && groups.includes(emergencyGroup);
  const isReeve = ownMember(user, 'username') === reeveAccount(at.state).username;
  const who = isReeve ? 'its own account' : `group ${emergencyGroup}`;
  return [
    ...(isEmergency || isReeve ? [`the API server does not ask Reeve about requests of ${who}`] : []),
    ...(isExcluded(namespace, at) ? [`namespace ${namespace}: ${excludedText}`] : []),
  ];
}

/** Explains each provider's match: with the written Namespace, or with the Namespace of another written object. */
function providersOf(
  { namespace, resource, object, oldObject }: JudgedRequest,
  at: LookedAt,
): readonly ExplainedProvider[] {
  const isOfNamespace = resource === 'namespaces';
  const after = isOfNamespace ? (object ?? oldObject) : at.cluster.snapshot().namespace(namespace);
  if (after === undefined || isExcluded(namespace, at)) return [];
  const before = isOfNamespace && object !== undefined ? oldObject : undefined;
  return sortedProviders(at)
    .filter((each) => isAbout(each, namespace) && (isOfNamespace || policyIn(each.definition) !== undefined))
    .map((each) => ({
      id: each.state.id,
      ...explainMatch(each, after, at),
      ...changeOfMatch(each, before, after, at),
      objects: [],
    }));
}

/** Says how the write changes the match. Such a write needs rights, and is refused if the match had an error before it. */
function changeOfMatch(
  provider: LoadedProvider,
  before: KubeObject | undefined,
  after: KubeObject,
  at: LookedAt,
): Pick<ExplainedProvider, 'message'> {
  if (before === undefined) return {};
  const [old, now] = [explainMatch(provider, before, at), explainMatch(provider, after, at)];
  if (old.matches === now.matches) return {};
  const words = { yes: 'it matched', no: 'it did not match', error: 'it had an error' }[old.matches];
  const why = old.matches === 'error' ? `: ${old.message ?? ''}` : '';
  return {
    message: [`before the write ${words}${why}`, ...(now.message === undefined ? [] : [now.message])].join(
      '; ',
    ),
  };
}

interface JudgedRequest extends RequestParts {
  readonly object: KubeObject | undefined;
}

interface AnsweredRequest extends JudgedRequest {
  /** The rights that the user has. */
  readonly held: ReadonlySet<RightKey>;
}

function ruleOf(
  { policy, rule, kind, fresh: found, old, actions }: RuleOutcome,
  request: AnsweredRequest,
  at: LookedAt,
): readonly ExplainedRule[] {
  const definition = definitionOf(policy, at);
  if (definition === undefined) return [];
  const about = { policy, rule };
  const mayUse = request.held.has(rightKey(useOf(definition.compiled.id)));
  const fresh = found.filter(({ permittedByUse }) => !mayUse || permittedByUse === undefined);
  const exception = exceptionOf(definition, rule, request.namespace, at.now);
  if (kind === 'excepted' && exception !== undefined) return [{ ...about, ...exceptedBy(exception) }];
  if (kind === 'unasked')
    return [{ ...about, outcome: 'not checked', message: whyUnasked(request.operation) }];
  const said = saidBy([...fresh, ...old]);
  if (said.outcome === 'holds')
    return heldBy(definition, rule, request).map((compared) => ({ ...about, ...said, compared }));
  const effect = fresh.length === 0 ? 'not new, so it blocks no write' : actions.join(', ');
  return [{ ...about, ...said, message: `${said.message ?? ''} (${effect})` }];
}

/** Returns what the rule compared. Returns nothing for a rule that the objects of the namespace explain. */
function heldBy(
  { compiled }: PolicyDefinition,
  id: RuleId,
  request: JudgedRequest,
): readonly (readonly Comparison[])[] {
  const object = request.object ?? request.oldObject ?? { metadata: {} };
  const rule = Object.values(compiled.rules)
    .flat()
    .find((each) => each.id === id);
  return rule === undefined || rule.traits.isShownByObjects === true ? [] : [rule.compared(object, request)];
}

function whyUnasked(operation: Operation): string {
  return operation === 'DELETE'
    ? 'a deletion leaves no object to judge'
    : 'the policy does not match what the write leaves';
}

function definitionOf(name: string, { cluster }: LookedAt): PolicyDefinition | undefined {
  for (const { definition } of cluster.providers())
    if (definition?.compiled.name === name) return policyIn(definition);
  return undefined;
}
