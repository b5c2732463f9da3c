// The tables of docs/operate/scale.md, made from the simulation.
import { recordedCosts, type ScaleCosts } from './costs.ts';
import { aligned } from '../table.ts';
import { atRest, fanOut, idleLoad, memoryMiB, restart, takeOver, type Situation } from './scenarios.ts';

export const scalePage = 'docs/operate/scale.md';
const [begin, end] = ['<!-- generated: scale -->', '<!-- generated: end -->'];

export const sizes = [1000, 5000, 20_000, 50_000, 100_000, 200_000] as const;

const usual = { leaders: 1, apiServer: 1, order: 'by urgency', changesPerSecond: 10, objects: 3 } as const;

/** Controllers change the status of quotas whenever Pods come and go. */
const eventsPerNamespaceAndHour = 60;

/** Returns the page with the tables between its markers replaced. */
export function pageWithTables(page: string, tables: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${scalePage} lacks the line ${begin} or ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${tables}\n\n${page.slice(to)}`;
}

export function scaleTables(costs: ScaleCosts = recordedCosts): string {
  return [
    'One leader, 10 changes a second, three objects in each namespace:',
    aligned([sizeHead, ...sizes.map((namespaces) => sizeRow(namespaces, costs))]),
    'One leader, 20,000 namespaces, more changes. A second API server has four times as many cores:',
    aligned([changeHead, ...[10, 50, 100, 150, 200, 250].map((changes) => changeRow(changes, costs))]),
    'Several leaders, 20,000 namespaces, 10 changes a second:',
    aligned([leaderHead, ...[1, 2, 4, 8].map((leaders) => leaderRow(leaders, costs))]),
    'One Secret to 20,000 namespaces, by the order in which a leader works:',
    aligned([orderHead, ...(['by urgency', 'by arrival'] as const).map((order) => orderRow(order, costs))]),
  ].join('\n\n');
}

const sizeHead = [
  'Namespaces',
  'A change is done',
  'One Secret to all',
  'Take-over after a crash',
  'Restart',
  'Memory',
  'Processor at rest',
];

export function sizeRow(namespaces: number, costs: ScaleCosts): readonly string[] {
  const situation: Situation = { ...usual, namespaces };
  return [
    namespaces.toLocaleString('en-US'),
    milliseconds(atRest(situation, costs).p99),
    seconds(fanOut(situation, costs).seconds),
    seconds(takeOver(situation, costs).seconds),
    seconds(restart(situation, costs).seconds),
    `${memoryMiB(situation, costs).toFixed(0)} MiB`,
    `${(idleLoad(situation, costs, eventsPerNamespaceAndHour) * 100).toFixed(1)} %`,
  ];
}

const changeHead = ['Changes a second', 'Processor', 'A change is done', 'with the second API server'];

function changeRow(changesPerSecond: number, costs: ScaleCosts): readonly string[] {
  const situation: Situation = { ...usual, namespaces: 20_000, changesPerSecond };
  const [small, large] = [atRest(situation, costs), atRest({ ...situation, apiServer: 4 }, costs)];
  const p99 = ({ p99: value }: { readonly p99: number }): string =>
    value > 1000 ? 'later and later' : milliseconds(value);
  return [String(changesPerSecond), `${(large.load * 100).toFixed(0)} %`, p99(small), p99(large)];
}

const leaderHead = ['Leaders', 'One Secret to all', 'with the second API server', 'Take-over after a crash'];

function leaderRow(leaders: number, costs: ScaleCosts): readonly string[] {
  const situation: Situation = { ...usual, namespaces: 20_000, leaders };
  return [
    String(leaders),
    seconds(fanOut(situation, costs).seconds),
    seconds(fanOut({ ...situation, apiServer: 4 }, costs).seconds),
    seconds(takeOver(situation, costs).seconds),
  ];
}

const orderHead = ['Order', 'One Secret to all', 'A change meanwhile'];

function orderRow(order: Situation['order'], costs: ScaleCosts): readonly string[] {
  const result = fanOut({ ...usual, namespaces: 20_000, order }, costs);
  const name = order === 'by arrival' ? 'in the order of arrival' : 'single changes first';
  return [name, seconds(result.seconds), milliseconds(result.p99)];
}

function seconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} s`;
}

function milliseconds(value: number): string {
  return value < 1000 ? `${value.toFixed(0)} ms` : seconds(value / 1000);
}
