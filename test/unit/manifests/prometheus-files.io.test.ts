// promtool accepts the alerts, and the configuration that a document shows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describePrometheus, promtool } from '../../support/prometheus.ts';
import { folderOf } from '../../support/serve-process.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describePrometheus('promtool', () => {
  test('promtool accepts the alerts without a warning', async () => {
    const file = join(root, 'manifests', 'chart', 'files', 'alerts.yaml');
    expect(await promtool('check', 'rules', '--lint=all', '--lint-fatal', file)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/SUCCESS: \d+ rules found/u) as string,
    });
  });

  test('promtool accepts the configuration in the document on observability', async () => {
    const page = readFileSync(join(root, 'docs', 'operate', 'observability.md'), 'utf8');
    const [, config = ''] = /^```yaml\n(scrape_configs:[^]*?)^```$/mu.exec(page) ?? [];
    expect(config).toContain('job_name: reeve');
    // Debian builds Prometheus without the discovery of Kubernetes.
    const known = config.replace(
      /kubernetes_sd_configs:\n.*\n/u,
      'static_configs:\n      - targets: [reeve]\n',
    );
    await using folder = await folderOf({ 'prometheus.yml': known });
    expect(
      await promtool('check', 'config', '--syntax-only', join(folder.path, 'prometheus.yml')),
    ).toMatchObject({
      code: 0,
    });
  });
});
