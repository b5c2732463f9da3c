// Defines the flags of `reeve import`.
import { importSources } from '../../importers/importer.ts';
import { file, filesSetting, outputSetting } from './common-settings.ts';
import { clusterSettings, installOverrides } from './state-settings.ts';
import { optionalText, switchSetting } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';

export const importSettings = {
  filename: filesSetting(
    'Import from this file or folder in place of a cluster; - is standard input. May be given several times.',
  ),
  ...clusterSettings,
  sharedNamespace: installOverrides.sharedNamespace,
  fromBindings: {
    ...switchSetting(
      'With rolebinding-operator: guess from the RoleBindings that exist what an operator with other names does.',
    ),
    hasVariable: false,
  },
  secretsFile: {
    ...optionalText({
      ...file,
      help: 'Write the Secrets that must move to a shared namespace into this new file, with their values. Without it, no value is written anywhere.',
    }),
    hasVariable: false,
  },
  strict: { ...switchSetting('Exit with 1 if something could not be carried over.'), hasVariable: false },
  output: outputSetting(
    ['yaml', 'json'],
    'YAML to apply, with steps and losses as comments, or JSON for programs.',
  ),
} satisfies Settings;

export type ImportFlags = Values<typeof importSettings>;
export type ImportCall = ImportFlags & { readonly source: string };

export const importForm = commandForm({
  settings: importSettings,
  positionals: {
    placeholder: 'SOURCE',
    help: `The tool to import from: ${importSources.join(', ')}.`,
    choices: importSources,
    min: 1,
    max: 1,
  },
  details:
    'Nothing is written to the cluster. docs/import.md says for each tool what is carried over, and what is not.',
  examples: [
    ['reeve import rbac-manager > policies.yaml', 'all RBACDefinitions of the cluster, as policies'],
    ['reeve import reflector -f secrets/', 'the annotations on Secrets in these files, as shares'],
    ['reeve import capsule -o json | jq .lost', 'what Reeve does not do for these tenants'],
    ['reeve import clustersecret --secrets-file moved.yaml', 'also the Secrets to create, with their values'],
  ],
  exitCodes: [
    [0, 'Done. What could not be carried over is listed.'],
    [1, 'Nothing of the tool was found. Or with --strict something is lost.'],
    [2, 'Wrong flags.'],
    [3, 'A file could not be read, or the cluster did not answer.'],
  ],
});
