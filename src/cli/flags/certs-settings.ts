// Defines the flags of `reeve certs`.
import { maxLifetimeDays } from '../../certs/issue/issue.ts';
import { folder, installNamespace } from './common-settings.ts';
import { integerSetting, requiredText, switchSetting } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';

export const certsDefaults = {
  installNamespace: 'reeve-system',
  force: false,
  caDays: 3650,
  days: 365,
} as const;

export const certsSettings = {
  out: requiredText({ ...folder, help: 'The folder for ca.crt, ca.key, tls.crt and tls.key.' }),
  installNamespace: installNamespace(certsDefaults.installNamespace),
  force: switchSetting('Replace existing files.'),
  caDays: integerSetting(certsDefaults.caDays, 1, maxLifetimeDays, {
    placeholder: 'DAYS',
    help: 'How long the authority is valid.',
  }),
  days: integerSetting(certsDefaults.days, 1, maxLifetimeDays, {
    placeholder: 'DAYS',
    help: 'How long the serving certificate is valid.',
  }),
} satisfies Settings;

export type CertsFlags = Values<typeof certsSettings>;

export const certsForm = commandForm({ settings: certsSettings });
