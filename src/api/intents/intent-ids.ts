// The ids of intents, and the params that each has.
export const intentIds = [
  'assessTLS',
  'cocoWorkload',
  'denyExternalNetworkAccess',
  'dnsManipulation',
  'escapeToHost',
  'exploitPFA',
  'preventExecutionFromTempOrLogsFolders',
  'swDeploymentTools',
  'unAuthorizedSaTokenAccess',
  'virtualPatch',
] as const;
export type IntentId = (typeof intentIds)[number];
