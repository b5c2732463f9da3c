// secrets.forbiddenTypes and secrets.allowedTypes: the types that Secrets may have.
import type { KubeObject } from '../base/metadata.ts';
import { alternatives, quoted } from '../base/text.ts';
import { list, text } from '../schema/schema.ts';
import { everyOperation, ruleForm, type ExampleWrite, type Rule } from './rule.ts';
import { secretType } from './secret-values.ts';

const anotherType = 'example.com/another';

/** Helm stores its releases in Secrets of this type. Judging them by default would break every `helm upgrade`. */
export const helmReleaseType = 'helm.sh/release.v1';

const typeName = text({
  description: 'The type of a Secret.',
  minLength: 1,
  maxLength: 253,
  pattern: '^[^\\s*]+$',
  accepted: 'the type of a Secret such as Opaque or kubernetes.io/tls',
});

export const forbiddenTypes = ruleForm({
  id: 'secrets.forbiddenTypes',
  judges: 'secrets',
  field: list({
    description:
      'The types that no Secret may have. At most one of this and allowedTypes. Example: [kubernetes.io/service-account-token].',
    items: typeName,
    maxItems: 50,
    unique: 'set',
  }),
  operations: everyOperation,
  readsOnlyType: true,
  compile: (forbidden) =>
    typeRule((type) => !forbidden.includes(type), `a type other than ${alternatives(forbidden.map(quoted))}`),
  examples: (forbidden) => ({
    usual: forbidden.includes('Opaque') ? { object: { type: anotherType } } : {},
    writes: forbidden.map(typeExample),
  }),
});

export const allowedTypes = ruleForm({
  id: 'secrets.allowedTypes',
  judges: 'secrets',
  field: list({
    description:
      'The types that a Secret may have; all others are refused. At most one of this and forbiddenTypes. Example: [Opaque, kubernetes.io/tls].',
    items: typeName,
    minItems: 1,
    maxItems: 50,
    unique: 'set',
  }),
  operations: everyOperation,
  readsOnlyType: true,
  compile: (allowed) =>
    typeRule((type) => allowed.includes(type), alternatives(allowed.map(quoted)) || 'no Secret at all'),
  examples: (allowed) => ({
    writes: [...allowed, anotherType].map(typeExample),
  }),
});

function typeRule(isAccepted: (type: string) => boolean, accepted: string): Rule {
  const compared = (secret: KubeObject) => ({ path: 'type', found: quoted(secretType(secret)), accepted });
  return {
    shape: 'state',
    graced: true,
    judge(secret) {
      const type = secretType(secret);
      return isAccepted(type) ? [] : [{ ...compared(secret), identity: type }];
    },
    compared: (secret) => [compared(secret)],
  };
}

function typeExample(type: string): ExampleWrite {
  return { title: `of type ${type}`, object: { type } };
}
