// Runs a real Prometheus that scrapes processes of a test every second and loads the alerts of Reeve.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cluster/ports.ts';
import { prometheusProgram } from '../../support/prometheus.ts';
import { until } from '../../support/until.ts';

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** The time, and the value as text. */
  readonly value: readonly [number, string];
}

/** https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview */
interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: unknown;
}

export class PrometheusServer {
  readonly #folder: string;
  readonly #url: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, url: string, process: ChildProcess) {
    this.#folder = folder;
    this.#url = url;
    this.#process = process;
  }

  /** Resolves once it answers queries. `targets` are addresses such as 127.0.0.1:8081. */
  static async start(targets: readonly string[], rulesFile: string): Promise<PrometheusServer> {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-prometheus-'));
    const config = join(folder, 'prometheus.json');
    await writeFile(
      config,
      JSON.stringify({
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        rule_files: [rulesFile],
        scrape_configs: [{ job_name: 'reeve', static_configs: [{ targets }] }],
      }),
    );
    const [port = 0] = await freePorts(1);
    const flags = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const process = spawn(prometheusProgram('prometheus'), flags, { stdio: 'ignore' });
    const server = new PrometheusServer(folder, `http://127.0.0.1:${port}`, process);
    await until(
      async () => process.exitCode !== null || (await server.#isReady()),
      () => 'Prometheus is ready',
    );
    if (process.exitCode !== null) throw new Error(`Prometheus ended with ${process.exitCode}`);
    return server;
  }

  /** Rejects with the message of Prometheus when the query does not parse. */
  async query(text: string): Promise<readonly Series[]> {
    const { result } = (await this.#get(`/api/v1/query?query=${encodeURIComponent(text)}`)) as {
      readonly result: readonly Series[];
    };
    return result;
  }

  /** Returns the error of each rule that cannot be evaluated, and counts the rules. */
  async rules(): Promise<{ readonly count: number; readonly errors: readonly string[] }> {
    const { groups } = (await this.#get('/api/v1/rules')) as {
      readonly groups: readonly {
        readonly rules: readonly { readonly name: string; readonly health: string }[];
      }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    const ill = rules.filter(({ health }) => health !== 'ok');
    return { count: rules.length, errors: ill.map(({ name, health }) => `${name}: ${health}`) };
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'close');
    if (this.#process.exitCode === null && this.#process.kill('SIGTERM')) await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #isReady(): Promise<boolean> {
    return await fetch(`${this.#url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async #get(path: string): Promise<unknown> {
    const answer = (await (await fetch(`${this.#url}${path}`)).json()) as Answer;
    if (answer.status !== 'success') throw new Error(answer.error ?? 'no error was given');
    return answer.data;
  }
}
