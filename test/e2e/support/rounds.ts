// Makes Reeve reconcile a namespace again. A write that has not happened by then will not happen.
import { inTime } from './in-time.ts';
import { configMap, policy } from './objects.ts';
import type { Stage } from './stage.ts';

const name = 'round';
const label = 'round';

export class Rounds {
  readonly #stage: Stage;
  #last = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Creates a policy that copies the number of the round from a label into each labeled namespace. */
  async begin(prefix: string): Promise<void> {
    const namespaceSelector = { matchExpressions: [{ key: label, operator: 'Exists' }] };
    const data = { number: `\${namespaceObject.metadata.labels['${label}']}` };
    const spec = { match: { namespaceSelector }, contents: { resources: [configMap(name, data)] } };
    await this.#stage.apply(policy(`${prefix}${name}`, { ...spec, maxDeletions: 1000 }));
  }

  /** Runs two rounds: all work of the first round is done when the second one begins. */
  async pass(namespace: string): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      this.#last += 1;
      const number = String(this.#last);
      await this.#stage.kubectl('label', 'namespace', namespace, `${label}=${number}`, '--overwrite');
      await inTime(async () => {
        const object = await this.#stage.get({ kind: 'ConfigMap', name, namespace });
        return object?.['data'];
      }).toEqual({ number });
    }
  }

  /** Returns all writes of Reeve in the namespace, except those for the rounds. */
  async writes(namespace: string): Promise<readonly string[]> {
    return (await this.#stage.reeveWrites(namespace)).filter(isOthers);
  }

  /** Returns all write requests of Reeve in the namespace too, even those that changed nothing. */
  async attempts(namespace: string): Promise<readonly string[]> {
    return (await this.#stage.reeveAttempts(namespace)).filter(isOthers);
  }
}

function isOthers(write: string): boolean {
  return !write.endsWith(` configmaps ${name}`);
}
