// The fields that several kinds of content share, and the checks of their texts.
import { isPathSegment, isSubdomain } from '../base/kubernetes-names.ts';
import { expression } from '../schema/common-fields.ts';
import { text } from '../schema/schema.ts';
import type { TextCheck } from './content.ts';
import { maxItems } from './for-each.ts';

/** What the description of a field with a template says of it. */
export const templateHint =
  'Text or a template: CEL in ${ } sees namespaceObject, the Namespace; $${ is a literal ${.';

export function templateText(description: string, maxLength: number) {
  return text({ description, minLength: 1, maxLength, braces: 'template' });
}

export const pathSegment: TextCheck = {
  accepts: isPathSegment,
  accepted: 'a name that is not empty, not "." or "..", and has no "/" or "%"',
};

export const subdomain: TextCheck = {
  accepts: isSubdomain,
  accepted: 'at most 253 small letters, digits, - and ., with a letter or digit at both ends',
};

export const forEach = expression(
  `CEL over namespaceObject that gives a list of at most ${maxItems} texts. The entry stands once for each of them, and its templates see the text as item. Example: namespaceObject.metadata.annotations['ad/edit'].split(',').map(g, g.trim()).`,
);
