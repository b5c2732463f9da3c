import { describe, expect, test } from 'vitest';
import { describedCommands, readCommand, type Command } from '../../../src/cli/commands.ts';

function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Command> {
  return readCommand(['serve', '--policies', 'p', ...args], env);
}

function settingsOf(command: Command) {
  if (command.kind !== 'serve') throw new Error(JSON.stringify(command));
  return command.settings;
}

function problemsOf(command: Command): readonly string[] {
  return command.kind === 'wrong' ? command.problems : [];
}

test('each flag has its default', async () => {
  expect(settingsOf(await serve([]))).toEqual({
    policies: 'p',
    clusterState: undefined,
    host: '127.0.0.1',
    port: 8443,
    probesPort: 8081,
    tlsCert: undefined,
    tlsKey: undefined,
    certsDir: undefined,
    namespace: 'reeve-system',
    sharedNamespace: ['reeve-shared'],
    excludeNamespace: [],
    variable: [],
    logLevel: 'info',
    traceEndpoint: undefined,
    drainGrace: 5000,
    evaluationBudget: 2_500_000,
  });
});

test('every flag is read', async () => {
  const args = [
    ['--cluster-state', 'c'],
    ['--host', '::1'],
    ['--port', '0'],
    ['--probes-port=65535'],
    ['--tls-cert', 'a.crt'],
    ['--tls-key=a.key'],
    ['--namespace', 'platform'],
    ['--shared-namespace', 'secrets'],
    ['--exclude-namespace', 'a,b'],
    ['--exclude-namespace', 'c'],
    ['--variable', 'cluster.region=eu'],
    ['--log-level', 'trace'],
    ['--drain-grace', '0s'],
    ['--evaluation-budget', '1500000'],
  ];
  expect(settingsOf(await serve(args.flat()))).toEqual({
    policies: 'p',
    clusterState: 'c',
    host: '::1',
    port: 0,
    probesPort: 65_535,
    tlsCert: 'a.crt',
    tlsKey: 'a.key',
    certsDir: undefined,
    namespace: 'platform',
    sharedNamespace: ['secrets'],
    excludeNamespace: ['a', 'b', 'c'],
    variable: ['cluster.region=eu'],
    logLevel: 'trace',
    drainGrace: 0,
    evaluationBudget: 1_500_000,
  });
});

describe('a flag overrides the environment, and the environment overrides the default', () => {
  test.each([
    [[], {}, 8443],
    [[], { REEVE_PORT: '1' }, 1],
    [['--port', '2'], { REEVE_PORT: '1' }, 2],
    [['--port', '2', '--port', '3'], {}, 3],
    [[], { REEVE_PORT: '' }, 8443],
  ])('%j %j', async (args, env, port) => {
    expect(settingsOf(await serve(args, env)).port).toBe(port);
  });

  test('a list in the environment is separated by commas', async () => {
    const env = { REEVE_EXCLUDE_NAMESPACE: 'a, b', REEVE_POLICIES: 'unused' };
    expect(settingsOf(await serve([], env))).toMatchObject({ policies: 'p', excludeNamespace: ['a', 'b'] });
  });
});

