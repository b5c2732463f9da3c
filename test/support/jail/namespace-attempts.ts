// Forbidden requests of Reeve's accounts on Namespaces, and in the namespaces that Reeve excludes.
import { at } from '../../contract/support/objects.ts';
import { neither, owners, reconciler, under, type Attempt } from './attempt.ts';
import {
  apply,
  bindingOf,
  configMapOf,
  excluded,
  mark,
  marked,
  object,
  otherCondition,
  patch,
  post,
  put,
  remove,
  secretOf,
} from './scene.ts';

export function namespaceAttempts(team: string): readonly Attempt[] {
  const path = at('namespaces', '', team);
  const status = `${path}/status`;
  const metadata = (change: object) => ({ metadata: change });
  const named = object('v1', 'Namespace', team);
  const another = { ...otherCondition, type: 'Another' };
  return [
    ...under('of a Namespace, Reeve adds', reconciler, [
      ['change a label', patch('merge', path, metadata({ labels: { team: 'b' } }))],
      [
        'change a label by apply',
        apply(path, { ...named, metadata: { name: team, labels: { team: 'b' } } }, 'me'),
      ],
      ['remove a label', patch('json', path, [{ op: 'remove', path: '/metadata/labels/team' }])],
      ['change an annotation', patch('strategic', path, metadata({ annotations: { contact: 'bob' } }))],
      ['remove all annotations', patch('merge', path, metadata({ annotations: null }))],
      [
        'let a protected namespace be deleted',
        patch('merge', path, metadata({ annotations: { 'reeve.dev/allow-deletion': team } })),
      ],
      [
        'label a Namespace with the key of its record',
        patch('merge', path, metadata({ labels: { 'reeve.dev/created-once': 'a' } })),
      ],
      ['add a finalizer', patch('merge', path, metadata({ finalizers: ['test.dev/held'] }))],
      ['add an owner', patch('merge', path, metadata(owners))],
      ['set the mark on a Namespace', patch('merge', path, metadata({ labels: mark }))],
      ['replace a Namespace', put(path, named), neither],
      ['create a Namespace', post(at('namespaces', ''), object('v1', 'Namespace', `${team}-two`)), neither],
      ['delete a Namespace', remove(path), neither],
    ]),
    ...under('of the status of a Namespace', reconciler, [
      ['change a label through the status', patch('merge', status, metadata({ labels: { team: 'b' } }))],
      [
        'add a label through the status',
        patch('json', status, [{ op: 'add', path: '/metadata/labels/a', value: 'b' }]),
      ],
      [
        'add an annotation through the status',
        patch('strategic', status, metadata({ annotations: { a: 'b' } })),
      ],
      ['add an owner through the status', patch('merge', status, metadata(owners))],
      [
        'label through the status by apply',
        apply(status, { ...named, metadata: { name: team, labels: { a: 'b' } } }),
      ],
      [
        'write a condition of another program',
        apply(status, { ...named, status: { conditions: [another] } }),
      ],
      [
        'change a condition of others',
        patch('merge', status, { status: { conditions: [{ ...otherCondition, status: 'False' }] } }),
      ],
      ['remove the conditions of other programs', patch('merge', status, { status: { conditions: null } })],
      ['replace the status', put(status, named), neither],
    ]),
    ...under('Reeve never writes namespaces/finalize', neither, [
      ['finish the deletion of a Namespace', put(`${path}/finalize`, { ...named, spec: {} })],
    ]),
    ...excluded.flatMap((name) =>
      under(`Reeve keeps out of the namespace ${name}`, reconciler, [
        [`label ${name}`, patch('merge', at('namespaces', '', name), metadata({ labels: { a: 'b' } }))],
        [`say something of ${name}`, patch('merge', `${at('namespaces', '', name)}/status`, { status: {} })],
        [`make a ConfigMap in ${name}`, apply(at('configmaps', name, 'a'), configMapOf('a', marked))],
        [`hand out a role in ${name}`, apply(at('rolebindings', name, 'a'), bindingOf('a'))],
      ]),
    ),
    ...excluded
      .filter((name) => name !== 'reeve-system')
      .flatMap((name) =>
        under(`Reeve keeps out of the namespace ${name}`, reconciler, [
          [`make a Secret in ${name}`, apply(at('secrets', name, 'a'), secretOf('a', marked))],
        ]),
      ),
  ];
}
