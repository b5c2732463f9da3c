// Words the warnings about the intents of a binding: which are missing, which nothing keeps, and which objects come later.
import { isDeepStrictEqual } from 'node:util';
import { clipped, listed } from '../../base/text.ts';
import { factsOf } from '../compile/load-provider.ts';
import type { BindingFacts, RenderedPart, UnsupportedIntent } from '../intents/compile-binding.ts';
import { kindsNotAllowed, type Install } from '../compile/install.ts';
import type { ObjectType } from '../terms/object-key.ts';
import type { ProviderWrite } from './provider-write.ts';

/** Returns nothing for a policy or share. What the older version had as well is no news. */
export function intentNotices(
  { id, before, after, allServed }: ProviderWrite,
  install: Install,
): readonly string[] {
  const facts = factsOf(after);
  if (facts === undefined) return [];
  const known = factsOf(before);
  return [
    ...missing(facts, known).map((text) => `${id}: ${text}`),
    ...unsupported(facts, known).map((text) => `${id}: ${text}`),
    ...provided(facts, known).map((text) => `${id} ${text}`),
    ...coming(
      facts,
      factsOf(allServed?.after),
      factsOf(allServed?.before),
      allServed?.after === undefined ? [] : kindsNotAllowed(allServed.after, install),
    ).map((text) => `${id} ${text}`),
  ];
}

/** The order of apply must not matter, so a missing intent is no reason to refuse. */
function missing({ missing: names }: BindingFacts, known: BindingFacts | undefined): readonly string[] {
  if (names.length === 0 || isDeepStrictEqual(names, known?.missing)) return [];
  const [verb, subject] = names.length === 1 ? ['does', 'SecurityIntent'] : ['do', 'SecurityIntents'];
  return [
    `${subject} ${listed(names)} ${verb} not exist; the binding waits for ${names.length === 1 ? 'it' : 'them'}`,
  ];
}

function unsupported(facts: BindingFacts, known: BindingFacts | undefined): readonly string[] {
  return facts.unsupported
    .filter((each) => !(known?.unsupported ?? []).some((other) => isDeepStrictEqual(each, other)))
    .map(notKeptText);
}

export function notKeptText({ intent, id, message }: UnsupportedIntent): string {
  return `SecurityIntent ${intent} (${id}) is not kept: ${clipped(message, 300)}`;
}

function provided(facts: BindingFacts, known: BindingFacts | undefined): readonly string[] {
  const parts = newParts(facts.rendered, known?.rendered ?? []);
  return parts.length === 0 ? [] : [`keeps its intents with ${listed(parts.map(partText))}`];
}

/** The engine of these objects is not installed. They come with it, and their author answers for them now. */
function coming(
  facts: BindingFacts,
  all: BindingFacts | undefined,
  known: BindingFacts | undefined,
  refused: readonly ObjectType[],
): readonly string[] {
  const parts = newParts(newParts(all?.rendered ?? [], facts.rendered), known?.rendered ?? []).filter(
    ({ kind }) => !refused.some((each) => each.kind === kind),
  );
  if (parts.length === 0) return [];
  const kinds = [...new Set(parts.map(({ kind }) => kind))];
  const these = kinds.length === 1 ? 'this kind' : 'these kinds';
  return [`also provides ${listed(kinds)} once the API server serves ${these}`];
}

function newParts(parts: readonly RenderedPart[], known: readonly RenderedPart[]): readonly RenderedPart[] {
  return parts.filter((part) => !known.some((each) => isDeepStrictEqual(part, each)));
}

function partText({ kind, name }: RenderedPart): string {
  return kind === 'Namespace' ? `label ${name}` : `${kind} ${name}`;
}
