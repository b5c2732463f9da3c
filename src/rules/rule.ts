// Defines the form of a rule: its field, which writes it judges, and its judgement of a state or of a step between two states.
import type { JsonObject } from '../base/json.ts';
import type { KubeObject, MetadataField } from '../base/metadata.ts';
import type { CompileResult } from '../base/problem.ts';
import type { Definitions, Work } from '../cel/expression.ts';
import type { Template } from '../cel/template.ts';
import type { Infer, Schema } from '../schema/schema.ts';
import type { CompiledWaves } from './waves.ts';

/** The resources that policies have rules for. */
export type ReviewedResource = 'namespaces' | 'secrets' | 'roles' | 'rolebindings';
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';
export const everyOperation: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE'];

export interface Requester {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The parts of an admission request that rules read. */
export interface RuledWrite {
  readonly operation: Operation;
  readonly requester: Requester;
  /** Set for an object that Reeve itself will write. Defaults have no request to read then. */
  readonly isOwnWrite?: true;
  /** Absent on DELETE. */
  readonly object?: KubeObject;
  /** Absent on CREATE. */
  readonly oldObject?: KubeObject;
  /** The fields of `request` that expressions may read. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The facts about a rule that other rooms read, besides its judgement. */
export interface RuleTraits {
  /** The judged operations. Another allowed write proves nothing about the rule, nor does an audit, unless all are listed. */
  readonly operations: readonly Operation[];
  /** Completes "judged when " where `operations` does not say it. */
  readonly judgedWhen?: string;
  /** Orders the rules about one label or annotation: only the first that is violated gives a reason. */
  readonly precedence?: number;
  /** Set if Reeve fulfills the rule by itself, so that a refusal is rare. */
  readonly isFulfilled?: true;
  /** Set for a rule that reads nothing but the type of a Secret, so that it can judge a copy without its data. */
  readonly readsOnlyType?: true;
  /** Set for a rule that reads the sender of the request, which files do not name. */
  readonly readsSender?: true;
  /** Set for a rule that counts other namespaces: no single namespace violates it. */
  readonly countsOthers?: true;
  /** Set for a rule whose expressions decide what it costs. */
  readonly hasExpressions?: true;
  /** Set if an audit judges existing objects by a rule about writes. */
  readonly isAudited?: true;
  /** Set for the rule about contents. Audits and explanations leave it out, because the objects of a namespace say the same. */
  readonly isShownByObjects?: true;
}

/** One rule of the catalogue, in one file. The other rooms derive their facts about the rule from it. */
export interface RuleForm<I extends string = string, S extends Schema = Schema> extends RuleTraits {
  /** The path of the field in the spec. Exceptions and messages name the rule by it. */
  readonly id: I;
  readonly judges: ReviewedResource;
  readonly field: S;
  /** Returns an empty list for a value that requires nothing. */
  compile(value: Infer<S>, definitions: Definitions): Rule | readonly CompileResult<Rule>[];
  /** Returns examples for a first suite, in a Namespace of this name. The engine decides which of them are allowed. */
  examples(value: Infer<S>, namespace: string): RuleExamples;
}

export interface RuleExamples {
  /** The parts that each example on the resource needs, so that the rule allows it. */
  readonly usual?: Pick<ExampleWrite, 'object' | 'sender'>;
  readonly writes?: readonly ExampleWrite[];
}

/** The objects are patches of the usual object, where null removes a field. */
export interface ExampleWrite {
  /** Follows the kind: `of type Opaque`. */
  readonly title?: string;
  /** Default: CREATE. */
  readonly operation?: Operation;
  readonly object?: JsonObject;
  /** The fields of an updated object before the update, unless the usual object has them. */
  readonly before?: JsonObject;
  /** Other Namespaces that exist. */
  readonly others?: readonly JsonObject[];
  /** Default: a cluster administrator. */
  readonly sender?: ExampleSender;
}

interface ExampleSender {
  readonly as: string;
  readonly groups?: readonly string[];
  /** Set for a sender without the right to use the policy. */
  readonly lacksUse?: true;
}

/** Keeps the types of the id and of the field. */
export function ruleForm<const I extends string, S extends Schema>(form: RuleForm<I, S>): RuleForm<I, S> {
  return form;
}

/** A value that a rule looked at although nothing violates it. */
export interface Comparison {
  readonly path: string;
  readonly found: string;
  readonly accepted: string;
}

/** A label or annotation that a rule demands. */
export interface Requirement {
  readonly field: MetadataField;
  readonly key: string;
  readonly accepted: string;
  readonly accepts: (value: string) => boolean;
  /** The units of `accepts`. */
  readonly cost: (value: string) => number;
}

/** The rules that set labels and annotations. */
export type KeyRule = 'namespaces.defaults' | 'namespaces.enforced' | 'secrets.defaults';

/** A label or annotation that Reeve sets: a default where it is missing, an enforced key also where it has another value. */
export interface DefaultKey {
  readonly rule: KeyRule;
  /** True for a key of `namespaces.enforced`. */
  readonly isEnforced: boolean;
  readonly field: MetadataField;
  readonly key: string;
  readonly template: Template;
  /** True for a default that records the creator: set on CREATE, demanded by value, and never changed afterwards. */
  readonly readsRequest: boolean;
  /** The waves in which existing namespaces get an enforced value. Absent: at once. */
  readonly waves?: CompiledWaves;
}

/** One place where an object violates one rule. */
export interface RuleViolation {
  readonly path: string;
  readonly found: string;
  readonly accepted: string;
  /** The reason as a sentence. A refusal shows it in place of `found` and `accepted`. */
  readonly message?: string;
  /** Equal for the same violation on the old and the new object. Undefined, as for an error: the violation is always new. */
  readonly identity: string | undefined;
  /** See `Violation`. */
  readonly isSetByReeve?: true;
  /** Set if exactly one value is right. Then no other rule about the key has a better reason. */
  readonly isExact?: true;
  /** What a user may do who has the right to use the policy, as in "delete namespace a". Such a user violates nothing. */
  readonly permittedByUse?: string;
  /** See `JudgedViolation`. */
  readonly dueTo?: readonly string[];
  /** See `JudgedViolation`. */
  readonly isConsequence?: true;
}

export interface RuleBudget extends Work {
  /** True once the review has used up its budget, or its answer is due. */
  isSpent(): boolean;
}

export interface RuleContext {
  readonly review: RuledWrite;
  readonly now: Date;
  readonly budget: RuleBudget;
  /** The Namespace that the policy matched. In a review of a Namespace: the written Namespace. */
  readonly namespaceObject: KubeObject;
  /** True for a key whose value another policy enforces, which comes first by name. Absent: for no key. */
  readonly isOverruled?: OwnsDefault;
}

interface Compiled {
  /** Only for a field that states several rules, such as `validations/short`. */
  readonly ownId?: `validations/${string}`;
  readonly requirements?: readonly Requirement[];
  readonly defaults?: readonly DefaultKey[];
  /**
   * Returns the values to explain an allowed write with. Of a Secret, these are only its type, its size and the names of its
   * keys. On DELETE, `object` is the old object.
   */
  compared(object: KubeObject, write: ComparedWrite): readonly Comparison[];
}

interface ComparedWrite {
  readonly operation: Operation;
  readonly username: string;
  readonly object?: KubeObject | undefined;
  readonly oldObject?: KubeObject | undefined;
}

/** Judges an object as it stands. With `graced`, a violation of the old object does not block a write. */
export interface StateRule extends Compiled {
  readonly shape: 'state';
  readonly graced: boolean;
  judge(object: KubeObject, context: RuleContext): readonly RuleViolation[];
}

export type OwnsDefault = (field: MetadataField, key: string) => boolean;

export interface StepContext extends RuleContext {
  /** True when the policy matches the namespace after the write. */
  readonly matchesNew: boolean;
  /** True when the policy matched the namespace before the write. */
  readonly matchedOld: boolean;
  /** True when the old object was under the same rules: the policy matched it, and denied its violations if it denies them now. */
  readonly hasGrace: boolean;
  readonly actions: readonly ('Deny' | 'Warn' | 'Audit')[];
  /** Counts the other matched namespaces with this label and value, and stops at `enough`. */
  readonly countOthers: (label: string, value: string, enough: number) => number;
  /** True when the policy is the first by name that sets the default. Only the first demands its value. */
  readonly ownsDefault: OwnsDefault;
}

/** Judges a write: from `review.oldObject`, if any, to `review.object`, if any. */
interface StepRule extends Compiled {
  readonly shape: 'step';
  judge(context: StepContext): readonly RuleViolation[];
}

export type Rule = StateRule | StepRule;
