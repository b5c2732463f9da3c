// Imports MultiSecrets of ddnw's secret-operator, which copies each into all namespaces.
// https://github.com/ddnw/secret-operator/blob/main/controllers/multisecret_controller.go
import { copiedMetadata } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import type { ToolObject } from '../reader.ts';
import { provideShares } from '../provide.ts';
import { everywhere } from '../reach.ts';

export const multiSecret: Importer = {
  groups: ['multi.ddnw.ml'],
  reads: {},
  danger: 'never delete a MultiSecret while it has its finalizer: the operator would delete all copies',
  stop: 'kubectl scale deployment secret-operator-controller-manager -n secret-operator-system --replicas=0 (in the namespace of its install)',
  end: 'uninstall the operator',
  read(run) {
    for (const each of run.ofKind('MultiSecret')) readMultiSecret(run, each);
  },
};

function readMultiSecret(run: ImportRun, each: ToolObject): void {
  const { reader, name, namespace: given } = each;
  // kubectl sets the namespace `default` if none is given.
  const namespace = given === '' ? 'default' : given;
  const data = [reader.at('spec', 'data'), reader.at('spec', 'stringData')];
  const keys = [...new Set(data.flatMap((part) => part.entries().map(([key]) => key)))];
  for (const part of data) part.skip();
  const type = reader.at('spec', 'type').text() ?? '';
  provideShares(run, {
    from: reader,
    name: `${name}.${namespace}`,
    source: { namespace, name, inline: { keys, type: type === '' ? 'Opaque' : type } },
    reaches: [everywhere],
    // The operator gives its copies this name.
    target: {
      name: `${name}.${namespace}.multisec`.toLowerCase(),
      ...copiedMetadata({ from: reader, object: each.object }),
    },
  });
  run.deleteReplaced(each);
}
