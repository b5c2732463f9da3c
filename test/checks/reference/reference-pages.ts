// Lists the pages of docs/reference, which `npm run generate` writes.
import type { GeneratedFile } from '../../../src/api/crd.ts';
import { namespacePolicyColumns } from '../../../src/api/namespace-policy/status.ts';
import { namespacePolicySchemas } from '../../../src/api/namespace-policy/namespace-policy.ts';
import { secretShareColumns, secretShareSchemas } from '../../../src/api/secret-share/secret-share.ts';
import {
  clusterIntentBindingKind,
  clusterIntentBindingSchemas,
} from '../../../src/api/intents/cluster-intent-binding.ts';
import {
  intentBindingKind,
  intentBindingSchemas,
  bindingColumns,
  securityIntentColumns,
} from '../../../src/api/intents/intent-binding.ts';
import { knownIntents } from '../../../src/api/intents/intent-ids.ts';
import {
  documentedIntentSpec,
  securityIntentKind,
  securityIntentSchemas,
} from '../../../src/api/intents/security-intent.ts';
import { flagsPage } from './flags-page.ts';
import { kindPage } from './kind-page.ts';
import { code, table } from './markdown.ts';
import { metricsPage } from './metrics-page.ts';

export function referencePages(): readonly GeneratedFile[] {
  return [
    {
      path: 'docs/reference/policy.md',
      text: kindPage({
        title: 'NamespacePolicy',
        schemas: namespacePolicySchemas,
        columns: namespacePolicyColumns,
        see: 'Short name: `nspol`. [Sample policies](../../manifests/samples/README.md) are there to copy. [Expressions](../expressions.md) says what CEL can do here. [Contents](../contents.md) says how contents are kept and what the conditions mean.',
      }),
    },
    {
      path: 'docs/reference/share.md',
      text: kindPage({
        title: 'SecretShare',
        schemas: secretShareSchemas,
        columns: secretShareColumns,
        see: 'Short name: `sshare`. [Contents](../contents.md#shares) says how copies are kept and what the conditions mean.',
      }),
    },
    {
      path: 'docs/reference/intent.md',
      text: kindPage({
        title: securityIntentKind,
        schemas: { ...securityIntentSchemas, spec: documentedIntentSpec },
        columns: securityIntentColumns,
        see: 'Short name: `sint`. Params of another id than the given one are refused.',
        tables: [idTable()],
      }),
    },
    {
      path: 'docs/reference/cluster-intent-binding.md',
      text: kindPage({
        title: clusterIntentBindingKind,
        schemas: clusterIntentBindingSchemas,
        columns: bindingColumns,
        see: `Short name: \`csib\`. It names objects of the kind [SecurityIntent](intent.md).`,
      }),
    },
    {
      path: 'docs/reference/intent-binding.md',
      text: kindPage({
        title: intentBindingKind,
        schemas: intentBindingSchemas,
        columns: bindingColumns,
        see: `Short name: \`sib\`. It names objects of the kind [SecurityIntent](intent.md).`,
      }),
    },
    { path: 'docs/reference/flags.md', text: flagsPage() },
    { path: 'docs/reference/metrics.md', text: metricsPage() },
  ];
}

function idTable(): string {
  const rows = Object.entries(knownIntents).map(([id, { meaning, params }]) => [
    code(id),
    `${meaning.slice(0, 1).toUpperCase()}${meaning.slice(1)}.`,
    params.map(code).join(', '),
  ]);
  return ['## Ids', table(['Id', 'Meaning', 'Params'], rows)].join('\n\n');
}
