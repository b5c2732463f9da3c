// Two sides, `a` and `b`, each a policy and a share, that provide a RoleBinding, a ConfigMap and a Secret of the same names.
import { configMap, namespaceObject, policy, roleBinding, share } from './objects.ts';
import type { Ref, StoredObject, WrittenObject } from './objects.ts';
import type { Stage } from './stage.ts';

export type Side = 'a' | 'b';

/** Fields in which one side differs from the other. */
export interface Wishes {
  readonly role?: string;
  readonly group?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly source?: string;
  readonly immutable?: boolean;
  /** The time at which the RoleBinding expires. */
  readonly expiresAt?: string;
  /** The limit of the policy and of the share. */
  readonly maxDeletions?: number;
  readonly suspend?: boolean;
}

export const sourceName = 'ho-source';

/** Both sides for one namespace. They select it by its label, and their names begin with its name. */
export class Rivals {
  readonly namespace: string;
  readonly objects: readonly [Ref, Ref, Ref];
  readonly #stage: Stage;

  constructor(stage: Stage, namespace: string) {
    this.#stage = stage;
    this.namespace = namespace;
    this.objects = [
      { kind: 'RoleBinding', name: 'shared', namespace },
      { kind: 'ConfigMap', name: 'shared', namespace },
      { kind: 'Secret', name: 'shared', namespace },
    ];
  }

  async come(side: Side, wishes: Wishes = {}): Promise<void> {
    await this.#stage.apply(...this.written(side, wishes));
  }

  /** Deletes the sides. Resolves when they are deleted. */
  async go(...sides: readonly Side[]): Promise<void> {
    await this.#stage.remove(...sides.flatMap((side) => this.refs(side)));
  }

  async makeNamespace(): Promise<void> {
    await this.#stage.apply(namespaceObject(this.namespace, { ho: this.namespace }));
  }

  async deselect(): Promise<void> {
    await this.#stage.kubectl('label', 'namespace', this.namespace, 'ho-');
  }

  refs(side: Side): readonly [Ref, Ref] {
    const name = `${this.namespace}-${side}`;
    return [
      { kind: 'NamespacePolicy', name },
      { kind: 'SecretShare', name },
    ];
  }

  /** Returns what `owners` returns when one side owns all three objects. */
  of(side: Side): readonly string[] {
    const name = `${this.namespace}-${side}`;
    return [`NamespacePolicy/${name}`, `NamespacePolicy/${name}`, `SecretShare/${name}`];
  }

  async owners(): Promise<readonly string[]> {
    return await this.#stage.ownersOf(...this.objects);
  }

  async uids(): Promise<readonly (string | undefined)[]> {
    return await this.#stage.uidsOf(...this.objects);
  }

  /** Returns the readiness of the policy and the share. */
  async readiness(side: Side): Promise<readonly string[]> {
    return await Promise.all(this.refs(side).map((ref) => this.#stage.condition(ref)));
  }

  /** Returns the errors of the policy, then those of the share. */
  async failures(side: Side): Promise<readonly string[]> {
    const failures = await Promise.all(this.refs(side).map((ref) => this.#stage.failures(ref)));
    return failures.flat();
  }

  /** Returns the contents of the three objects: role and groups, data, data. */
  async contents(): Promise<readonly unknown[]> {
    const [binding, settings, secret] = await Promise.all(
      this.objects.map((ref) => this.#stage.mustGet(ref)),
    );
    return [roleAndGroups(binding), settings?.['data'], decoded(secret)];
  }

  written(side: Side, wishes: Wishes): readonly WrittenObject[] {
    const { role, group = 'readers', data = { key: 'value' }, expiresAt, maxDeletions, suspend } = wishes;
    const namespaceSelector = { matchLabels: { ho: this.namespace } };
    const both = {
      ...(maxDeletions === undefined ? {} : { maxDeletions }),
      ...(suspend === undefined ? {} : { suspend }),
    };
    const expiry = expiresAt === undefined ? {} : { expiresAt };
    const contents = {
      roleBindings: [{ ...roleBinding('shared', group, role), ...expiry }],
      resources: [configMap('shared', data)],
    };
    const source = { namespace: 'reeve-shared', name: wishes.source ?? sourceName };
    const target = { name: 'shared', immutable: wishes.immutable ?? false };
    const name = `${this.namespace}-${side}`;
    return [
      policy(name, { match: { namespaceSelector }, contents, ...both }),
      share(name, { source, targets: { namespaceSelector }, target, ...both }),
    ];
  }
}

function roleAndGroups(binding: StoredObject | undefined): string {
  const { roleRef, subjects } = (binding ?? {}) as {
    readonly roleRef?: { readonly name: string };
    readonly subjects?: readonly { readonly name: string }[];
  };
  return `${roleRef?.name}: ${subjects?.map(({ name }) => name).join(', ')}`;
}

function decoded(secret: StoredObject | undefined): unknown {
  const data = Object.entries((secret?.['data'] ?? {}) as Record<string, string>);
  return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}
