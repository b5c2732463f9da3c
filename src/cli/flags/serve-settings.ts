// Defines the flags of `reeve serve`.
import {
  checkedTls,
  fileOrFolder,
  hostSetting,
  installSettings,
  processSettings,
  webhookSettings,
} from './common-settings.ts';
import { optionalText, requiredText } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';

export const serveSettings = {
  policies: requiredText({
    ...fileOrFolder,
    help: 'The policies, shares, intents and bindings to serve: a YAML file, or a folder of them.',
  }),
  clusterState: optionalText({ ...fileOrFolder, help: 'Namespaces as YAML, in place of a cluster.' }),
  host: hostSetting('127.0.0.1'),
  ...webhookSettings,
  ...installSettings,
  ...processSettings,
} satisfies Settings;

export type ServeFlags = Values<typeof serveSettings>;

export const serveForm = commandForm({ settings: serveSettings, check: checkedTls });
