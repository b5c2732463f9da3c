// Specs of intents and bindings that are accepted, and those that are refused with what is said of them.
import { knownIntents } from '../../../../src/api/intents/intent-ids.ts';

type Accepted = readonly (readonly [title: string, spec: unknown])[];
/** Reeve refuses all of them. What the API server leaves to Reeve is marked so. */
type Refused = readonly (readonly [
  title: string,
  spec: unknown,
  problem: string,
  by: 'API server' | 'Reeve',
])[];

export const acceptedIntents: Accepted = [
  ...Object.keys(knownIntents).map((id) => [`the id ${id} without params`, { id }] as const),
  ['no params', { id: 'exploitPFA', params: {} }],
  ['nulls for what is left out', { id: 'exploitPFA', params: null, tags: null, action: null }],
  [
    'everything',
    {
      id: 'escapeToHost',
      action: 'Warn',
      severity: 'Critical',
      description: 'é'.repeat(1024),
      tags: ['NIST', 'PCI-DSS'],
      params: { psaLevel: 'restricted' },
    },
  ],
  ['ranges', ranges('10.0.0.0/8', '0.0.0.0/0', '192.0.2.7/32', 'fd00::/8', 'FD00::/16', '::/0')],
  ['a runtime class', { id: 'cocoWorkload', params: { runtimeClass: 'kata-qemu.tdx' } }],
  ...['@hourly', '0 3 * * 0', '*/5 0-6,8 ? JAN MON-FRI'].map(
    (schedule) => [`the schedule ${schedule}`, { id: 'assessTLS', params: { schedule } }] as const,
  ),
  ['addresses', addresses('shop.example.com:443', '192.0.2.1:1', '[2001:db8::1]:65535', 'LOCALHOST:8443')],
  ['one namespace for the scanner', { id: 'assessTLS', params: { namespace: 'scans' } }],
  [
    'what nothing supports yet',
    { id: 'virtualPatch', params: { cveList: ['CVE-2024-4439', 'CVE-2024-1234567'], schedule: '@daily' } },
  ],
];

function ranges(...values: readonly string[]): object {
  return { id: 'denyExternalNetworkAccess', params: { ranges: values } };
}

function addresses(...externalAddresses: readonly string[]): object {
  return { id: 'assessTLS', params: { externalAddresses } };
}

export const refusedIntents: Refused = [
  ['no id', {}, 'spec.id: found nothing; accepted: text that is not empty', 'API server'],
  ['an id that is a number', { id: 5 }, 'spec.id: found 5', 'API server'],
  ['an id that is nearly right', { id: 'escapeToHots' }, '(did you mean escapeToHost?)', 'Reeve'],
  ['an id in small letters', { id: 'assesstls' }, '(did you mean assessTLS?)', 'Reeve'],
  [
    'an id that is like none',
    { id: 'antivirus' },
    'spec.id: found the unknown id "antivirus"; accepted: assessTLS, coco',
    'Reeve',
  ],
  ['an id that objects have by nature', { id: 'constructor' }, 'found the unknown id "constructor"', 'Reeve'],
  [
    'an unknown param',
    { id: 'escapeToHost', params: { psaLvel: 'x' } },
    'accepted: psaLevel (did you mean psaLevel?)',
    'Reeve',
  ],
  [
    'a param of another id',
    { id: 'cocoWorkload', params: { psaLevel: 'baseline' } },
    'spec.params.psaLevel: found an unknown field; accepted: runtimeClass',
    'Reeve',
  ],
  [
    'a param of an id without params',
    { id: 'dnsManipulation', params: { a: 1 } },
    'spec.params.a: found an unknown field; accepted: no fields',
    'Reeve',
  ],
  [
    'a param that is a list as in Nimbus',
    { id: 'escapeToHost', params: { psaLevel: ['restricted'] } },
    'spec.params.psaLevel: found a list of 1; accepted: baseline or restricted',
    'API server',
  ],
  [
    'an unknown level',
    { id: 'escapeToHost', params: { psaLevel: 'privileged' } },
    'accepted: baseline or restricted',
    'API server',
  ],
  [
    'params that are a list',
    { id: 'escapeToHost', params: [] },
    'spec.params: found an empty list',
    'API server',
  ],
  [
    'an unknown action',
    { id: 'escapeToHost', action: 'Deny' },
    'accepted: Block, Audit or Warn',
    'API server',
  ],
  [
    'an unknown severity',
    { id: 'escapeToHost', severity: 'low' },
    'accepted: Low, Medium, High or Critical',
    'API server',
  ],
  [
    'a tag twice',
    { id: 'escapeToHost', tags: ['a', 'a'] },
    'spec.tags[1]: found "a" a second time',
    'API server',
  ],
  ['no ranges', ranges(), 'spec.params.ranges: found an empty list', 'API server'],
  ['a range that is a name', ranges('cluster'), 'spec.params.ranges[0]: found "cluster"', 'API server'],
  ['a range of further bits', ranges('10.0.0.1/8'), 'without further bits set', 'Reeve'],
  ['a range of IPv6 with further bits', ranges('fd00::1/8'), 'without further bits set', 'Reeve'],
  ['an address without a range', ranges('10.0.0.1'), 'such as 10.0.0.0/8', 'API server'],
  ['a range that is too long', ranges('10.0.0.0/33'), 'without further bits set', 'Reeve'],
  ['a range with a leading zero', ranges('010.0.0.0/8'), 'without further bits set', 'Reeve'],
  ['IPv4 inside IPv6', ranges('::ffff:10.0.0.0/104'), 'without further bits set', 'Reeve'],
  ['a range twice', ranges('10.0.0.0/8', '10.0.0.0/8'), 'a second time', 'API server'],
  [
    'a runtime class with a capital',
    { id: 'cocoWorkload', params: { runtimeClass: 'Kata' } },
    'the name of a RuntimeClass',
    'API server',
  ],
  ...[
    'daily',
    '* * * *',
    '* * * * * *',
    '@every 1s',
    '* * * * *\n',
    'TZ=UTC * * * * *',
    '* * * * ;',
    '',
    'Reeve',
  ].map(
    (schedule) =>
      [
        `the schedule ${JSON.stringify(schedule)}`,
        { id: 'assessTLS', params: { schedule } },
        'accepted: a schedule such as',
        'API server',
      ] as const,
  ),
  ...[
    'shop.example.com',
    'shop:0',
    'shop:65536',
    'shop:443/x',
    'https://shop:443',
    'a b:1',
    '-a:1',
    'shop:443\nevil:1',
    'Reeve',
  ].map(
    (address) =>
      [
        `the address ${JSON.stringify(address)}`,
        addresses(address),
        'accepted: host:port',
        'API server',
      ] as const,
  ),
  [
    'a glob as a namespace',
    { id: 'assessTLS', params: { namespace: 'a*' } },
    'the name of a namespace',
    'API server',
  ],
  [
    'a vulnerability without a year',
    { id: 'virtualPatch', params: { cveList: ['CVE-4439'] } },
    'accepted: an id such as',
    'API server',
  ],
  ['an unknown field', { id: 'escapeToHost', actoin: 'Block' }, '(did you mean action?)', 'Reeve'],
];

