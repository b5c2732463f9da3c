// Defines the kind ClusterSecurityIntentBinding: intents for many namespaces.
import { type Infer, specification } from '../../schema/schema.ts';
import { defineKind } from '../kind.ts';
import { matchOf } from '../namespace-policy/match.ts';
import { bindingColumns, bindingFields, bindingStatus, workloadProblems } from './intent-binding.ts';

const spec = specification({
  description: 'Which intents must hold, in which namespaces, and for which Pods.',
  fields: { match: matchOf('binding'), ...bindingFields },
  required: ['intents'],
});

export const clusterIntentBinding = defineKind({
  kind: 'ClusterSecurityIntentBinding',
  plural: 'clustersecurityintentbindings',
  shortName: 'csib',
  word: 'binding',
  scope: 'Cluster',
  mayBeMissing: true,
  description:
    'ClusterSecurityIntentBinding says which SecurityIntents must hold in many namespaces, new ones included. Reeve creates and keeps the objects that the security engines need for them.',
  spec,
  status: bindingStatus,
  columns: bindingColumns,
  problemsOf: workloadProblems,
});

export type ClusterIntentBindingSpec = Infer<typeof spec>;
