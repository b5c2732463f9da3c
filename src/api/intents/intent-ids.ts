// Lists the intents: the id, the meaning and the params of each.
import { namespaceName } from '../../schema/common-fields.ts';
import { subdomainPattern } from '../../base/kubernetes-names.ts';
import {
  choice,
  list,
  text,
  type ObjectOf,
  type ObjectSchema,
  type TextSchema,
  type SchemaRule,
} from '../../schema/schema.ts';
import { compileExpression } from '../../cel/expression.ts';

// The field type of a range of IP addresses, as NetworkPolicies accept it.

/** The API server refuses other ranges in new objects: https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/#StrictIPCIDRValidation */
const isExact = compileExpression('cidr(object) == cidr(object).masked()', { variables: ['object'] }, 'bool');

/** It has no `cel`: Kubernetes 1.30 does not know cidr() in CRDs. */
const exactRange: SchemaRule<string> = {
  accepted: 'a range of IP addresses without further bits set, such as 10.0.0.0/8 or fd00::/8',
  offender: (range) => {
    const outcome = isExact.ok ? isExact.expression.evaluate({ object: range }) : isExact;
    return outcome.ok && outcome.value === true ? undefined : [];
  },
};

function addressRange(description: string): TextSchema {
  return text({
    description,
    maxLength: 43,
    pattern: '^[0-9A-Fa-f:.]+/[0-9]{1,3}$',
    accepted: 'a range of IP addresses such as 10.0.0.0/8 or fd00::/8',
    rules: [exactRange],
  });
}

/** The values that adapters use for a param that is left out. */
export const defaultParams = {
  psaLevel: 'baseline',
  /** https://www.rfc-editor.org/rfc/rfc1918#section-3 */
  ranges: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  runtimeClass: 'kata-clh',
  schedule: '@daily',
} as const;

/** Checks only the form, because the API server parses the schedule when the CronJob is created. */
function schedule(): TextSchema {
  return text({
    description: `When the scanner runs, as in a CronJob. Without it, ${defaultParams.schedule}. For assessTLS and virtualPatch. Example: "0 3 * * 0".`,
    maxLength: 128,
    pattern:
      '^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[-*/,?A-Za-z0-9]+( [-*/,?A-Za-z0-9]+){4})$',
    accepted: 'a schedule such as @daily or 0 3 * * 0',
  });
}

/** The params of all ids. A name means the same for each id that has it. */
export const paramFields = {
  psaLevel: choice(
    `The level of the Pod Security Standards. Without it, ${defaultParams.psaLevel}. For escapeToHost.`,
    ['baseline', 'restricted'],
  ),
  ranges: list({
    description: `The ranges of IP addresses inside the cluster. Without it, ${defaultParams.ranges.join(', ')}. For denyExternalNetworkAccess. Example: [10.0.0.0/8, fd00::/8].`,
    items: addressRange('A range of IP addresses.'),
    minItems: 1,
    maxItems: 32,
    unique: 'set',
  }),
  runtimeClass: text({
    description: `The RuntimeClass of the Pods. Without it, ${defaultParams.runtimeClass}. For cocoWorkload.`,
    maxLength: 253,
    pattern: `^${subdomainPattern}$`,
    accepted: 'the name of a RuntimeClass such as kata-clh',
  }),
  schedule: schedule(),
  externalAddresses: list({
    description:
      'Addresses outside the cluster to scan too. For assessTLS. Example: ["shop.example.com:443"].',
    items: text({
      description: 'A host and a port.',
      maxLength: 261,
      pattern:
        '^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\]):([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$',
      accepted: 'host:port such as shop.example.com:443',
    }),
    maxItems: 100,
    unique: 'set',
  }),
  namespace: namespaceName(
    'The only namespace where the scanner runs, for a ClusterSecurityIntentBinding. Without it, the scanner runs in each namespace. For assessTLS.',
  ),
  cveList: list({
    description: 'The vulnerabilities to patch. For virtualPatch. Example: [CVE-2024-4439].',
    items: text({
      description: 'The id of a vulnerability.',
      maxLength: 32,
      pattern: '^CVE-[0-9]{4}-[0-9]{4,}$',
      accepted: 'an id such as CVE-2024-4439',
    }),
    maxItems: 100,
    unique: 'set',
  }),
} as const;

type ParamName = keyof typeof paramFields;
/** The table below says which id has which params. */
export type IntentParams = ObjectOf<typeof paramFields, never>;

interface IntentKnowledge {
  /** Completes "The intent requires that …". */
  readonly meaning: string;
  readonly params: readonly ParamName[];
  /** Why no adapter supports it, whatever the cluster has. */
  readonly whyUnsupported?: string;
}

/** In alphabetical order. */
export const knownIntents = {
  assessTLS: {
    meaning: 'a scanner reports weak TLS of the Services on a schedule',
    params: ['schedule', 'externalAddresses', 'namespace'],
  },
  cocoWorkload: {
    meaning: 'Deployments run their Pods as confidential containers',
    params: ['runtimeClass'],
  },
  denyExternalNetworkAccess: {
    meaning: 'Pods talk only to addresses inside the cluster',
    params: ['ranges'],
  },
  dnsManipulation: {
    meaning: 'Pods resolve names only with the resolver of the cluster',
    params: [],
  },
  escapeToHost: {
    meaning: 'a container cannot take over its node',
    params: ['psaLevel'],
  },
  exploitPFA: {
    meaning: 'no process starts from a folder that an attacker can write to',
    params: [],
  },
  preventExecutionFromTempOrLogsFolders: {
    meaning: 'no process starts from a folder for temporary files or logs',
    params: [],
  },
  swDeploymentTools: {
    meaning: 'no package manager or build tool starts in a container',
    params: [],
  },
  unAuthorizedSaTokenAccess: {
    meaning: 'a process cannot read the token of its ServiceAccount',
    params: [],
  },
  virtualPatch: {
    meaning: 'known vulnerabilities cannot be exploited although the images have them',
    params: ['cveList', 'schedule'],
    whyUnsupported: 'it needs a feed of vulnerabilities from the internet, which Reeve does not read',
  },
} as const satisfies Readonly<Record<string, IntentKnowledge>>;

export type IntentId = keyof typeof knownIntents;

export function isIntentId(id: string): id is IntentId {
  return Object.hasOwn(knownIntents, id);
}

const description = 'Details of the intent. Each id has params of its own; most have none.';

/** The params of one id. Others are refused. */
export function paramsOf(id: IntentId): ObjectSchema<IntentParams> {
  const names: readonly string[] = knownIntents[id].params;
  const fields = Object.fromEntries(Object.entries(paramFields).filter(([name]) => names.includes(name)));
  return { kind: 'object', description, fields, required: [], open: false };
}

/** All params, for an id that is not known. */
export const allParams: ObjectSchema<IntentParams> = {
  kind: 'object',
  description,
  fields: paramFields,
  required: [],
  open: false,
};