const one = { intents: ['a'] };
const requirement = (operator: string, values?: readonly string[], key = 'a'): object => ({
  key,
  operator,
  ...(values === undefined ? {} : { values }),
});

export const acceptedBindings: Accepted = [
  ['the least there can be', one],
  ['20 intents', { intents: Array.from({ length: 20 }, (_, index) => `i${index}`) }],
  ['an intent with the longest name', { intents: ['n'.repeat(63)] }],
  ['all Pods', { ...one, workloads: {} }],
  ['nulls for what is left out', { ...one, workloads: null, suspend: null }],
  [
    'every way to name Pods',
    {
      ...one,
      workloads: {
        matchLabels: { a: '1', 'example.com/b': '' },
        matchExpressions: [requirement('Exists', undefined, 'c'), requirement('NotIn', ['x'], 'd')],
        cel: ['labels.e == "1"', '!("f" in labels)'],
      },
    },
  ],
  [
    'everything else',
    { ...one, suspend: true, deletionPolicy: 'Orphan', maxDeletions: 0, contact: 'platform@example.com' },
  ],
];

const workloads = (given: object): object => ({ ...one, workloads: given });

export const refusedBindings: Refused = [
  ['no intents', {}, 'spec.intents: found nothing', 'API server'],
  [
    'an empty list of intents',
    { intents: [] },
    'spec.intents: found an empty list; accepted: a list of 1 to 20',
    'API server',
  ],
  [
    '21 intents',
    { intents: Array.from({ length: 21 }, (_, index) => `i${index}`) },
    'a list of 1 to 20',
    'API server',
  ],
  ['an intent twice', { intents: ['a', 'a'] }, 'spec.intents[1]: found "a" a second time', 'API server'],
  [
    'an object as an intent, as in Nimbus',
    { intents: [{ name: 'a' }] },
    'spec.intents[0]: found an object',
    'API server',
  ],
  [
    'an intent with a name that is too long',
    { intents: ['n'.repeat(64)] },
    'at most 63 characters',
    'API server',
  ],
  ['a label value that cannot be', workloads({ matchLabels: { a: 'b c' } }), 'a label value', 'API server'],
  [
    'In without values',
    workloads({ matchExpressions: [requirement('In')] }),
    'at least one value for In',
    'API server',
  ],
  ['an empty condition', workloads({ cel: [''] }), 'spec.workloads.cel[0]: found empty text', 'API server'],
  [
    'a condition that is too long',
    workloads({ cel: [`labels.a == "${'x'.repeat(4096)}"`] }),
    'at most 4096',
    'API server',
  ],
  [
    '17 conditions',
    workloads({ cel: Array.from({ length: 17 }, () => 'has(labels.a)') }),
    'a list of 0 to 16',
    'API server',
  ],
  [
    'a condition that a label selector cannot express',
    workloads({ cel: ['labels.a.startsWith("x")'] }),
    'spec.workloads.cel[0]: a label selector cannot express startsWith()',
    'Reeve',
  ],
  [
    'labels that no Pod can have',
    workloads({ matchLabels: { a: '1' }, matchExpressions: [requirement('DoesNotExist')] }),
    'spec.workloads: found conditions on label "a" that no Pod can meet',
    'Reeve',
  ],
  [
    'a label and CEL against each other',
    workloads({ matchLabels: { a: '1' }, cel: ['labels.a != "1"'] }),
    'that no Pod can meet',
    'Reeve',
  ],
  ['an unknown field', { ...one, workload: {} }, '(did you mean workloads?)', 'Reeve'],
  [
    'a negative number of deletions',
    { ...one, maxDeletions: -1 },
    'spec.maxDeletions: found -1',
    'API server',
  ],
];
