// One fault gives one reason: every pair of rules about the same label, and rules beside the right to steer.
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../src/policy/decide/decide.ts';
import { settle, refusalMessage } from '../../../../src/policy/decide/settle.ts';
import { auditNamespace } from '../../../../src/policy/decide/audit.ts';
import type { Verdict } from '../../../../src/policy/terms/review.ts';
import {
  aNamespace,
  aPolicy,
  aReview,
  aShare,
  aSnapshot,
  circumstances,
  snapshotOf,
} from '../../../support/engine.ts';
import type { ClusterSnapshot } from '../../../../src/policy/compile/snapshot.ts';

type Labels = Readonly<Record<string, string>>;
type Change = readonly [old: Labels | undefined, now: Labels];

const full = [aNamespace({ name: 'other', labels: { team: 'a' } })];

function verdictOn([old, now]: Change, snapshot: ClusterSnapshot): { verdict: Verdict; message: string } {
  const review = aReview({
    object: aNamespace({ name: 'n', labels: now }),
    ...(old === undefined ? {} : { oldObject: aNamespace({ name: 'n', labels: old }) }),
  });
  const verdict = settle(decide(review, snapshot, circumstances), new Map(), review);
  return { verdict, message: refusalMessage(verdict, review) };
}

const required = { required: { labels: { team: { values: ['a', 'b'] } } } };
const immutable = { immutable: { labels: ['team'] } };
const defaults = { defaults: { labels: { team: 'a' } } };
const creator = { defaults: { labels: { team: '${request.userInfo.username}' } } };
const quota = { quota: { label: 'team', max: 1 } };
const strictQuota = { quota: { label: 'team', max: 0 } };

