// What Reeve reports about a share.
import { object } from '../schema/build.ts';
import { statusFields } from '../status-fields.ts';

export const status = object({
  description: 'What Reeve reports about the share; written by Reeve alone.',
  fields: statusFields({
    provider: 'share',
    where: 'target namespaces',
    conditionTypes: 'Ready, SourceAvailable, Reconciling or Stalled',
    conditionMeanings:
      'Ready: all that is desired is there. SourceAvailable: the source is there and can be copied; while it is not, copies stay as they are. Reconciling: work is under way. Stalled: somebody must act first; its reason says why.',
  }),
});
