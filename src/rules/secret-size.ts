// secrets.maxBytes: limits the total size of the values of a Secret.
import type { KubeObject } from '../base/metadata.ts';
import { integer } from '../schema/schema.ts';
import { everyOperation, ruleForm } from './rule.ts';
import { secretSize } from './secret-values.ts';

/** A larger Secret would make a suite unreadable. */
const maxExample = 4096;

export const maxBytes = ruleForm({
  id: 'secrets.maxBytes',
  judges: 'secrets',
  field: integer({
    description:
      'The maximum size of all values of a Secret together, in bytes after base64 is decoded. Kubernetes itself accepts at most 1048576. Example: 65536.',
    minimum: 1,
    maximum: 1_048_576,
  }),
  operations: everyOperation,
  compile(maximum) {
    const compared = (secret: KubeObject) => ({
      path: 'data',
      found: `${secretSize(secret)} bytes`,
      accepted: `at most ${maximum} bytes`,
    });
    return {
      shape: 'state',
      graced: true,
      judge: (secret) => {
        const size = secretSize(secret);
        return size <= maximum ? [] : [{ ...compared(secret), identity: String(size) }];
      },
      compared: (secret) => [compared(secret)],
    };
  },
  examples: (maximum) => ({
    writes:
      maximum < maxExample
        ? [{ title: `of ${maximum + 1} bytes`, object: { stringData: { example: 'x'.repeat(maximum + 1) } } }]
        : [],
  }),
});
