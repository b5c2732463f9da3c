// Helm refuses every value of the chart that is misspelled, of another type, hostile, or missing, and says which value it is.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { forbiddenGroups, forbiddenKinds } from '../../src/contents/resources.ts';
import { chartValues } from '../checks/chart/chart-readme.ts';
import { idOf, refusal, renderChart } from '../checks/chart/rendered-chart.ts';
import { helmMajors, type Helm } from '../cluster/helm/helm.ts';
import { describeHelm, neededHelm } from './helm-versions.ts';
import { valueCases, withValue } from './values-cases.ts';

const text = readFileSync('manifests/chart/values.yaml', 'utf8');
const values = chartValues(text);
const defaults = parse(text) as Readonly<Record<string, unknown>>;
/** Values that only group others, such as `webhook`. */
const groups = Object.keys(defaults).filter((name) => !values.some(({ path }) => path === name));

/** As a message of the schema names it: `/webhook/replicas`. */
const pointer = (path: string): string => `/${path.replaceAll('.', '/')}`;

/** Every value of the chart, as the function says. */
function every(valueOf: (fallback: unknown) => unknown): object {
  return values.reduce<object>((all, { path, fallback }) => withValue(all, path, valueOf(fallback)), {});
}

const hostile = '\n  injected: true\n---\nkind: Injected # \'"{{ fail "x" }}';

/** Returns the value with a hostile end of every text in it; undefined without any text. */
function poisoned(value: unknown): unknown {
  const json = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'string' ? each + hostile : each,
  );
  return json === JSON.stringify(value) ? undefined : JSON.parse(json);
}

const withTexts = valueCases.filter(({ value }) => poisoned(value) !== undefined);

describeHelm('the schema of the chart', () => {
  const helms: Helm[] = [];

  beforeAll(async () => {
    for (const major of helmMajors) helms.push(await neededHelm(major));
  });

  it('the schema of the chart refuses a misspelled name beside every value', async () => {
    expect([groups.length, withTexts.length]).not.toContain(0);
    const misspelled = groups.reduce<object>((all, name) => withValue(all, `${name}.mispelled`, 1), {
      mispelled: 1,
    });
    for (const helm of helms) {
      const said = await refusal(helm, misspelled);
      for (const place of ['', ...groups.map(pointer)])
        expect(said).toContain(`at '${place}': additional properties 'mispelled' not allowed`);
    }
  });

  it('the schema of the chart refuses every value that has another type than its default', async () => {
    const isList = (fallback: unknown): boolean => Array.isArray(fallback);
    expect(values).not.toEqual([]);
    const wrong = every((fallback) => (isList(fallback) ? 'text' : ['list']));
    for (const helm of helms) {
      const said = await refusal(helm, wrong);
      for (const { path } of values) expect(said).toContain(`at '${pointer(path)}': `);
    }
  });

  it('the schema of the chart refuses null for every value, because Helm then removes its default', async () => {
    expect(groups).not.toEqual([]);
    const missing = (places: readonly string[]): string =>
      places.length === 1
        ? `missing property '${places[0]}'`
        : `missing properties ${places.map((each) => `'${each}'`).join(', ')}`;
    for (const helm of helms) {
      const said = await refusal(
        helm,
        every(() => null),
      );
      for (const name of groups)
        expect(said).toContain(`at '/${name}': ${missing(Object.keys(defaults[name] as object))}`);
      const others = Object.fromEntries(Object.keys(defaults).map((name) => [name, null]));
      expect(await refusal(helm, others)).toContain(missing(Object.keys(defaults)));
    }
  });

  it.each(withTexts)('a hostile text in $path does no harm', async ({ path, value, beside = {} }) => {
    const [helm] = helms.slice(-1) as [Helm];
    const given = withValue(beside, path, poisoned(value));
    const said = await refusal(helm, given);
    if (said !== 'not refused') {
      expect(said).toContain(`at '${pointer(path)}`);
      return;
    }
    const [expected, rendered] = [
      await renderChart(helm, withValue(beside, path, value)),
      await renderChart(helm, given),
    ].map(({ documents, hooks }) => [...documents, ...hooks].map(({ object }) => object));
    expect(rendered?.map(idOf)).toEqual(expected?.map(idOf));
    const json = JSON.stringify(rendered);
    expect(json).not.toContain('"injected":');
    expect(json).toContain(JSON.stringify(hostile).slice(1, -1));
  });

  it('the schema of the chart refuses rights to kinds that no policy can provide', async () => {
    expect([forbiddenGroups.length, forbiddenKinds.length]).not.toContain(0);
    const kinds = [...forbiddenGroups.map((group) => `${group}/Any`), ...forbiddenKinds];
    const resourceKinds = kinds.map((each) => {
      const [group = '', kind = ''] = each.split('/');
      return { apiVersion: group === '' ? 'v1' : `${group}/v1`, kind, resource: kind.toLowerCase() };
    });
    for (const helm of helms) {
      const said = await refusal(helm, { resourceKinds });
      expect(said).toContain('no policy can provide ');
      for (const { apiVersion, kind } of resourceKinds) expect(said).toContain(`${apiVersion}/${kind}`);
    }
  });
});
