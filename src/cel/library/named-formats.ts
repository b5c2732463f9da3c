// Implements named formats: format.dns1123Label().validate(text) lists the problems of a text.
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-format-library
import { listType, optionalType, STRING, typeOfKind } from '../types/type.ts';
import { Boxed, NONE, Optional } from '../values/value.ts';
import { isRequestUri } from '../values/url.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

/** Returns as many problems as Kubernetes would; none for a valid text. */
type Check = (text: string) => readonly string[];

class NamedFormat extends Boxed {
  readonly kind = 'kubernetes.NamedFormat';
  readonly name: string;
  readonly check: Check;

  constructor(name: string, check: Check) {
    super();
    this.name = name;
    this.check = check;
  }

  equals(other: this): boolean {
    return this.name === other.name;
  }
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/;

const checkLabel = bounded('dns1123Label', 63, (text) => LABEL.test(text));
const checkLabel1035 = bounded('dns1035Label', 63, (text) => LABEL_1035.test(text));
const checkLabelValue = bounded('labelValue', 63, (text) => LABEL_VALUE.test(text));
const checkSubdomain = bounded('dns1123Subdomain', 253, (text) =>
  text.split('.').every((label) => LABEL.test(label)),
);

function simple(name: string, isValid: (text: string) => boolean): Check {
  return (text) => (isValid(text) ? [] : [`this is not a valid ${name}`]);
}

/** Reports a text that is too long in addition to its other problems. */
function bounded(name: string, maxBytes: number, isValid: (text: string) => boolean): Check {
  const check = simple(name, isValid);
  return (text) => [
    ...(Buffer.byteLength(text) > maxBytes ? [`this has more than ${maxBytes} bytes`] : []),
    ...check(text),
  ];
}

/** A prefix may end in a dash, because more text follows it. */
function prefixOf(check: Check): Check {
  return (text) => check(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);
}

function checkQualifiedName(text: string): readonly string[] {
  const parts = text.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) return ['this has more than one slash'];
  return [
    ...(parts.length === 1 ? [] : checkNamePrefix(parts[0] ?? '')),
    ...(name === '' ? ['the name is empty', 'the name is not valid'] : checkLabelValue(name)),
  ];
}

function checkNamePrefix(prefix: string): readonly string[] {
  return prefix === '' ? ['the prefix is empty'] : checkSubdomain(prefix);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  const [, hours = '99', minutes = '99', seconds = '99'] = TIME.exec(time) ?? [];
  return isDate(date) && hours <= '23' && minutes <= '59' && seconds <= '59';
}

const CHECKS: Readonly<Record<string, Check>> = {
  dns1123Label: checkLabel,
  dns1123Subdomain: checkSubdomain,
  dns1035Label: checkLabel1035,
  qualifiedName: checkQualifiedName,
  dns1123LabelPrefix: prefixOf(checkLabel),
  dns1123SubdomainPrefix: prefixOf(checkSubdomain),
  dns1035LabelPrefix: prefixOf(checkLabel1035),
  labelValue: checkLabelValue,
  uri: simple('uri', isRequestUri),
  uuid: simple('uuid', (text) => UUID.test(text)),
  byte: simple('byte', (text) => BASE64.test(text)),
  date: simple('date', isDate),
  datetime: simple('datetime', isDateTime),
};
const FORMATS: ReadonlyMap<string, NamedFormat> = new Map(
  Object.entries(CHECKS).map(([name, check]) => [name, new NamedFormat(name, check)]),
);
const FORMAT = typeOfKind<NamedFormat>('kubernetes.NamedFormat');

export const namedFormatFunctions: readonly FunctionDefinition[] = [
  ...Array.from(FORMATS, ([name, format]) => defineFunction(`format.${name}`, [], FORMAT, () => format)),
  defineFunction('format.named', [STRING], optionalType(FORMAT), (name) => {
    const format = FORMATS.get(name);
    return format === undefined ? NONE : new Optional(format);
  }),
  defineMethod('validate', [FORMAT, STRING], optionalType(listType(STRING)), (format, text) => {
    const problems = format.check(text);
    return problems.length === 0 ? NONE : new Optional(problems);
  }),
];
