// Words which rights Reeve's own account lacks, and where an administrator adds them.
import type { RightsRule } from '../authors/needed-rights.ts';
import type { MissingRights } from '../authors/own-rights.ts';

/** The room that a condition or Event has for the rules, before the text that counts those left out. */
const maxRulesLength = 924;

export function missingRightsMessage(missing: readonly MissingRights[]): string {
  let text = `${doubtfulRoles(missing)}Reeve's own account lacks rights that this needs`;
  let before = '';
  for (const [index, each] of missing.entries()) {
    const place = `${each.addTo.role} (${each.addTo.file})`;
    const where = place === before ? ' and' : `; add to the rules of ${place}:`;
    const next = `${text}${where} ${ruleLine(each)}`;
    if (next.length > maxRulesLength)
      return `${text}; and ${missing.length - index} more${listHint(missing)}`;
    text = next;
    before = place;
  }
  return `${text}${listHint(missing)}`;
}

const maxRoles = 3;

/** RBAC has rules for ClusterRoles that do not exist, too, and Reeve has no right to read ClusterRoles. */
function doubtfulRoles(missing: readonly MissingRights[]): string {
  const names = missing.flatMap(({ verbs, name, meant }) => {
    if (name === undefined || !verbs.includes('bind')) return [];
    return [meant === undefined ? name : `${name} (did you mean ${meant}?)`];
  });
  if (names.length === 0) return '';
  const more = names.length > maxRoles ? ` and ${names.length - maxRoles} more` : '';
  const roles = `${names.length === 1 ? 'ClusterRole' : 'ClusterRoles'} ${names.slice(0, maxRoles).join(', ')}${more}`;
  return `${roles} may not exist, so check the name first; `;
}

function listHint(missing: readonly MissingRights[]): string {
  const lists = new Set(missing.flatMap(({ addTo: { alsoListIn } }) => alsoListIn ?? []));
  return lists.size === 0 ? '' : `; also add ${[...lists].join(' and ')}`;
}

/** Returns the rule as one item of YAML. */
function ruleLine({ verbs, group, resource, name }: RightsRule): string {
  const names = name === undefined ? '' : `, resourceNames: ${JSON.stringify([name])}`;
  return `- {apiGroups: ${JSON.stringify([group])}, resources: ${JSON.stringify([resource])}${names}, verbs: [${verbs.join(', ')}]}`;
}
