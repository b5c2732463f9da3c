// Defines what every write works with.
import type { KubeObject } from '../../base/kube-object.ts';
import type { Access } from '../access/authorizer.ts';
import type { Admission } from '../admission/admission.ts';
import type { Kinds, Resource } from '../resource.ts';
import type { SandboxStore } from '../store.ts';

export interface WriteContext {
  readonly store: SandboxStore;
  readonly kinds: Kinds;
  readonly admission: Admission;
  readonly authorizer: Access;
  readonly now: () => Date;
  readonly uid: () => string;
}

/** Returns the objects of the whole cluster, or of one namespace. */
export function allObjects(
  { store, kinds }: WriteContext,
  namespace?: string,
): readonly (readonly [Resource, KubeObject])[] {
  return kinds.all().flatMap((kind) => store.list(kind, namespace).map((object) => [kind, object] as const));
}

/** Returns whole seconds: https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#Time.MarshalJSON */
export function timestamp(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}
