// Writes an explanation as lines for people: the answer first, then each provider with its objects and rules.
import { clipped, listed } from '../../base/text.ts';
import type {
  ExplainedObject,
  ExplainedPermission,
  ExplainedProvider,
  ExplainedRight,
  ExplainedRule,
  ExplainOutput,
} from '../output-schemas/explanation.ts';
import { termText } from './looked-at.ts';

const maxLine = 2000;
const maxRows = 20;

interface TextOptions {
  /** True to show all namespaces and objects of a policy. False to show the first ones. */
  readonly all: boolean;
  readonly strong: (text: string) => string;
}

/** Names and values come from others, so their control characters are removed before the terminal gets them. */
export function explanationText(output: ExplainOutput, { all, strong }: TextOptions): string {
  const { summary, refusal = '', notes = [], providers = [], rights = [], may = [], namespaces } = output;
  const sections = [
    [strong(line(summary)), ...readyLines(output), ...refusalLines(refusal), ...notes.map(line)],
    ...providerSections(providers, output, { all, strong }),
    rights.map(rightLine),
    may.map(permissionLine),
    namespaces === undefined ? [] : namespaceLines(namespaces, all),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function line(text: string): string {
  return clipped(text, maxLine);
}

function indented(text: string): string {
  return `  ${line(text)}`;
}

function readyLines({ ready }: ExplainOutput): readonly string[] {
  if (ready === undefined) return [];
  const { status, reason, message } = ready;
  return [line(`Ready=${status} (${reason})${message === '' ? '' : `: ${message}`}`)];
}

/** The refusal stays word by word, so that the user recognizes it. */
function refusalLines(refusal: string): readonly string[] {
  return refusal === '' ? [] : refusal.split('\n').map(indented);
}

/** Shows providers that match or have objects here, then those that nearly match. The other providers are only named. */
function providerSections(
  providers: readonly ExplainedProvider[],
  output: ExplainOutput,
  options: TextOptions,
): readonly (readonly string[])[] {
  const lines = (each: ExplainedProvider): readonly string[] => providerLines(each, output, options);
  if (output.about !== 'namespace') return providers.map(lines);
  const matching = providers.filter(isIn);
  const others = providers.filter((each) => !isIn(each));
  if (options.all) return [...matching, ...others].map(lines);
  const near = others.filter(({ term }) => term?.near !== undefined);
  const rest = others.filter(({ term }) => term?.near === undefined).map(({ id }) => id);
  return [...[...matching, ...near].map(lines), restLines(rest)];
}

function isIn({ matches, objects }: ExplainedProvider): boolean {
  return matches !== 'no' || objects.length > 0;
}

/** Example: `3 others do not match: NamespacePolicy/a, …`. */
function restLines(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return [];
  const others = ids.length === 1 ? '1 other does' : `${ids.length} others do`;
  return [line(`${others} not match: ${listed(ids)} (--all says why)`)];
}

function permissionLine({ action, outcome, message }: ExplainedPermission): string {
  return line(`${action}: ${outcome}${message === undefined ? '' : `: ${message}`}`);
}

function providerLines(
  { id, matches, term, message, objects, users }: ExplainedProvider,
  { about, rules = [] }: ExplainOutput,
  { all, strong }: TextOptions,
): readonly string[] {
  const verb = { yes: 'matches', no: 'does not match', error: 'has an error' }[matches];
  const own = rules.filter(({ policy }) => policy === id || `NamespacePolicy/${policy}` === id);
  return [
    about === 'provider' ? '' : `${strong(line(id))} ${verb}`,
    ...(message === undefined ? [] : [indented(message)]),
    ...(term === undefined ? [] : [indented(termText(term))]),
    ...shortened(
      joined(objects, objectLine, ({ object }) => (about === 'provider' ? object.namespace : undefined)).map(
        indented,
      ),
      all,
    ),
    ...shortened(joined(own, ruleLine, ({ namespace }) => namespace).map(indented), all),
    ...(users === undefined ? [] : [indented(`may be used by: ${users.join(', ')}`)]),
  ].filter((text) => text !== '');
}

function objectLine({ object: { kind, name }, outcome, message }: ExplainedObject): string {
  return `${kind}/${name}: ${outcome}${message === undefined ? '' : `: ${message}`}`;
}

/** Joins equal lines into one that names its namespaces: `team-a, team-b: Secret/x: blocked`. */
function joined<T>(
  items: readonly T[],
  textOf: (item: T) => string,
  placeOf: (item: T) => string | undefined,
): readonly string[] {
  return [...Map.groupBy(items, textOf)].map(([text, same]) => {
    const names = same.flatMap((item) => placeOf(item) ?? []);
    return names.length === 0 ? text : `${listed(names)}: ${text}`;
  });
}

function ruleLine({ rule, outcome, message, until, compared = [] }: ExplainedRule): string {
  const end = until === undefined ? '' : ` until ${until}`;
  const values = compared.map(
    ({ path, found, accepted }) => `${path}: found ${found}; accepted: ${accepted}`,
  );
  const why = message ?? values.join('; ');
  return `rule ${rule}: ${outcome}${end}${why === '' ? '' : `: ${why}`}`;
}

function rightLine({ holder, right, outcome }: ExplainedRight): string {
  return line(`${holder} needs ${right}${outcome === 'unknown' ? '' : `: ${outcome}`}`);
}

function namespaceLines(namespaces: readonly string[], all: boolean): readonly string[] {
  const count = `matches ${namespaces.length} ${namespaces.length === 1 ? 'namespace' : 'namespaces'}`;
  return [count, ...shortened(namespaces.map(indented), all)];
}

function shortened(lines: readonly string[], all: boolean): readonly string[] {
  const more = all ? 0 : lines.length - maxRows;
  return more > 0 ? [...lines.slice(0, maxRows), `  and ${more} more (--all)`] : lines;
}
