// Lists the pages of docs/reference, which `npm run generate` writes.
import type { GeneratedFile } from '../crd-files.ts';
import { knownIntents } from '../../../src/api/intents/intent-ids.ts';
import { documentedIntentSpec } from '../../../src/api/intents/security-intent.ts';
import { kindDefinitions, type Kind } from '../../../src/api/kinds.ts';
import { flagsPage } from './flags-page.ts';
import { kindPage } from './kind-page.ts';
import { code, table } from './markdown.ts';
import { metricsPage } from './metrics-page.ts';

export function referencePages(): readonly GeneratedFile[] {
  return [
    ...kindDefinitions.map((definition) => pageOfKind(definition)),
    { path: 'docs/reference/flags.md', text: flagsPage() },
    { path: 'docs/reference/metrics.md', text: metricsPage() },
  ];
}

/** The file of each kind, and what its page says after the short name. */
const pages: Readonly<Record<Kind, readonly [file: string, see: string]>> = {
  NamespacePolicy: [
    'policy',
    '[Sample policies](../../manifests/samples/README.md) are there to copy. [Expressions](../expressions.md) says what CEL can do here. [Contents](../contents.md) says how contents are kept and what the conditions mean.',
  ],
  SecretShare: [
    'share',
    '[Contents](../contents.md#shares) says how copies are kept and what the conditions mean.',
  ],
  ConfigMapShare: [
    'config-map-share',
    '[Contents](../contents.md#configmaps) says how copies are kept and when a bundle changes.',
  ],
  SecurityIntent: ['intent', 'Params of another id than the given one are refused.'],
  ClusterSecurityIntentBinding: [
    'cluster-intent-binding',
    'It names objects of the kind [SecurityIntent](intent.md).',
  ],
  SecurityIntentBinding: ['intent-binding', 'It names objects of the kind [SecurityIntent](intent.md).'],
  NamespaceClaim: [
    'claim',
    '[Claims](../claims.md) says who may write one, and what happens to its Namespace.',
  ],
};

function pageOfKind({ kind, shortName, schemas, columns }: (typeof kindDefinitions)[number]): GeneratedFile {
  const [file, see] = pages[kind];
  const isIntent = kind === 'SecurityIntent';
  return {
    path: `docs/reference/${file}.md`,
    text: kindPage({
      title: kind,
      schemas: isIntent ? { ...schemas, spec: documentedIntentSpec } : schemas,
      columns,
      see: `Short name: \`${shortName}\`. ${see}`,
      ...(isIntent ? { tables: [idTable()] } : {}),
    }),
  };
}

function idTable(): string {
  const rows = Object.entries(knownIntents).map(([id, { meaning, params }]) => [
    code(id),
    `${meaning.slice(0, 1).toUpperCase()}${meaning.slice(1)}.`,
    params.map(code).join(', '),
  ]);
  return ['## Ids', table(['Id', 'Meaning', 'Params'], rows)].join('\n\n');
}
