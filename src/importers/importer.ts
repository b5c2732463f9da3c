// Defines the input and the result of an importer, and the table that describes an older tool.
import type { KubeObject } from '../base/metadata.ts';
import type { ImportOrigin, ImportOutput } from '../inspect/output-schemas/import-output.ts';

/** An object of the input. File and line are missing for an object of a cluster. */
export interface SourceObject {
  readonly object: KubeObject;
  readonly file?: string;
  readonly line?: number;
}

/** A Secret that shares will copy from a shared namespace. */
export interface MovedSecret {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly keys: readonly string[];
  /** The object that has the data today: a Secret, or an object of the tool. */
  readonly from: ImportOrigin['object'];
}

export interface ImportResult extends Pick<ImportOutput, 'objects' | 'adopt' | 'steps' | 'notes' | 'lost'> {
  readonly moved: readonly MovedSecret[];
  /** The Secrets whose type matters. A list of metadata lacks the type. */
  readonly sources: readonly { readonly namespace: string; readonly name: string }[];
}

export interface ImportOptions {
  /** True for an operator without a kind of its own: the import guesses its work from the existing RoleBindings. */
  readonly fromBindings: boolean;
  /** The namespaces from which shares may copy. The first one gets the Secrets that live elsewhere. */
  readonly sharedNamespaces: readonly string[];
  /** The file that gets the moved Secrets. Without it, a person creates the Secrets. */
  readonly secretsFile?: string | undefined;
}

/** A path whose keys are divided by spaces, because keys of annotations contain dots. A field without a reason has no effect. */
export type FieldRow = readonly [path: string, why?: string, instead?: string];

/** An older tool: how to recognize its objects, and how people turn the tool off. */
export interface OlderTool {
  /** The API groups of its kinds. */
  readonly groups: readonly string[];
  /** Other kinds that the tool copies or steers, by API version. */
  readonly reads: Readonly<Record<string, readonly string[]>>;
  /** The prefix of the annotations that steer the tool, up to the slash. */
  readonly annotations?: string;
  /** Annotations with that prefix in which the tool notes its last work. */
  readonly marks?: readonly string[];
  /** The labels and annotations of its own objects that have an effect. */
  readonly ownKeys?: RegExp;
  /** Fields that no code reads, by kind. They are lost, or have no effect that Reeve would lack. */
  readonly fields?: Readonly<Record<string, readonly FieldRow[]>>;
  /** A warning of what a person must never do during the move. */
  readonly danger?: string;
  /** The first step: stops the tool, so that it does not work against Reeve. */
  readonly stop: string;
  /** The last step: removes the rest of the tool. */
  readonly end: string;
}