describe('wrong command lines', () => {
  test.each([
    [['--port', '65536'], '--port: "65536" is not valid; accepted: a whole number from 0 to 65535'],
    [['--port', '0x10'], '--port: "0x10" is not valid; accepted: a whole number from 0 to 65535'],
    [['--port', '-1'], '--port: "-1" is not valid; accepted: a whole number from 0 to 65535'],
    [['--port='], '--port: "" is not valid; accepted: a whole number from 0 to 65535'],
    [['--port'], '--port requires a value; accepted: a whole number from 0 to 65535'],
    [['--port', '--host', 'x'], '--port requires a value; accepted: a whole number from 0 to 65535'],
    [['--prot', '1'], 'unknown flag --prot; did you mean --port?'],
    [['--probe-port=1'], 'unknown flag --probe-port; did you mean --probes-port?'],
    [['--entirely-different', 'x'], 'unknown flag --entirely-different'],
    [['more'], 'unexpected argument "more"'],
    [
      ['--log-level', 'loud'],
      '--log-level: "loud" is not valid; accepted: trace, debug, info, warn, error, silent',
    ],
    [['--drain-grace', '5'], '--drain-grace: "5" is not valid; accepted: a duration such as 5s, up to 10m'],
    [
      ['--drain-grace', '11m'],
      '--drain-grace: "11m" is not valid; accepted: a duration such as 5s, up to 10m',
    ],
    [
      ['--evaluation-budget', '0'],
      '--evaluation-budget: "0" is not valid; accepted: a whole number from 10000 to 20000000',
    ],
    [['--namespace', 'Not_A'], '--namespace: "Not_A" is not valid; accepted: the name of a namespace'],
    [
      ['--exclude-namespace', 'a,,b'],
      '--exclude-namespace: "a,,b" is not valid; accepted: names of namespaces',
    ],
    [['--tls-cert', 'a'], '--tls-cert and --tls-key go together'],
    [['--tls-key', 'a'], '--tls-cert and --tls-key go together'],
    [
      ['--tls-key=a', '--tls-cert=b', '--certs-dir=c'],
      '--certs-dir replaces --tls-cert and --tls-key: give one of them',
    ],
  ])('%j', async (args, problem) => {
    expect(problemsOf(await serve(args))).toEqual([problem]);
  });

  test('a problem names the environment variable of the value', async () => {
    expect(problemsOf(await serve([], { REEVE_PORT: 'x' }))[0]).toMatch(/^REEVE_PORT: "x" is not valid/);
  });

  test('all problems are reported at once', async () => {
    const problems = problemsOf(
      await readCommand(['serve', '--prot', '1', '--log-level', 'x', '--host'], {}),
    );
    expect(problems.map((problem) => problem.split(/[:;]/)[0])).toEqual([
      'unknown flag --prot',
      '--host requires a value',
      '--policies is missing',
      '--log-level',
    ]);
  });

  test.each([
    [['sevre'], 'unknown command "sevre"; did you mean serve?'],
    [['constructor'], 'unknown command "constructor"'],
  ])('command %j', async (args, problem) => {
    expect(await readCommand(args, {})).toEqual({
      kind: 'wrong',
      problems: [problem],
      hint: 'reeve --help',
      code: 2,
    });
  });
});

describe('the namespace of the install has a flag of its own', () => {
  test.each([
    ['check', '-n', 'team-a'],
    ['check', '--namespace', 'team-a'],
    ['uninstall', '--namespace', 'reeve-system'],
    ['certs', '--namespace', 'reeve-system', '--out', 'x'],
  ])('%s %s names it', async (name, flag, ...rest) => {
    expect(problemsOf(await readCommand([name, flag, ...rest], {}))).toContain(
      `unknown flag ${flag}; did you mean --install-namespace?`,
    );
  });
});

test.each(['-v', '--version', 'version'])('%s prints the version', async (arg) => {
  expect(await readCommand([arg], {})).toMatchObject({
    kind: 'help',
    text: expect.stringMatching(/^reeve \d+\.\d+\.\d+/) as unknown,
  });
});

describe('paths without a flag', () => {
  test.each(['check', 'report'])('paths without a flag of reeve %s are the files of -f', async (name) => {
    expect(await readCommand([name, 'a.yaml', '-o', 'json', '-f', 'b', '--', '-c'], {})).toMatchObject({
      settings: { filename: ['b', 'a.yaml', '-c'], output: 'json' },
      positionals: [],
    });
  });

  test('decide what reeve check checks, as -f does', async () => {
    expect(problemsOf(await readCommand(['check', 'policies/', '--wait', '2m'], {}))).toEqual([
      '--wait goes without -f',
    ]);
    expect(await readCommand(['check', 'policies/', '--strict'], {})).toMatchObject({ kind: 'check' });
  });

  test('paths without a flag stay wrong for a command without -f', async () => {
    expect(problemsOf(await readCommand(['uninstall', 'x'], {}))).toEqual(['unexpected argument "x"']);
  });
});

