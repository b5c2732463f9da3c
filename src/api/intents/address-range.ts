// The field type of a range of IP addresses, as NetworkPolicies accept it.
import { compileExpression } from '../../cel/expression.ts';
import { text } from '../../schema/build.ts';
import type { SchemaRule, TextSchema } from '../../schema/schema.ts';

/** The API server refuses other ranges in new objects: https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/#StrictIPCIDRValidation */
const isExact = compileExpression('cidr(object) == cidr(object).masked()', { variables: ['object'] }, 'bool');

/** It has no `cel`: Kubernetes 1.30 does not know cidr() in CRDs. */
const exactRange: SchemaRule<string> = {
  accepted: 'a range of IP addresses without further bits set, such as 10.0.0.0/8 or fd00::/8',
  offender: (range) => {
    const outcome = isExact.ok ? isExact.expression.evaluate({ object: range }) : isExact;
    return outcome.ok && outcome.value === true ? undefined : [];
  },
};

export function addressRange(description: string): TextSchema {
  return text({
    description,
    maxLength: 43,
    pattern: '^[0-9A-Fa-f:.]+/[0-9]{1,3}$',
    accepted: 'a range of IP addresses such as 10.0.0.0/8 or fd00::/8',
    rules: [exactRange],
  });
}
