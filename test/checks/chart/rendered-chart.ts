// Renders the chart with Helm, as documents that still have their comments.
import { isJsonObject, ownMember, type JsonObject } from '../../../src/base/json.ts';
import { parseYaml } from '../../../src/base/yaml.ts';
import { chartFolder, mustHelm, type Helm } from '../../cluster/helm/helm.ts';

export const releaseNamespace = 'reeve-system';

export interface RenderedDocument {
  /** From the folder `templates`: `install/40-guard.yaml`. */
  readonly template: string;
  /** With its comments. */
  readonly text: string;
  readonly object: JsonObject;
}

export interface Rendered {
  /** The objects of the release. */
  readonly documents: readonly RenderedDocument[];
  /** Objects that exist only while Helm runs a hook. https://helm.sh/docs/topics/charts_hooks/ */
  readonly hooks: readonly RenderedDocument[];
}

interface RenderOptions {
  readonly namespace?: string;
  /** Kinds that the cluster serves, such as `reeve.dev/v1alpha1/NamespacePolicy`. */
  readonly apiVersions?: readonly string[];
}

/** Rejects with the message of Helm when Helm refuses the values. */
export async function renderChart(
  helm: Helm,
  values: object = {},
  options: RenderOptions = {},
): Promise<Rendered> {
  const { namespace = releaseNamespace, apiVersions = [] } = options;
  const served = apiVersions.flatMap((each) => ['--api-versions', each]);
  const args = ['template', 'reeve', chartFolder, '--namespace', namespace, '--values', '-', ...served];
  const stdout = await mustHelm(helm, args, { input: JSON.stringify(values) });
  const all = stdout.split(/^---$/m).flatMap((text) => documentOf(text) ?? []);
  const isHook = ({ object }: RenderedDocument): boolean =>
    annotationOf(object, 'helm.sh/hook') !== undefined;
  return { documents: all.filter((each) => !isHook(each)), hooks: all.filter(isHook) };
}

/** Returns the message with which Helm refuses the values. */
export async function refusal(helm: Helm, values: object, options?: RenderOptions): Promise<string> {
  return await renderChart(helm, values, options).then(
    () => 'not refused',
    (error: unknown) => String(error),
  );
}

/** Returns undefined for a document of comments alone. */
function documentOf(text: string): RenderedDocument | undefined {
  const [, template = ''] = /^# Source: reeve\/templates\/(.*)$/m.exec(text) ?? [];
  const [document] = parseYaml(text).documents;
  if (document?.kind !== 'data' || !isJsonObject(document.value)) return undefined;
  return { template, text: text.replace(/^# Source: .*\n/m, '').trim(), object: document.value };
}

export function annotationOf(object: JsonObject, key: string): unknown {
  return ownMember(ownMember(ownMember(object, 'metadata'), 'annotations'), key);
}

/** `Deployment reeve-system/reeve-webhook`, with the group: no two objects of a cluster have the same. */
export function idOf(object: JsonObject): string {
  const metadata = ownMember(object, 'metadata');
  const [group] = String(object['apiVersion']).split('/v');
  const place = [group, object['kind'], ownMember(metadata, 'namespace') ?? '', ownMember(metadata, 'name')];
  return place.join('/');
}