describe('within one policy', () => {
  test.for<readonly [title: string, rules: object, change: Change, reason: string]>([
    [
      'removing an immutable and required label breaks namespaces.immutable alone',
      { ...required, ...immutable },
      [{ team: 'a' }, {}],
      'immutable nothing "a", which it was set to',
    ],
    [
      'a change of an immutable label to a value that is not accepted breaks namespaces.immutable alone',
      { ...required, ...immutable },
      [{ team: 'a' }, { team: 'x' }],
      'immutable "x" "a", which it was set to',
    ],
    [
      'removing an immutable label with a default breaks namespaces.immutable alone',
      { ...defaults, ...immutable },
      [{ team: 'a' }, {}],
      'immutable nothing "a", which it was set to',
    ],
    [
      'changing an immutable label that names the creator breaks namespaces.immutable alone',
      { ...creator, ...immutable },
      [{ team: 'alice' }, { team: 'bob' }],
      'immutable "bob" "alice", which it was set to',
    ],
    [
      'changing an immutable label to a value whose quota is used up breaks namespaces.immutable alone',
      { ...quota, ...immutable },
      [{ team: 'b' }, { team: 'a' }],
      'immutable "a" "b", which it was set to',
    ],
    [
      'a missing label that is required and has a default breaks namespaces.required alone',
      { ...required, ...defaults },
      [undefined, {}],
      'required nothing "a" or "b"',
    ],
    [
      'a label that must name the creator breaks namespaces.defaults alone, because one value is right',
      { required: { labels: { team: { pattern: '^al' } } }, ...creator },
      [undefined, { team: 'x' }],
      'defaults "x" "alice"',
    ],
    [
      'removing a label that names the creator breaks namespaces.defaults alone',
      { required: { labels: { team: {} } }, ...creator },
      [{ team: 'alice' }, {}],
      'defaults nothing "alice", which it was set to',
    ],
    [
      'a label with a value that is not accepted breaks namespaces.required alone, whatever the quota',
      { ...required, ...strictQuota },
      [undefined, { team: 'x' }],
      'required "x" "a" or "b"',
    ],
    [
      'a label that must name the creator breaks namespaces.defaults alone, whatever the quota',
      { ...creator, ...strictQuota },
      [undefined, { team: 'x' }],
      'defaults "x" "alice"',
    ],
    [
      'all four rules on one removed label give the reason of namespaces.immutable',
      { ...required, ...defaults, ...immutable, ...quota },
      [{ team: 'a' }, {}],
      'immutable nothing "a", which it was set to',
    ],
  ])('%s', ([, namespaces, change, reason]) => {
    const { verdict } = verdictOn(change, snapshotOf({ p: { namespaces } }, full));
    expect(
      verdict.denials.map(
        ({ rule, found, accepted }) => `${rule.replace('namespaces.', '')} ${found} ${accepted}`,
      ),
    ).toEqual([reason]);
  });

  test('a default that cannot be computed without a required label gives no reason of its own', () => {
    const tier = { defaults: { labels: { tier: "${namespaceObject.metadata.labels['team']}" } } };
    const reasons = (namespaces: object): readonly string[] =>
      verdictOn([undefined, {}], snapshotOf({ p: { namespaces } })).verdict.denials.map(({ path }) => path);
    expect(reasons({ ...required, ...tier })).toEqual(['metadata.labels["team"]']);
    expect(reasons(tier)).toEqual(['metadata.labels["tier"]']);
    expect(reasons({ required: { labels: { env: {} } }, ...tier })).toHaveLength(2);
  });

  test('defaults that wait for each other are both demanded', () => {
    const labels = {
      a: "${namespaceObject.metadata.labels['b']}",
      b: "${namespaceObject.metadata.labels['a']}",
    };
    const { verdict } = verdictOn(
      [undefined, {}],
      snapshotOf({ p: { namespaces: { defaults: { labels } } } }),
    );
    expect(verdict.denials.map(({ path }) => path)).toEqual(['metadata.labels["a"]', 'metadata.labels["b"]']);
  });

  test('a chain of defaults that starts with a missing label gives the reason of that label', () => {
    const labels = {
      a: "${namespaceObject.metadata.labels['b']}",
      b: "${namespaceObject.metadata.labels['team']}",
    };
    const specs = { p: { namespaces: { ...required, defaults: { labels } } } };
    const { verdict } = verdictOn([undefined, {}], snapshotOf(specs));
    expect(verdict.denials.map(({ path }) => path)).toEqual(['metadata.labels["team"]']);
  });

  test('faults in two labels give two reasons', () => {
    const namespaces = { ...immutable, required: { labels: { team: {}, env: {} } } };
    const { verdict } = verdictOn([{ team: 'a', env: 'dev' }, {}], snapshotOf({ p: { namespaces } }));
    expect(verdict.denials.map(({ rule, path }) => [rule, path])).toEqual([
      ['namespaces.required', 'metadata.labels["env"]'],
      ['namespaces.immutable', 'metadata.labels["team"]'],
    ]);
  });

  test('two validations that fail give two reasons', () => {
    const validations = ['a', 'b'].map((name) => ({ name, expression: 'false', message: name }));
    const { verdict } = verdictOn([undefined, {}], snapshotOf({ p: { validations } }));
    expect(verdict.denials.map(({ rule }) => rule)).toEqual(['validations/a', 'validations/b']);
  });

  test('a reason that is only audited does not replace a reason that denies', () => {
    const policy = aPolicy('p', {
      validationActions: ['Deny', 'Audit'],
      namespaces: { ...required, ...immutable },
    });
    const { verdict } = verdictOn([{ team: 'x' }, { team: 'x' }], aSnapshot([policy]));
    expect(verdict.allowed).toBe(true);
    const changed = verdictOn([{ team: 'x' }, {}], aSnapshot([policy])).verdict;
    expect(changed.denials.map(({ rule }) => rule)).toEqual(['namespaces.immutable']);
  });

  test('an audit counts a missing label once', () => {
    const policy = aPolicy('p', { namespaces: { ...required, ...defaults } });
    const { violations } = auditNamespace(policy, aNamespace({ name: 'n' }), circumstances);
    expect(violations.map(({ rule }) => rule)).toEqual(['namespaces.required']);
  });
});

describe('between policies', () => {
  test('two policies that say the same of a field give one reason, and two causes', () => {
    const { verdict, message } = verdictOn(
      [undefined, {}],
      snapshotOf({ p: { namespaces: required }, q: { namespaces: required } }),
    );
    expect(verdict.denials.map(({ policy }) => policy)).toEqual(['p', 'q']);
    expect(message).toMatch(/^Namespace n is refused: policy p, namespaces\.required: [^\n]*$/);
  });

  const tier = { defaults: { labels: { tier: "${namespaceObject.metadata.labels['team']}" } } };

  test('a default that needs a label which another policy requires gives no reason of its own', () => {
    for (const [p, q] of [
      [required, tier],
      [tier, required],
    ]) {
      const { verdict } = verdictOn(
        [undefined, {}],
        snapshotOf({ p: { namespaces: p }, q: { namespaces: q } }),
      );
      expect(verdict.denials.map(({ path }) => path)).toEqual(['metadata.labels["team"]']);
    }
  });

  test('a label that another policy only warns of replaces no reason that denies', () => {
    const specs = { p: { namespaces: required, validationActions: ['Warn'] }, q: { namespaces: tier } };
    const { verdict } = verdictOn([undefined, {}], snapshotOf(specs));
    expect(verdict.denials.map(({ path }) => path)).toEqual(['metadata.labels["tier"]']);
  });

  test('two policies that accept other values give two reasons', () => {
    const other = { required: { labels: { team: { values: ['b'] } } } };
    const specs = { p: { namespaces: required }, q: { namespaces: other } };
    expect(verdictOn([undefined, {}], snapshotOf(specs)).message).toContain('is refused for 2 reasons');
  });
});

