// Metadata as far as we read it in objects that are not being judged: a name, labels and annotations of the right form.
import { metadataKey } from './common-fields.ts';
import { map, openObject, text } from './schema/build.ts';
import type { TextSchema } from './schema/schema.ts';

const value = text({ description: 'Any text.', maxLength: 262_144 });
const key = metadataKey('A label or annotation key.');

export function objectMetadata(name: TextSchema) {
  return openObject({
    description: 'Standard metadata.',
    fields: {
      name,
      labels: map({ description: 'Labels.', keys: key, values: value, maxProperties: 10_000 }),
      annotations: map({ description: 'Annotations.', keys: key, values: value, maxProperties: 10_000 }),
    },
    required: ['name'],
  });
}
