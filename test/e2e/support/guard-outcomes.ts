// Tries every way of an attack as a dry run and for real, and returns how each ended.
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../contract/support/answers.ts';
import type { Api, Reply } from '../../contract/support/api.ts';
import { at } from '../../contract/support/objects.ts';
import type { Row } from './guard-rows.ts';
import { creations, removals, tamper as send, ways, type Tampering, type Way } from './ways-to-tamper.ts';

export interface Attackers {
  /** Has every right in RBAC except `use`. */
  readonly tenant: Api;
  /** An administrator who impersonates the tenant. */
  readonly impersonated: Api;
  readonly user: Api;
  readonly emergency: Api;
  readonly administrator: Api;
}

const notServed: readonly number[] = [404, 405, 415];

/** Returns the outcome of each way, or the text of what went wrong. */
export async function outcomesOf(row: Row, attackers: Attackers): Promise<Readonly<Record<string, string>>> {
  const { administrator } = attackers;
  const collection = at(row.plural, row.namespace);
  const stored = async (): Promise<ApiObject> =>
    await administrator.must(administrator.get(`${collection}/${row.name}`));
  const found: Record<string, string> = {};
  let object = await stored();
  for (const way of ways) {
    const outcome = await outcomeOf(row, way, { ...row, object, collection }, attackers);
    const now = await stored();
    const isUnchanged = isSame(object, now, outcome === 'ignored');
    found[way] = isUnchanged ? outcome : `${outcome}, but the object has changed`;
    object = now;
  }
  return found;
}

/** The API server may record an ignored write in managedFields. */
function isSame(before: ApiObject, after: ApiObject, isWritten: boolean): boolean {
  if (!isWritten) return before.metadata.resourceVersion === after.metadata.resourceVersion;
  return isDeepStrictEqual(content(before), content(after));
}

function content({ metadata, ...rest }: ApiObject): object {
  const { resourceVersion: _resourceVersion, managedFields: _managedFields, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

async function outcomeOf(row: Row, way: Way, tampering: Tampering, attackers: Attackers): Promise<string> {
  const { tenant, emergency } = attackers;
  const first = await tamper(tenant, way, tampering, true);
  // The same request succeeds for another user, so it is well-formed and only the guard refuses it.
  const control = await tamper(emergency, way, tampering, true);
  if (notServed.includes(first.status)) {
    return notServed.includes(control.status) ? 'absent' : said(first);
  }
  if (control.status >= 300) return `in an emergency: ${said(control)}`;
  if (first.status >= 300) return await refusalOf(row, way, tampering, attackers, first);
  if (isTaken(way, tampering, first)) return 'free';
  const second = await tamper(tenant, way, tampering, false);
  return second.status < 300 && !isTaken(way, tampering, second) ? 'ignored' : said(second);
}

async function refusalOf(
  row: Row,
  way: Way,
  tampering: Tampering,
  { tenant, impersonated, user }: Attackers,
  first: Reply,
): Promise<string> {
  const all = [first];
  for (const api of [tenant, impersonated]) all.push(await tamper(api, way, tampering, false));
  const other = all.find(({ status, body }) => status !== 403 || !body.message.includes(row.says));
  if (other !== undefined) return said(other);
  if (row.isOpenToUsers !== true) return 'refused';
  const use = await tamper(user, way, tampering, true);
  return use.status < 300 ? 'refused' : `with the right to use it: ${said(use)}`;
}

/** A slow API server may abort the evaluation of a policy. That also refuses the request, but without the guard's message. */
async function tamper(...tampering: Parameters<typeof send>): Promise<Reply> {
  const reply = await send(...tampering);
  return reply.status === 504 ? await tamper(...tampering) : reply;
}

const whole: readonly Way[] = [...creations, ...removals];

/** Returns true when the answer holds the wanted change. */
function isTaken(way: Way, { path, value }: Tampering, { body }: Reply): boolean {
  if (whole.includes(way)) return true;
  return isDeepStrictEqual(memberAt(body, path), value);
}

function memberAt(object: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return object;
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, key)) return undefined;
  return memberAt(Reflect.get(object, key), rest);
}

function said({ status, text }: Reply): string {
  return `${status} ${text}`;
}
