// Creates policies with one namespace each. The namespace has the policy's name, and the policy selects it by a label.
import { inTime } from './in-time.ts';
import { namespaceObject, policy, type Kind, type Ref, type WrittenObject } from './objects.ts';
import type { Stage } from './stage.ts';

const label = 'contents';

export class Namesakes {
  readonly #stage: Stage;
  readonly #prefix: string;

  constructor(stage: Stage, prefix: string) {
    this.#stage = stage;
    this.#prefix = prefix;
  }

  /** Returns the name that the policy and the namespace share. */
  nameOf(name: string): string {
    return `${this.#prefix}${name}`;
  }

  policy(name: string, contents: object, more: object = {}): WrittenObject {
    const namespaceSelector = { matchLabels: { [label]: name } };
    return policy(this.nameOf(name), { match: { namespaceSelector }, contents, ...more });
  }

  refTo(name: string): Ref {
    return { kind: 'NamespacePolicy', name: this.nameOf(name) };
  }

  objectIn(name: string, kind: Kind, object: string): Ref {
    return { kind, name: object, namespace: this.nameOf(name) };
  }

  /** Returns the name of the namespace. */
  async makeNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<string> {
    await this.#stage.apply(namespaceObject(this.nameOf(name), { [label]: name, ...labels }));
    return this.nameOf(name);
  }

  async deselect(name: string): Promise<void> {
    await this.#stage.kubectl('label', 'namespace', this.nameOf(name), `${label}-`);
  }

  /** Creates both, and returns the name of the namespace once all of its contents exist. */
  async provide(name: string, contents: object, more: object = {}): Promise<string> {
    const namespace = await this.makeNamespace(name);
    await this.#stage.apply(this.policy(name, contents, more));
    // Reeve provides nothing until it has seen the namespace.
    await inTime(() => this.#stage.namespaceCondition(namespace)).toBe('True Synced');
    await inTime(() => this.#stage.condition(this.refTo(name))).toBe('True Synced');
    return namespace;
  }
}
