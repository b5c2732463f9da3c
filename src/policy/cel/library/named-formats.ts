// Named formats: format.dns1123Label().validate(text) lists what is wrong with a text, or is none.
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-format-library
import { listOf, optionalOf, STRING, typeOfKind } from '../types/type.ts';
import { NONE, Optional } from '../values/optional.ts';
import { Boxed } from '../values/value.ts';
import { isRequestUri } from '../values/url.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

type Test = (text: string) => boolean;

class NamedFormat extends Boxed {
  readonly kind = 'kubernetes.NamedFormat';
  readonly name: string;
  readonly test: Test;

  constructor(name: string, test: Test) {
    super();
    this.name = name;
    this.test = test;
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

const isLabel: Test = (text) => text.length <= 63 && LABEL.test(text);
const isLabel1035: Test = (text) => text.length <= 63 && LABEL_1035.test(text);
const isSubdomain: Test = (text) => text.length <= 253 && text.split('.').every((label) => LABEL.test(label));

/** A prefix may end in a dash: what follows it will not. */
function prefixOf(test: Test): Test {
  return (text) => test(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);
}

function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  if (name === '' || name.length > 63 || !LABEL_VALUE.test(name)) return false;
  return slash === -1 || isSubdomain(text.slice(0, slash));
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

const TESTS: Readonly<Record<string, Test>> = {
  dns1123Label: isLabel,
  dns1123Subdomain: isSubdomain,
  dns1035Label: isLabel1035,
  qualifiedName: isQualifiedName,
  dns1123LabelPrefix: prefixOf(isLabel),
  dns1123SubdomainPrefix: prefixOf(isSubdomain),
  dns1035LabelPrefix: prefixOf(isLabel1035),
  labelValue: (text) => text.length <= 63 && LABEL_VALUE.test(text),
  uri: isRequestUri,
  uuid: (text) => UUID.test(text),
  byte: (text) => BASE64.test(text),
  date: isDate,
  datetime: isDateTime,
};
const FORMATS: ReadonlyMap<string, NamedFormat> = new Map(
  Object.entries(TESTS).map(([name, test]) => [name, new NamedFormat(name, test)]),
);
const FORMAT = typeOfKind<NamedFormat>('kubernetes.NamedFormat');

export const namedFormatFunctions: readonly FunctionDefinition[] = [
  ...Array.from(FORMATS, ([name, format]) => defineFunction(`format.${name}`, [], FORMAT, () => format)),
  defineFunction('format.named', [STRING], optionalOf(FORMAT), (name) => {
    const format = FORMATS.get(name);
    return format === undefined ? NONE : new Optional(format);
  }),
  defineMethod('validate', [FORMAT, STRING], optionalOf(listOf(STRING)), (format, text) =>
    format.test(text) ? NONE : new Optional([`this is not a valid ${format.name}`]),
  ),
];