test('certs', async () => {
  expect(await readCommand(['certs', '--out', 'x', '--force'], {})).toMatchObject({
    kind: 'certs',
    settings: { out: 'x', installNamespace: 'reeve-system', force: true, caDays: 3650, days: 365 },
    positionals: [],
    environment: {},
    mayColor: true,
  });
  expect(await readCommand(['certs', '--days', '0'], {})).toMatchObject({
    kind: 'wrong',
    problems: [
      expect.stringMatching(/^--out is missing/),
      expect.stringMatching(/^--days: "0" is not valid/),
    ],
  });
});

describe('help', () => {
  test.each([[['--help']], [['help']], [['-h']], [[]]])('%j lists the commands', async (args) => {
    expect(await readCommand(args, {})).toMatchObject({
      kind: 'help',
      text: expect.stringMatching(/serve[^]+certs/) as unknown,
    });
  });

  test('the help of a command lists every flag with its variable and its default', async () => {
    const command = await readCommand(['serve', '--help'], {});
    const text = command.kind === 'help' ? command.text : '';
    for (const key of Object.keys(settingsOf(await serve([])))) {
      const kebab = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect(text).toContain(`  --${kebab} `);
      expect(text).toContain(`REEVE_${kebab.replaceAll('-', '_').toUpperCase()}`);
    }
    expect(text).toContain('(REEVE_PORT; default 8443; accepted: a whole number from 0 to 65535)');
    expect(text).toContain('(REEVE_POLICIES; required; accepted: a YAML file or a folder of them)');
    for (const line of text.split('\n')) expect(line.length).toBeLessThan(200);
  });
});

test.each(['check', 'plan', 'report', 'explain ns/a'])(
  'no variable gives reeve %s a cluster beside its files',
  async (words) => {
    const command = await readCommand([...words.split(' '), '-f', 'a.yaml'], {
      REEVE_KUBECONFIG: '/nowhere',
    });
    expect(command).not.toHaveProperty('problem');
    expect(command).toMatchObject({ settings: { kubeconfig: undefined } });
  },
);

test.each([
  ['confirm', ['policy', 'team']],
  ['grant', ['use', 'policy', 'team', '--group', 'red']],
])('reeve %s reads KIND NAME', async (name, args) => {
  expect(await readCommand([name, ...args], {})).toMatchObject({ kind: name });
});

test.each([
  [
    ['access', '--user', 'a'],
    ['--role is missing', '-n is missing: access is granted in one namespace'],
  ],
  [
    ['access', 'policy/team', '--user', 'a', '--role', 'edit', '-n', 'shop'],
    ['"policy/team" is not expected: access takes flags alone'],
  ],
  [
    ['access', '--user', 'a', '--role', 'Rolle/edit', '-n', 'kube-system'],
    [
      '--role: "Rolle/edit" is not valid; accepted: the name of a ClusterRole, ClusterRole/NAME or Role/NAME',
      '-n: Reeve ends nothing in kube-system, kube-public or kube-node-lease',
    ],
  ],
  [
    ['use', 'policy/team', '--user', 'a', '--role', 'edit', '--for', '4h'],
    ['--role is for access: leave it out', '--for is for access: leave it out'],
  ],
  [['acess', '--user', 'a'], ['"acess" is not valid; accepted: use, access']],
])('reeve grant %j is refused with every problem', async (args, problems) => {
  expect(await readCommand(['grant', ...args], {})).toMatchObject({ kind: 'wrong', problems });
});

test('each command that prints JSON prints YAML as well', async () => {
  for (const { name, table } of await describedCommands()) {
    const formats = table.flags['output']?.choices ?? [];
    expect([name, formats.includes('json')]).toEqual([name, formats.includes('yaml')]);
  }
});
