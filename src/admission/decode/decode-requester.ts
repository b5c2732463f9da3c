// Reads who is asking. A request that does not say so is refused: nobody has no rights.
import { isJsonObject } from '../../base/json.ts';
import type { Requester } from '../../policy/terms/review.ts';
import { decoded, faulty, forbidden } from './fault.ts';
import type { Decoding } from './fault.ts';
import { isAbsent, isStrings } from './json-value.ts';

export function decodeRequester(userInfo: unknown): Decoding<Requester> {
  if (!isJsonObject(userInfo)) return unknownUser('', 'accepted: an object');
  const { username, groups, uid, extra } = userInfo;
  if (typeof username !== 'string' || username === '')
    return unknownUser('.username', 'accepted: a text that is not empty');
  if (!isAbsent(groups) && !isStrings(groups)) return unknownUser('.groups', 'accepted: a list of texts');
  if (!isAbsent(uid) && typeof uid !== 'string') return unknownUser('.uid', 'accepted: a text');
  const extras = decodeExtra(extra);
  if (extras === undefined) return unknownUser('.extra', 'accepted: lists of texts by key');
  return decoded({
    username,
    groups: groups ?? [],
    ...(isAbsent(uid) ? {} : { uid }),
    extra: extras,
  });
}

function unknownUser(field: string, problem: string): Decoding<Requester> {
  return faulty(forbidden(`request.userInfo${field}`, problem));
}

function decodeExtra(extra: unknown): Requester['extra'] {
  if (isAbsent(extra)) return {};
  if (!isJsonObject(extra)) return undefined;
  const entries = Object.entries(extra).map(([key, value]) => [key, value ?? []] as const);
  // Object.fromEntries makes own members of all keys, `__proto__` too.
  return entries.every(isExtraEntry) ? Object.fromEntries(entries) : undefined;
}

function isExtraEntry(entry: readonly [string, unknown]): entry is readonly [string, readonly string[]] {
  return isStrings(entry[1]);
}
