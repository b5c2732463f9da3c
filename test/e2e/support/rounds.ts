// Makes Reeve look at a namespace again, so that what it has not written by then it was not going to write.
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

  /** A policy of its own, which says in every namespace that is labeled how often it has been looked at. */
  async begin(prefix: string): Promise<void> {
    const namespaceSelector = { matchExpressions: [{ key: label, operator: 'Exists' }] };
    const data = { number: `\${namespaceObject.metadata.labels['${label}']}` };
    const spec = { match: { namespaceSelector }, contents: { resources: [configMap(name, data)] } };
    await this.#stage.apply(policy(`${prefix}${name}`, { ...spec, maxDeletions: 1000 }));
  }

  /** Twice: what the first round was to do is done when the second one begins. */
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

  /** All that Reeve has ever written there, but for what came of this. */
  async writes(namespace: string): Promise<readonly string[]> {
    return (await this.#stage.reeveWrites(namespace)).filter(isOthers);
  }

  /** ... and whatever it asked to be written, though nothing changed by it. */
  async attempts(namespace: string): Promise<readonly string[]> {
    return (await this.#stage.reeveAttempts(namespace)).filter(isOthers);
  }
}

function isOthers(write: string): boolean {
  return !write.endsWith(` configmaps ${name}`);
}
