// Lists the pages of docs/reference, which `npm run generate` writes.
import type { GeneratedFile } from '../../../src/api/crd.ts';
import { namespacePolicyColumns } from '../../../src/api/namespace-policy/status.ts';
import { namespacePolicySchemas } from '../../../src/api/namespace-policy/namespace-policy.ts';
import { secretShareColumns } from '../../../src/api/secret-share/status.ts';
import { secretShareSchemas } from '../../../src/api/secret-share/secret-share.ts';
import { flagsPage } from './flags-page.ts';
import { kindPage } from './kind-page.ts';
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
    { path: 'docs/reference/flags.md', text: flagsPage() },
    { path: 'docs/reference/metrics.md', text: metricsPage() },
  ];
}
