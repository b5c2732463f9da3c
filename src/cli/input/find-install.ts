// Finds what an install allows: from the flags of its Deployments, unless the command has flags of its own.
import { installOf, type Install, type InstallFlags } from '../../policy/terms/install.ts';
import { ownMember } from '../../base/json.ts';
import { type KubeObject, labelsOf, valueOf } from '../../base/metadata.ts';
import { runSettings, type RunFlags } from '../commands/run.ts';
import { withProperties } from '../../state/cluster-properties.ts';
import { readSettings } from '../flags/settings.ts';

export const deploymentType = { apiVersion: 'apps/v1', kind: 'Deployment' } as const;

/** The flags of a command that replace those of the install. */
export type InstallOverrides = { readonly installNamespace?: string | undefined } & {
  readonly [
    F in
      | 'sharedNamespace'
      | 'excludeNamespace'
      | 'resourceKind'
      | 'secretName'
      | 'enforcedKey'
      | 'teamLabel'
      | 'variable'
  ]?: InstallFlags[F] | undefined;
};

/** `objects` may hold other objects, too. */
export function findInstall(objects: readonly KubeObject[], overrides: InstallOverrides): Install {
  const found = objects.filter(isReeve).flatMap(flagsIn);
  // The reconciler creates objects, so its flags count where the two roles differ.
  const flags = found.find(({ role }) => role !== 'webhook') ?? found[0];
  const facts = flags ?? defaultFlags();
  const {
    installNamespace = facts.namespace,
    sharedNamespace = facts.sharedNamespace,
    excludeNamespace = facts.excludeNamespace,
    resourceKind = facts.resourceKind,
    secretName = facts.secretName,
    enforcedKey = facts.enforcedKey,
    teamLabel = facts.teamLabel,
    // Without an install, nothing says which variables it would have.
    variable = flags?.variable,
  } = overrides;
  const chosen = {
    sharedNamespace,
    excludeNamespace,
    resourceKind,
    secretName,
    enforcedKey,
    teamLabel,
    variable,
  };
  const install = installOf({ ...facts, ...chosen, namespace: installNamespace });
  const clusterVariables = withProperties(install.clusterVariables, objects);
  return { ...install, clusterVariables, isAssumed: flags === undefined };
}

/** Returns whether a reconciler of these Deployments has the flag `--reports`. */
export function keepsReports(deployments: readonly KubeObject[]): boolean {
  return deployments.flatMap(flagsIn).some(({ role, reports }) => reports && role !== 'webhook');
}

const partOf = 'app.kubernetes.io/part-of';
export const deploymentSelector = `${partOf}=reeve`;

function isReeve(object: KubeObject): boolean {
  const { apiVersion, kind } = object;
  return (
    apiVersion === deploymentType.apiVersion &&
    kind === deploymentType.kind &&
    valueOf(labelsOf(object), partOf) === 'reeve'
  );
}

/** Returns nothing for a Deployment that does not start `reeve run`, or whose version knows other flags. */
function flagsIn(deployment: KubeObject): readonly RunFlags[] {
  const containers = ownMember(ownMember(ownMember(deployment['spec'], 'template'), 'spec'), 'containers');
  const all: readonly unknown[] = Array.isArray(containers) ? containers : [];
  return all.flatMap((container) => {
    const args = ownMember(container, 'args');
    const texts = Array.isArray(args) ? args.map(String) : [];
    if (texts[0] !== 'run') return [];
    const reading = readSettings(runSettings, texts.slice(1), variablesOf(container));
    return reading.ok ? [reading.values] : [];
  });
}

function variablesOf(container: unknown): Readonly<Record<string, string>> {
  const env = ownMember(container, 'env');
  const all: readonly unknown[] = Array.isArray(env) ? env : [];
  return Object.fromEntries(
    all.flatMap((variable) => {
      const [name, value] = [ownMember(variable, 'name'), ownMember(variable, 'value')];
      return typeof name === 'string' && typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

function defaultFlags(): RunFlags {
  const reading = readSettings(runSettings, [], {});
  if (!reading.ok) throw new Error('a setting of `reeve run` has no default');
  return reading.values;
}
