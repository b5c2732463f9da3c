// namespaces.enforced.waves: the order and the speed in which existing namespaces get enforced values.
import { integer, object, type Infer } from '../schema/schema.ts';
import { atLeastOne, duration } from '../schema/common-fields.ts';
import { compileSelector, labelSelector, type Selector } from '../schema/selector.ts';
import { parseDuration } from '../base/time.ts';
import type { Problem } from '../base/problem.ts';

export const wavesField = object({
  description:
    'Moves enforced values through existing namespaces in waves. Only with existing: Repair. New namespaces, and a namespace whose user changes the key, get the value at once. First come the namespaces of namespaceSelector, then percent of all matched namespaces at a time, or all others. A change of match, of the values or of the selector begins with the first wave again. maxDeletions limits a wave, too. status.waves shows how far it is.',
  fields: {
    namespaceSelector: labelSelector,
    percent: integer({
      description:
        'How many of the matched namespaces one wave moves, in percent and rounded up. Their order comes from their UID, so that no name and no label brings a namespace to the front. Without it, one wave moves all that the first one left. Example: 10.',
      minimum: 1,
      maximum: 100,
    }),
    pause: duration(
      'How long Reeve waits after the last namespace of a wave before the next wave. Default: 10m.',
    ),
    minReady: integer({
      description:
        'The percentage of the namespaces with the values whose condition reeve.dev/Ready must be True. Below it Reeve moves no further namespace, until it is reached again. Default: 90.',
      minimum: 0,
      maximum: 100,
    }),
  },
  rules: [atLeastOne('percent', 'namespaceSelector')],
});

export interface CompiledWaves {
  readonly selector: Selector | undefined;
  readonly percent: number | undefined;
  readonly pauseMs: number;
  readonly minReady: number;
}

type WavesSpec = Infer<typeof wavesField>;

export function compileWaves({
  namespaceSelector,
  percent,
  pause = '10m',
  minReady = 90,
}: WavesSpec): CompiledWaves {
  const selector = namespaceSelector === undefined ? undefined : compileSelector(namespaceSelector);
  return { selector, percent, pauseMs: parseDuration(pause) ?? 0, minReady };
}

/** Without `existing: Repair` no existing namespace is changed, so there is nothing to move. */
export function wavesWithoutRepair(spec: {
  readonly existing: string;
  readonly namespaces?:
    { readonly enforced?: { readonly waves?: object | undefined } | undefined } | undefined;
}): readonly Problem[] {
  if (spec.namespaces?.enforced?.waves === undefined || spec.existing === 'Repair') return [];
  const path = ['spec', 'namespaces', 'enforced', 'waves'];
  return [{ path, found: `waves with existing: ${spec.existing}`, accepted: 'waves with existing: Repair' }];
}
