// Scrapes an install of four processes, first while all is well, and then after faults that a person can cause within seconds.
import { installReeve } from '../../cluster/reeve-install.ts';
import type { Reeve } from '../../support/reeve.ts';
import { until } from '../../support/until.ts';
import { isInAlerts } from './alert-rules.ts';
import { Fleet } from './fleet.ts';
import { configMap, namespaceObject, policy } from './objects.ts';
import { changed, samplesOf, type Samples, type Scrape } from './scrapes.ts';
import { shareOf } from './secrets.ts';
import type { Stage } from './stage.ts';

export class AlertScene {
  readonly stage: Stage;
  readonly fleet: Fleet;
  healthy: Samples = new Map();
  faulty: Samples = new Map();

  private constructor(stage: Stage, fleet: Fleet) {
    this.stage = stage;
    this.fleet = fleet;
  }

  static async prepare(stage: Stage): Promise<AlertScene> {
    await installReeve(stage.cluster);
    const scene = new AlertScene(stage, await Fleet.start(stage.cluster));
    const contents = { resources: [configMap('settings', { a: 'b' })] };
    await stage.apply(
      namespaceObject('al-a'),
      policy('al-settings', { match: { names: ['al-a'] }, contents }),
    );
    try {
      await scene.#scrapeHealthy();
      await scene.#breakThings();
      await scene.#scrapeFaulty();
    } catch (error) {
      await scene.fleet.stop();
      throw error;
    }
    return scene;
  }

  /** Names each process like a Pod, and the leader `leader`. */
  async scrape(...more: readonly Reeve[]): Promise<Scrape> {
    const { fleet, stage } = this;
    const leader = await fleet.leader();
    const named: (readonly [string, Reeve])[] = [
      ...fleet.webhooks.map((each, index) => [`webhook-${index}`, each] as const),
      ...fleet.reconcilers.map((each) => [each === leader ? 'leader' : 'standby', each] as const),
      ...more.map((each, index) => [`more-${index}`, each] as const),
    ];
    const texts = await Promise.all(named.map(async ([name, each]) => [name, await each.metrics()] as const));
    return Object.fromEntries([
      ...texts,
      ['api-server', await stage.kubectl('get', '--raw', '/metrics')] as const,
    ]);
  }

  /** The samples of the fault whose metric is named. All others are healthy. */
  only(...metrics: readonly string[]): Samples {
    const isNamed = ([series]: readonly [string, number]): boolean =>
      metrics.some((metric) => series.startsWith(`${metric}{`));
    return new Map([
      ...[...this.healthy].filter((each) => !isNamed(each)),
      ...[...this.faulty].filter(isNamed),
    ]);
  }

  /** Healthy samples without these processes. */
  without(...instances: readonly string[]): Samples {
    const isOfOthers = ([series]: readonly [string, number]): boolean =>
      !instances.some((each) => series.includes(`instance="${each}"`));
    return new Map([...this.healthy].filter(isOfOthers));
  }

  /** Times of expiry are relative, because the clock of promtool starts in 1970. */
  async #samples(): Promise<Samples> {
    return changed(samplesOf(await this.scrape(), isInAlerts), /^reeve_certificate_expiry/u, (value) =>
      Math.round(value - Date.now() / 1000),
    );
  }

  async #scrapeHealthy(): Promise<void> {
    await until(
      async () => {
        this.healthy = await this.#samples();
        const series = [...this.healthy];
        const guards = series.filter(([name]) => name.startsWith('reeve_guard_in_force'));
        const providers = series.filter(([name]) => name.startsWith('reeve_provider_ready'));
        const notReady = this.healthy.get('reeve_namespaces{instance="leader",ready="false"}');
        return (
          [...providers, ...guards].every(([, value]) => value === 1) && guards.length > 0 && notReady === 0
        );
      },
      () => [...this.healthy].join('\n'),
    );
  }

  async #breakThings(): Promise<void> {
    const { stage } = this;
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z/u, 'Z');
    await stage.apply(
      shareOf('al-no-source', { names: ['al-a'] }),
      policy('al-excepted', {
        match: { names: ['al-a'] },
        namespaces: { required: { labels: { 'al-team': {} } } },
        exceptions: [{ namespaces: ['al-a'], rules: ['namespaces.required'], expiresAt: inAnHour }],
      }),
    );
    await stage.kubectl('delete', 'validatingadmissionpolicybinding', 'reeve-guard');
    await stage.kubectl('delete', 'mutatingwebhookconfiguration', 'reeve');
    await stage.kubectl('delete', 'secret', 'reeve-webhook-ca', '-n', 'reeve-system');
  }

  async #scrapeFaulty(): Promise<void> {
    const isSeen = (series: RegExp, isFault: (value: number) => boolean): boolean =>
      [...this.faulty].some(([name, value]) => series.test(name) && isFault(value));
    const isZero = (value: number): boolean => value === 0;
    const isAbove0 = (value: number): boolean => value > 0;
    await until(
      async () => {
        this.faulty = await this.#samples();
        return (
          isSeen(/^reeve_guard_in_force.*"reeve-guard"/u, isZero) &&
          isSeen(/^reeve_provider_ready.*"al-no-source"/u, isZero) &&
          isSeen(/^reeve_namespaces.*ready="false"/u, isAbove0) &&
          isSeen(/^reeve_webhook_configuration_repairs_total.*found="deleted"/u, isAbove0) &&
          isSeen(/^reeve_certificate_recoveries_total.*cause="missing"/u, isAbove0) &&
          isSeen(/^reeve_provider_exception_seconds/u, isAbove0)
        );
      },
      () => [...this.faulty].join('\n'),
      120,
    );
  }
}
