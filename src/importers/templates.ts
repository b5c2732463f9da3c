// Turns templates {{ }} of older tools into ours: CEL in ${ } over namespaceObject.
import { isJsonObject } from '../base/json.ts';
import { compileExpression } from '../cel/expression.ts';

export const namespaceNameTemplate = '${namespaceObject.metadata.name}';
const template = /\{\{([^{}]*)\}\}/u;

export interface TemplateWriter {
  /** Rewrites all texts of a value. Text outside of a template is escaped. */
  readonly write: (value: unknown) => unknown;
  /** True if `write` met a template that has no counterpart. */
  readonly hasUnknown: () => boolean;
}

/** `translate` gets the inside of a template and returns CEL that gives a text. It returns undefined without a counterpart. */
export function templateWriter(translate: (inside: string) => string | undefined): TemplateWriter {
  let hasUnknown = false;
  const writePart = (inside: string): string => {
    const cel = translate(inside.trim());
    // A text in quotes needs no template.
    if (cel?.startsWith('"') === true) return String(literal(JSON.parse(cel)));
    const isText =
      cel !== undefined && compileExpression(cel, { variables: ['namespaceObject', 'item'] }, 'string').ok;
    hasUnknown ||= !isText;
    return `\${${cel ?? ''}}`;
  };
  const writeText = (text: string): string => {
    const parts = text.split(template);
    return parts.map((part, index) => (index % 2 === 0 ? escaped(part) : writePart(part))).join('');
  };
  const write = (value: unknown): unknown => {
    // A key of ours cannot be a template.
    hasUnknown ||= keysIn(value).some((key) => template.test(key));
    return mapTexts(value, writeText);
  };
  return { write, hasUnknown: () => hasUnknown };
}

export const noTemplates: TemplateWriter = { write: literal, hasUnknown: () => false };

/** Escapes `${`, because the texts of other tools hold no CEL. */
export function literal(value: unknown): unknown {
  return mapTexts(value, escaped);
}

function escaped(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Returns the plain text that a text of ours stands for. Undefined for a text with a template. */
export function textWithoutTemplates(written: string): string | undefined {
  const parts = written.split('$${');
  return parts.some((part) => part.includes('${')) ? undefined : parts.join('${');
}

function mapTexts(value: unknown, write: (text: string) => string): unknown {
  if (typeof value === 'string') return write(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, write));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapTexts(member, write)]));
}

function keysIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  return isJsonObject(value)
    ? Object.entries(value).flatMap(([key, member]) => [key, ...keysIn(member)])
    : [];
}
