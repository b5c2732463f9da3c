// Asks what the webhooks would answer to the objects that would be applied: warnings and refusals.
import { isDeepStrictEqual } from 'node:util';
import { judgedResources, type JudgedResource } from '../../admission/decode/decode-target.ts';
import { apiVersion, group } from '../../schema/names.ts';
import { type KubeObject, isTerminating } from '../../base/metadata.ts';
import { kindDefinitions } from '../../api/kinds.ts';
import { loadProvider } from '../../policy/compile/load-provider.ts';
import { providerId, providerKindOf } from '../../policy/terms/provider-id.ts';
import {
  administrator,
  judgeWrite,
  namespaceResource,
  writtenRequest,
  type WriteSetup,
} from '../input/judged-write.ts';
import type { AppliedObject } from '../input/loaded-state.ts';
import type { PlannedProvider } from '../output-schemas/plan-output.ts';

/** Returns undefined for an object that is neither a provider nor an intent. */
export function resourceOfReeve(object: KubeObject): JudgedResource | undefined {
  if (object.apiVersion !== apiVersion) return undefined;
  return judgedResources.find((each) => each.group === group && each.kind === object.kind);
}

/** Judges each write alone, on the state without the other writes. */
export async function previewProvider(
  resource: JudgedResource,
  { object, stored }: AppliedObject,
  setup: WriteSetup,
): Promise<PlannedProvider> {
  // An object that is being deleted is sent as it was stored.
  const isDeleted = stored !== undefined && isTerminating(object) && !isTerminating(stored);
  const id = idOf(object);
  if (!isDeleted && stored !== undefined && isDeepStrictEqual(specOf(object), specOf(stored)))
    return { id, change: 'unchanged', warnings: [] };
  const sides = { after: isDeleted ? undefined : placed(object), before: stored };
  const { answer, warnings } = await judgeWrite(writtenRequest(resource, sides, administrator), setup);
  const change = isDeleted ? 'deleted' : stored === undefined ? 'new' : 'changed';
  const refused = answer.refusal === undefined ? {} : { refused: answer.refusal.message };
  return { id, change, warnings, ...refused };
}

/** Removes the namespace of a cluster-scoped object, as the API server does. */
function placed({ metadata: { namespace, ...metadata }, ...object }: KubeObject): KubeObject {
  const isInside = kindDefinitions.some(({ kind, scope }) => kind === object.kind && scope === 'Namespaced');
  return { ...object, metadata: isInside && namespace !== undefined ? { ...metadata, namespace } : metadata };
}

function idOf({ kind = '', metadata: { name = '', namespace } }: KubeObject): string {
  const found = providerKindOf(kind);
  return found === undefined ? `${kind}/${name}` : providerId(found, name, namespace);
}

/** Returns the spec with the defaults of the schema, so that a default is no change. */
function specOf({ kind, metadata: { name, namespace }, spec }: KubeObject): unknown {
  const found = providerKindOf(kind);
  if (found === undefined) return spec;
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const load = loadProvider(found, { apiVersion, kind, metadata, spec });
  return load.ok && load.value.intents === undefined ? load.value.object.spec : spec;
}

type NamespaceWrite =
  | { readonly kind: 'stored'; readonly object: KubeObject; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

/** Returns the Namespace with the defaults of policies, or the refusal. */
export async function previewNamespace(
  { object: after, stored }: AppliedObject,
  setup: WriteSetup,
): Promise<NamespaceWrite> {
  const request = writtenRequest(namespaceResource, { after, before: stored }, administrator);
  const { answer, warnings, object = after } = await judgeWrite(request, setup);
  return answer.refusal === undefined
    ? { kind: 'stored', object, warnings }
    : { kind: 'refused', message: answer.refusal.message };
}
