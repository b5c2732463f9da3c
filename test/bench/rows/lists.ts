// Row of a list on a real control plane: RoleBindings for ten items in each of 1,000 namespaces.
import { inParallel } from '../../support/in-parallel.ts';
import {
  applyOf,
  createNamespace,
  fanOutCount,
  listPolicy,
  namesOfList,
  namespaceOf,
  roleBindingOf,
} from '../plane/plane-objects.ts';
import { inTurn, type BenchContext, type MeasuredRows, type Measurement } from '../row.ts';

/** A round writes 20,000 objects and deletes 10,000, which takes three minutes. */
const listRounds = 1;

async function measureLists(context: BenchContext): Promise<MeasuredRows> {
  const { bare, plane, filled } = await context.planes();
  await filled(fanOutCount);
  const raw = Array.from({ length: fanOutCount }, (_, index) => `list-${index}`);
  await inParallel(raw, (name) => bare.calls.mustSend(createNamespace(namespaceOf(name, {}))));
  const policies = '/apis/reeve.dev/v1alpha1/namespacepolicies';
  const provided = async (round: number): Promise<number> => {
    const name = `list-${round}`;
    const seen = namesOfList(name).map((each) => plane.seen.roleBindings.expect(each, fanOutCount));
    const began = performance.now();
    await plane.create(policies, listPolicy(name));
    await Promise.all(seen);
    const seconds = (performance.now() - began) / 1000;
    // The next round must not list and watch the objects of this one.
    await plane.calls.mustSend({ method: 'DELETE', path: `${policies}/${name}` });
    await plane.settled();
    return seconds;
  };
  const rawLoop = async (round: number): Promise<number> => {
    const bindings = raw.flatMap((namespace) =>
      namesOfList(`list-${round}`).map((name) => roleBindingOf(namespace, name)),
    );
    const began = performance.now();
    await inParallel(bindings, (binding) => bare.calls.mustSend(applyOf(binding)));
    return (performance.now() - began) / 1000;
  };
  return { 'list-fan-out': await inTurn(Math.min(context.rounds, listRounds), provided, rawLoop, 0) };
}

export const lists: Measurement = { rows: ['list-fan-out'], isQuick: false, measure: measureLists };
