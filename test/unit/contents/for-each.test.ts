// What a content gives that stands once for each item of a list.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { unlimitedBudget } from '../../../src/policy/terms/budget.ts';
import { aNamespace, aPolicy, problemsOf } from '../../support/engine.ts';

const split = "namespaceObject.metadata.annotations['ad/edit'].split(',').map(g, g.trim())";
const roleRef = { kind: 'ClusterRole', name: 'edit' };
const listed = (groups?: string): KubeObject =>
  aNamespace({ name: 'n', ...(groups === undefined ? {} : { annotations: { 'ad/edit': groups } }) });

const perGroup = {
  name: 'edit-${item}',
  roleRef,
  forEach: split,
  subjects: [{ kind: 'Group', name: '${item}' }],
};
const perSubject = {
  name: 'edit',
  roleRef,
  subjects: [
    { kind: 'Group', name: 'always' },
    { kind: 'Group', name: 'ad-${item}', forEach: split },
  ],
};
const config = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'config-${item}' },
  data: { group: '${item} of ${namespaceObject.metadata.name}' },
  forEach: split,
};

function rendered(contents: object, namespaceObject: KubeObject) {
  return aPolicy('p', { contents }).contents.flatMap((each) => each.render(namespaceObject, unlimitedBudget));
}

function names(contents: object, namespaceObject: KubeObject): readonly string[] {
  return rendered(contents, namespaceObject).map((each) =>
    each.kind === 'present' ? each.value.name : `${each.kind} ${each.object.name}: ${each.message}`,
  );
}

describe('an entry with forEach', () => {
  test('a RoleBinding stands once for each item', () => {
    expect(names({ roleBindings: [perGroup] }, listed('red, blue'))).toEqual(['edit-red', 'edit-blue']);
    expect(rendered({ roleBindings: [perGroup] }, listed('red'))).toMatchObject([
      { value: { form: { body: { subjects: [{ kind: 'Group', name: 'red' }] } } } },
    ]);
  });

  test('a resource stands once for each item, and forEach is no field of the object', () => {
    const [first] = rendered({ resources: [config] }, listed('red,blue'));
    expect(first).toEqual({
      kind: 'present',
      value: {
        name: 'config-red',
        form: {
          kind: 'object',
          body: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'config-red' },
            data: { group: 'red of n' },
          },
        },
      },
    });
  });

  test.each<readonly [string, string | undefined, readonly string[]]>([
    [
      'without the annotation, it is skipped',
      undefined,
      ['skipped edit-${item}: annotation ad/edit is missing'],
    ],
    [
      'two items with one name are an error that says which',
      'red,blue,red',
      [
        'error edit-${item}: forEach (from annotation ad/edit) has items that give the name "edit-red" twice; accepted: items that give each object a name of its own',
      ],
    ],
    [
      'an empty item is an error, and nothing is cut',
      'red,,blue',
      [
        'error edit-${item}: forEach (from annotation ad/edit) has an empty item; accepted: items that are not empty',
      ],
    ],
    [
      'an item that gives no legal subject is an error',
      'red,system:masters',
      [
        'error edit-system:masters: subjects[0].name (from annotation ad/edit) is "system:masters"; accepted: a Group outside system:, which Kubernetes reserves; not empty, and without spaces at its ends',
      ],
    ],
    [
      'more than 100 items are an error',
      Array.from({ length: 101 }, (_, index) => `g${index}`).join(','),
      ['error edit-${item}: forEach (from annotation ad/edit) has 101 items; accepted: at most 100'],
    ],
  ])('%s', (_, groups, expected) => {
    expect(names({ roleBindings: [perGroup] }, listed(groups))).toEqual(expected);
  });

  test('an empty list gives no object', () => {
    const none = { ...perGroup, forEach: '[]' };
    expect(rendered({ roleBindings: [none] }, listed())).toEqual([]);
  });
});

describe('a subject with forEach', () => {
  test('it stands once for each item, beside the other subjects', () => {
    expect(rendered({ roleBindings: [perSubject] }, listed('red,blue'))).toMatchObject([
      {
        value: {
          form: { body: { subjects: [{ name: 'always' }, { name: 'ad-red' }, { name: 'ad-blue' }] } },
        },
      },
    ]);
  });

  test('a RoleBinding whose lists are empty is skipped', () => {
    const none = { ...perSubject, subjects: [{ kind: 'User', name: 'ad-${item}', forEach: '[]' }] };
    expect(names({ roleBindings: [none] }, listed())).toEqual([
      'skipped edit: its lists of subjects are empty',
    ]);
  });

  test('its item hides the item of the whole entry', () => {
    const nested = {
      ...perGroup,
      forEach: "['red']",
      subjects: [{ kind: 'Group', name: '${item}', forEach: "[item + '-a', item + '-b']" }],
    };
    expect(rendered({ roleBindings: [nested] }, listed())).toMatchObject([
      { value: { name: 'edit-red', form: { body: { subjects: [{ name: 'red-a' }, { name: 'red-b' }] } } } },
    ]);
  });
});

test.each<readonly [string, object, string]>([
  [
    'an expression that gives no list',
    { ...perGroup, forEach: "'red'" },
    'spec.contents.roleBindings[0].forEach: found the result must be a list(string) but is a string; accepted: CEL over namespaceObject that gives a list of texts',
  ],
  [
    'a list of numbers',
    { ...perGroup, forEach: '[1, 2]' },
    'spec.contents.roleBindings[0].forEach: found the result must be a list(string) but is a list(int); accepted: CEL over namespaceObject that gives a list of texts',
  ],
  [
    'item without forEach',
    { name: 'edit-${item}', roleRef, subjects: [{ kind: 'Group', name: 'a' }] },
    'spec.contents.roleBindings[0].name: found there is no variable item here; accepted: text with CEL in ${ }, over namespaceObject',
  ],
])('%s does not load', (_, binding, expected) => {
  expect(problemsOf('p', { contents: { roleBindings: [binding] } })).toEqual([expected]);
});
