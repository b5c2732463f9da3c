// Writes the README of the chart from the comments in its values.yaml.
import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from 'yaml';

export interface ChartValue {
  /** `webhook.replicas` */
  readonly path: string;
  /** The comment above the value. */
  readonly help: string;
  readonly fallback: unknown;
}

const introduction = `# The chart of Reeve

Generated from values.yaml: change that and run \`npm run generate\`.

\`\`\`sh
helm install reeve manifests/chart --namespace reeve-system --create-namespace --wait
\`\`\`

The chart works with Helm 3.22 and Helm 4, and with Kubernetes 1.30 or newer. Each name of an object is fixed, because the
guard and the jail use it: a cluster has one Reeve, and the chart refuses a second release. The name and the namespace of the
release are yours to choose. After an uninstall, a release with another name or namespace needs \`--take-ownership\`, because
the kinds and the namespaces of shared Secrets stay with the names of the first one.

[Install](../../docs/operate/install.md), [upgrade](../../docs/operate/upgrade.md) and
[uninstall](../../docs/operate/uninstall.md) say more.

## Values

A line says so when a value has no effect without another one. The schema refuses names that it does not know, values of another
type, and \`null\`.

| Value | Default | What it decides |
| ----- | ------- | --------------- |
`;

/** Returns every value that has a comment. Throws at a value without one, unless it only groups values that have one. */
export function chartValues(text: string): readonly ChartValue[] {
  const { contents } = parseDocument(text);
  if (!isMap(contents)) throw new Error('values.yaml is not a map');
  return valuesIn(contents, []);
}

export function chartReadme(text: string): string {
  const rows = chartValues(text).map(
    ({ path, help, fallback }) => `| \`${path}\` | \`${JSON.stringify(fallback)}\` | ${help} |\n`,
  );
  return introduction + rows.join('');
}

function valuesIn(map: YAMLMap, above: readonly string[]): readonly ChartValue[] {
  return map.items.flatMap((pair, index) => {
    // The parser gives the comment above the first key to the map.
    const inherited = index === 0 && above.length > 0 ? map.commentBefore : undefined;
    return valuesOf(pair, above, inherited ?? undefined);
  });
}

function valuesOf(
  { key, value }: Pair,
  above: readonly string[],
  inherited: string | undefined,
): readonly ChartValue[] {
  if (!isScalar(key)) throw new Error('a key of values.yaml is not a word');
  const path = [...above, String(key.value)];
  const help = (key.commentBefore ?? inherited)?.split('\n\n').at(-1)?.trim().replaceAll('\n', '');
  if (help === undefined) {
    if (!isMap(value)) throw new Error(`${path.join('.')} has no comment`);
    return valuesIn(value, path);
  }
  const fallback = (value as { toJSON(): unknown }).toJSON();
  return [{ path: path.join('.'), help, fallback }];
}