describe('beside the right to use a provider', () => {
  const share = aShare('s', {
    source: { namespace: 'reeve-shared', name: 's' },
    targets: { namespaceSelector: { matchLabels: { team: 'a' } } },
  });
  const contents = {
    resources: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: "${namespaceObject.metadata.labels['team']}" },
      },
    ],
  };

  test.for<readonly [title: string, rules: object, change: Change, rules: readonly string[]]>([
    [
      'a label that must not change needs no right to leave a share',
      { namespaces: immutable },
      [{ team: 'a' }, {}],
      ['namespaces.immutable'],
    ],
    [
      'a label that must not change needs no right to change the contents',
      { namespaces: immutable, contents },
      [{ team: 'b' }, { team: 'c' }],
      ['namespaces.immutable'],
    ],
    [
      'a value that is not accepted needs no right to join a share',
      { namespaces: { required: { labels: { team: { values: ['b'] } } } } },
      [{ team: 'b' }, { team: 'a' }],
      ['namespaces.required'],
    ],
    [
      'a fault in another label hides no missing right',
      { namespaces: { immutable: { labels: ['env'] } } },
      [
        { team: 'a', env: 'dev' },
        { team: 'b', env: 'prod' },
      ],
      ['namespaces.immutable', 'steering'],
    ],
    [
      'a policy that only warns hides no missing right',
      { validationActions: ['Warn'], namespaces: immutable },
      [{ team: 'a' }, {}],
      ['steering'],
    ],
  ])('%s', ([, spec, change, expected]) => {
    const { verdict } = verdictOn(change, aSnapshot([aPolicy('p', spec)], [], [share]));
    expect(verdict.denials.map(({ rule }) => rule)).toEqual(expected);
    expect(verdict.allowed).toBe(false);
  });
});

describe('a wrong value that makes templates fail', () => {
  const pods = "${{'small': '10', 'large': '20'}[namespaceObject.metadata.labels['size']]}";
  const quotaOf = (name: string) => ({
    contents: { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { pods } }] },
  });
  const sizes = { required: { labels: { size: { values: ['small', 'large'] } } } };
  const policies = [
    aPolicy('apps', quotaOf('limits')),
    aPolicy('conditions', {
      match: {
        matchConditions: [
          { name: 'size', expression: "{'small': true}[namespaceObject.metadata.labels['size']]" },
        ],
      },
    }),
    aPolicy('texts', { namespaces: { defaults: { annotations: { pods } } } }),
    aPolicy('zones', { namespaces: sizes }),
  ];
  const snapshot = aSnapshot(policies);

  test('the refusal leads with the accepted values, and lists the failures of other policies after them', () => {
    const { verdict } = verdictOn([undefined, { size: 'Small' }], snapshot);
    const reasons = verdict.denials.map(({ policy, rule, found, accepted }) => [
      policy,
      rule,
      found,
      accepted,
    ]);
    expect(reasons[0]).toEqual(['zones', 'namespaces.required', '"Small"', '"small" or "large"']);
    expect(reasons.slice(1).map(([policy, rule]) => [policy, rule])).toEqual([
      ['apps', 'contents'],
      ['conditions', 'match'],
      ['texts', 'namespaces.defaults'],
    ]);
  });

  test('a warning leads with the accepted values, too', () => {
    const warning = policies.map((policy) => ({ ...policy, actions: ['Warn' as const] }));
    const { verdict } = verdictOn([undefined, { size: 'Small' }], aSnapshot(warning));
    expect(verdict.warnings[0]).toMatchObject({ rule: 'namespaces.required', found: '"Small"' });
  });

  test('the status lists the accepted values before the default that fails', () => {
    const both = aPolicy('both', {
      namespaces: { ...sizes, name: { pattern: '^n$' }, defaults: { annotations: { pods } } },
      validations: [{ name: 'size', expression: "{'small': true}[object.metadata.labels['size']]" }],
    });
    const { violations } = auditNamespace(
      both,
      aNamespace({ name: 'n', labels: { size: 'Small' } }),
      circumstances,
    );
    expect(violations.map(({ rule }) => rule)).toEqual([
      'namespaces.required',
      'namespaces.defaults',
      'validations/size',
    ]);
  });
});
