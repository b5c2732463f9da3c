// Defines fields that several blocks share: names, label keys and values, globs, expressions, times.
import {
  isLabelValue,
  labelValuePattern,
  maxLabelLength,
  namespaceNamePattern,
  qualifiedNamePattern,
  subdomainPattern,
} from '../base/kubernetes-names.ts';
import {
  map,
  object,
  text,
  type Infer,
  type MapSchema,
  type SchemaRule,
  type Schema,
  type TextSchema,
} from './schema.ts';
import { durationPattern, parseDuration, timePattern } from '../base/time.ts';

const shortPrefix: SchemaRule<string> = {
  accepted: 'a key with at most 253 characters before the slash',
  cel: "self.indexOf('/') <= 253",
  offender: (key) => (key.indexOf('/') <= 253 ? undefined : []),
};

/** A key of a label or annotation. */
export function metadataKey(description: string): TextSchema {
  return text({
    description,
    maxLength: 317,
    pattern: `^(${subdomainPattern}/)?${qualifiedNamePattern}$`,
    accepted: 'a key such as team or example.com/team',
    rules: [shortPrefix],
  });
}

export function labelValue(description: string): TextSchema {
  return text({
    description,
    maxLength: maxLabelLength,
    pattern: labelValuePattern,
    accepted: 'a label value: at most 63 letters, digits, -, _ and ., with a letter or digit at both ends',
  });
}

const staticLabelValue: SchemaRule<string> = {
  accepted: 'a label value (at most 63 letters, digits, -, _ and .) or a template with ${ }',
  cel: `self.contains('\${') || self.matches('${labelValuePattern}')`,
  offender: (value) => (value.includes('${') || isLabelValue(value) ? undefined : []),
};

/** A label value that may be a template. */
export function labelTemplate(description: string): TextSchema {
  return text({ description, maxLength: 8192, braces: 'template', rules: [staticLabelValue] });
}

export function annotationTemplate(description: string): TextSchema {
  return text({ description, maxLength: 8192, braces: 'template' });
}

/** A key that Reeve writes itself. Its syntax is left to the API server, which may accept more in a later version. */
export function writtenKey(description: string): TextSchema {
  return text({
    description,
    minLength: 1,
    maxLength: 317,
    pattern: '^[!-~]+$',
    accepted: 'a key such as team or example.com/team',
  });
}

/** A map from keys of labels or annotations. */
export function metadataMapOf<S extends Schema>(
  description: string,
  values: S,
  rules: readonly SchemaRule<Readonly<Record<string, Infer<S>>>>[] = [],
  keys: TextSchema = metadataKey('A label or annotation key.'),
): MapSchema<Infer<S>> {
  return map({
    description,
    keys,
    values,
    maxProperties: 64,
    rules,
  });
}

/** The name of a namespace, exactly. */
export function namespaceName(description: string): TextSchema {
  return text({
    description,
    maxLength: maxLabelLength,
    pattern: namespaceNamePattern,
    accepted: 'the name of a namespace: small letters, digits and -, with a letter or digit at both ends',
  });
}

/** The name of a namespace, or a glob. */
export function namespaceGlob(description: string): TextSchema {
  return text({
    description,
    minLength: 1,
    maxLength: 128,
    pattern: '^[-a-z0-9*]+$',
    accepted: 'the name of a namespace, or a glob such as team-*',
  });
}

/** The name of a validation or of a match condition. */
export function itemName(description: string): TextSchema {
  return { ...metadataKey(description), accepted: 'a name such as short or example.com/short' };
}

export function expression(description: string): TextSchema {
  return text({ description, minLength: 1, maxLength: 4096, braces: 'plain', accepted: 'a CEL expression' });
}

/** The same schema in the match of policies and in webhook configurations. */
export const matchCondition = object({
  description: 'A named condition on the namespace.',
  fields: {
    name: itemName(
      'The name of the condition, for messages. Unique among the conditions. Example: not-archived.',
    ),
    expression: expression(
      "CEL that must be true. It sees namespaceObject, the Namespace itself, and nothing else. Example: !('archived' in namespaceObject.metadata.labels).",
    ),
  },
  required: ['name', 'expression'],
});

/** Characters that a regular expression escapes or lists in a class. */
const quotedParts = /\\[^]|\[(?:\^?\])?(?:\\[^]|\[:\^?[a-z]+:\]|[^\]\\])*\]/g;

/** `$` is the end of the text, and no `{` follows it: such a pattern never matches. CEL cannot set the classes aside. */
const noTemplateInPattern: SchemaRule<string> = {
  accepted:
    'a regular expression; this field reads no template, so ${ is refused unless it is written as [$]{',
  offender: (value) => (value.replaceAll(quotedParts, ' ').includes('${') ? [] : undefined),
};

export function pattern(description: string): TextSchema {
  return text({
    description,
    minLength: 1,
    maxLength: 1024,
    braces: 'plain',
    accepted: 'a regular expression (RE2)',
    rules: [noTemplateInPattern],
  });
}

export function duration(description: string): TextSchema {
  return text({
    description,
    minLength: 2,
    maxLength: 24,
    pattern: durationPattern,
    accepted: 'a duration such as 168h, 30m or 1h30m',
    rules: [
      {
        accepted: 'a duration longer than zero',
        cel: "self.matches('[1-9]')",
        offender: (value) => ((parseDuration(value) ?? 0) > 0 ? undefined : []),
      },
    ],
  });
}

export function time(description: string): TextSchema {
  return text({
    description,
    minLength: 20,
    maxLength: 40,
    pattern: timePattern,
    format: 'date-time',
    accepted: 'a time such as 2027-01-31T00:00:00Z',
  });
}

/** At most one of two fields. */
export function notBoth(first: string, second: string): SchemaRule<object> {
  return {
    accepted: `at most one of ${first} and ${second}`,
    must: 'have',
    cel: `!(has(self.${first}) && has(self.${second}))`,
    offender: (value) => (Object.hasOwn(value, first) && Object.hasOwn(value, second) ? [second] : undefined),
  };
}

/** One of two fields, or both. */
export function atLeastOne(first: string, second: string): SchemaRule<object> {
  return {
    accepted: `an object with ${first}, ${second} or both`,
    cel: `has(self.${first}) || has(self.${second})`,
    offender: (value) => (Object.hasOwn(value, first) || Object.hasOwn(value, second) ? undefined : []),
  };
}
