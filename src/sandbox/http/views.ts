// Shows an answer in the form that the client accepts: the object, a table, or the metadata alone.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { apiVersionOf, withType, type Resource } from '../resource.ts';
import type { Reply, Form } from './reply.ts';
import type { ObjectAnswer, ObjectList, SandboxWatchEvent } from '../read/read.ts';

interface View {
  readonly resource: Resource;
  readonly form: Form;
  /** Which part of its object each row of a table holds: `Object`, `None`, or the metadata by default. */
  readonly included: string;
}

const metaVersion = 'meta.k8s.io/v1';

export function replyOf(answer: ObjectAnswer, view: View): Reply {
  switch (answer.kind) {
    case 'object': {
      const { code, object } = answer;
      // A Status or a token is not an object of the kind and has only one form.
      const isOfKind = object['kind'] === view.resource.kind;
      return {
        kind: 'json',
        code,
        body: isOfKind ? objectView(withType(view.resource, object), view) : object,
      };
    }
    case 'list':
      return { kind: 'json', code: 200, body: listView(answer, view) };
    case 'watch':
      return { kind: 'watch', code: 200, events: eventViews(answer.events, view) };
  }
}

function objectView(object: KubeObject, view: View): JsonObject {
  if (view.form === 'plain') return object;
  if (view.form !== 'Table') return metadataOf(object);
  return table([object], { resourceVersion: object.metadata['resourceVersion'] }, view);
}

function listView({ items, resourceVersion }: ObjectList, view: View): JsonObject {
  const metadata = { resourceVersion };
  if (view.form === 'Table') return table(items, metadata, view);
  if (view.form !== 'plain') {
    return { kind: view.form, apiVersion: metaVersion, metadata, items: items.map(metadataOf) };
  }
  const { resource } = view;
  // In lists of built-in kinds, the items have no kind and apiVersion.
  const listed = resource.isCustom ? items : items.map(({ kind: _kind, apiVersion: _of, ...rest }) => rest);
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items: listed };
}

function metadataOf({ metadata }: KubeObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: metaVersion, metadata };
}

async function* eventViews(events: AsyncIterable<SandboxWatchEvent>, view: View): AsyncGenerator<JsonObject> {
  // Only the first table of a watch names its columns.
  let columns: JsonObject = {};
  for await (const { type, object } of events) {
    yield { type, object: type === 'ERROR' ? object : { ...eventView({ type, object }, view), ...columns } };
    if (type === 'ERROR') return;
    if (view.form === 'Table') columns = { columnDefinitions: null };
  }
}

/** A bookmark has no row. */
function eventView({ type, object }: SandboxWatchEvent, view: View): JsonObject {
  const hasNoRow = type === 'BOOKMARK' && view.form === 'Table';
  return hasNoRow ? table([], object.metadata, view) : objectView(object, view);
}

function table(objects: readonly KubeObject[], metadata: JsonObject, view: View): JsonObject {
  const name = { name: 'Name', type: 'string', format: 'name', description: 'The name.', priority: 0 };
  const columns = view.resource.columns.map(({ cell: _cell, ...column }) => ({ format: '', ...column }));
  const rows = objects.map((object) => {
    const part = view.included === 'Object' ? object : metadataOf(object);
    return { cells: cells(object, view), object: view.included === 'None' ? null : part };
  });
  return { kind: 'Table', apiVersion: metaVersion, metadata, columnDefinitions: [name, ...columns], rows };
}

function cells(object: KubeObject, { resource }: View): readonly unknown[] {
  const values = resource.columns.map(({ cell, type }) => {
    const value = cell(object);
    // Custom kinds show an empty cell for a missing value.
    if (value === '' && resource.isCustom) return null;
    return type === 'date' ? ageOf(value, new Date()) : value;
  });
  return [object.metadata.name, ...values];
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** Returns the age as `5s`, `3m` or `2d`, in the largest unit that fits at least twice. */
export function ageOf(time: unknown, now: Date): string {
  const then = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(then)) return '<unknown>';
  const seconds = Math.max(0, Math.trunc((now.getTime() - then) / 1000));
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.floor(seconds / length)}${unit}`;
}
