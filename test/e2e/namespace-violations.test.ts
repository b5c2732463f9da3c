// The owners of a namespace see its violations in a condition and an event there, without rights on policies.
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { namespaceObject, policy } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

describeCluster('a namespace that violates a rule', () => {
  const stage = new Stage(sharedCluster(), 'nv-');
  const compliance = async (name: string) => {
    const { status } = await stage.mustGet({ kind: 'Namespace', name });
    return status?.conditions?.find(({ type }) => type === 'reeve.dev/Compliant');
  };
  const events = async (): Promise<string> =>
    await stage.kubectl('get', 'events', '-n', 'nv-old', '--field-selector=reason=Violated');
  withReeve(stage);

  beforeAll(async () => {
    await stage.apply(
      namespaceObject('nv-old'),
      namespaceObject('nv-other'),
      policy('nv-rules', {
        match: { names: ['nv-old'] },
        validationActions: ['Warn'],
        namespaces: { required: { labels: { team: {} } } },
      }),
    );
  });

  test('a condition and an event name the violation', async () => {
    const message =
      '1 violation: policy nv-rules, namespaces.required: metadata.labels["team"]: found nothing; ' +
      'accepted: any value that is not empty';
    await eventually(() => compliance('nv-old')).toMatchObject({
      status: 'False',
      reason: 'Violated',
      message,
    });
    await eventually(events).toContain(message);
  });

  test('the condition follows the Namespace', async () => {
    await stage.kubectl('label', 'namespace', 'nv-old', 'team=red');
    await eventually(() => compliance('nv-old')).toMatchObject({ status: 'True', reason: 'NoViolations' });
    await stage.kubectl('label', 'namespace', 'nv-old', 'team-');
    await eventually(() => compliance('nv-old')).toMatchObject({ status: 'False' });
  });

  test('a namespace that no rule judges has no such condition, and loses it with the rules', async () => {
    expect(await compliance('nv-other')).toBeUndefined();
    await stage.remove({ kind: 'NamespacePolicy', name: 'nv-rules' });
    await eventually(() => compliance('nv-old')).toBeUndefined();
    await eventually(() => stage.namespaceCondition('nv-old')).toBe('True NothingProvided');
  });
});
