// The flags of `reeve serve`.
import { folder, hostSetting, installSettings, processSettings, webhookSettings } from './common-settings.ts';
import { optionalText, requiredText } from './setting-kinds.ts';
import type { Settings, Values } from './settings.ts';

export const serveSettings = {
  policies: requiredText({
    ...folder,
    help: 'The policies and shares to serve: a YAML file, or a folder of them.',
  }),
  clusterState: optionalText({ ...folder, help: 'Namespaces as YAML, in place of a cluster.' }),
  host: hostSetting('127.0.0.1'),
  ...webhookSettings,
  ...installSettings,
  ...processSettings,
} satisfies Settings;

export type ServeSettings = Values<typeof serveSettings>;
