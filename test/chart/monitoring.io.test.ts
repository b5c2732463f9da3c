// The commands of the document on observability create what it promises: the alerts and the dashboard, unchanged.
import { globSync, readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Helm } from '../cluster/helm/helm.ts';
import { describeHelm, neededHelm } from './helm-versions.ts';

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

const page = readFileSync('docs/operate/observability.md', 'utf8');
const commands = [...page.matchAll(/^helm upgrade [^]*?[^\\]$/gmu)].map(([command]) => command);

// https://helm.sh/docs/helm/helm_upgrade/: without a flag, new values replace all that were given before.
it('each upgrade in a document keeps the values that the install has', () => {
  const lines = globSync('docs/**/*.md').flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  const upgrades = lines.filter((line) => line.includes('helm upgrade reeve '));
  expect(upgrades.length).toBeGreaterThan(3);
  expect(upgrades.filter((line) => !line.includes(' --reset-then-reuse-values'))).toEqual([]);
});

describeHelm('the commands of the document on observability', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await neededHelm(4);
  });

  const rendered = async (command: string, template: string): Promise<readonly Rendered[]> => {
    const [, , ...words] = command.split(/[\s\\]+/u).filter((word) => word !== '--reset-then-reuse-values');
    const args = ['template', ...words, '--show-only', `templates/${template}`];
    const { code, stdout, stderr } = await helm(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
  };

  it('the first creates a PodMonitor, and a PrometheusRule with all alerts', async () => {
    const objects = await rendered(commands[0] ?? '', 'monitoring/72-monitoring.yaml');
    expect(objects.map(({ kind, metadata }) => [kind, metadata.labels['release']])).toEqual([
      ['PodMonitor', 'monitoring'],
      ['PrometheusRule', 'monitoring'],
    ]);
    expect(objects[1]?.spec).toEqual(parse(readFileSync('manifests/chart/files/alerts.yaml', 'utf8')));
  });

  it('the second creates a ConfigMap with the dashboard', async () => {
    const [config, ...more] = await rendered(commands[1] ?? '', 'monitoring/72-monitoring.yaml');
    expect(more).toEqual([]);
    expect(config?.metadata.labels['grafana_dashboard']).toBe('1');
    expect(JSON.parse(config?.data?.['reeve.json'] ?? '')).toEqual(
      JSON.parse(readFileSync('manifests/chart/files/dashboards/reeve.json', 'utf8')),
    );
  });
});
