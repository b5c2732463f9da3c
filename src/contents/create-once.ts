// The field `mode`: whether Reeve keeps an object, or creates it once and then releases it.
import { ownMember } from '../base/json.ts';
import { choice } from '../schema/schema.ts';

export const createOnce = 'CreateOnce';

export function modeField(object: string) {
  return choice(
    `Keep: Reeve keeps the ${object} as written. CreateOnce: Reeve creates the ${object} where it is missing, and then leaves it to its namespace: it is never changed, repaired, guarded or deleted. A user who deletes it does not get it again in this namespace. Default: Keep.`,
    ['Keep', createOnce],
  );
}

export function isCreatedOnce(written: unknown): boolean {
  return ownMember(written, 'mode') === createOnce;
}
