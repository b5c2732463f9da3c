// The rules on Namespaces, each with a Namespace that follows it and the message for one that violates it.
import { policy, type WrittenObject } from './objects.ts';

type Texts = Readonly<Record<string, string>>;

interface Labeled {
  /** The end of the Namespace's name, after the prefix and the topic. */
  readonly name: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
}

interface RuleCase {
  readonly topic: string;
  readonly spec: object;
  readonly good: Labeled;
  readonly bad: Labeled;
  /** The text of the refusal after the name of the policy. */
  readonly says: string;
}

const expression = 'object.metadata.name.size() < 20';

export const ruleCases: readonly RuleCase[] = [
  {
    topic: 'name',
    spec: { namespaces: { name: { pattern: '^ad-ns-name-[a-z]+$' } } },
    good: { name: 'good' },
    bad: { name: '1' },
    says: 'namespaces.name: metadata.name: found "ad-ns-name-1"; accepted: a name that matches ^ad-ns-name-[a-z]+$',
  },
  {
    topic: 'label',
    spec: { namespaces: { required: { labels: { 'example.com/cost-center': {} } } } },
    good: { name: 'good', labels: { 'example.com/cost-center': '7' } },
    bad: { name: 'bad', labels: { 'example.com/cost-center': '' } },
    says: 'namespaces.required: metadata.labels["example.com/cost-center"]: found ""; accepted: any value that is not empty',
  },
  {
    topic: 'values',
    spec: { namespaces: { required: { labels: { env: { values: ['dev', 'prod'] } } } } },
    good: { name: 'good', labels: { env: 'prod' } },
    bad: { name: 'bad', labels: { env: 'test' } },
    says: 'namespaces.required: metadata.labels["env"]: found "test"; accepted: "dev" or "prod"',
  },
  {
    topic: 'pattern',
    spec: { namespaces: { required: { labels: { team: { pattern: '^[a-z]+$' } } } } },
    good: { name: 'good', labels: { team: 'shop' } },
    bad: { name: 'bad', labels: { team: 'Shop1' } },
    says: 'namespaces.required: metadata.labels["team"]: found "Shop1"; accepted: a value that matches ^[a-z]+$',
  },
  {
    topic: 'annotation',
    spec: { namespaces: { required: { annotations: { contact: { pattern: '@' } } } } },
    good: { name: 'good', annotations: { contact: 'shop@example.com' } },
    bad: { name: 'bad' },
    says: 'namespaces.required: metadata.annotations["contact"]: found nothing; accepted: a value that matches @',
  },
  {
    topic: 'computed',
    spec: {
      validations: [
        {
          name: 'short',
          expression,
          messageExpression: "'too long: ' + object.metadata.name",
          message: 'no',
        },
      ],
    },
    good: { name: 'a' },
    bad: { name: 'but-long' },
    says: 'validations/short: too long: ad-ns-computed-but-long',
  },
  {
    topic: 'worded',
    spec: { validations: [{ name: 'short', expression, message: 'too long, sorry' }] },
    good: { name: 'a' },
    bad: { name: 'but-long' },
    says: 'validations/short: too long, sorry',
  },
  {
    topic: 'bare',
    spec: { validations: [{ name: 'short', expression }] },
    good: { name: 'a' },
    bad: { name: 'and-too-long' },
    says: `validations/short: failed expression: ${expression}`,
  },
];

/** Returns a policy for the namespaces `ad-ns-<topic>-*`. */
export function policyAbout(topic: string, spec: object): WrittenObject {
  return policy(`ad-ns-${topic}`, { match: { names: [`ad-ns-${topic}-*`] }, ...spec });
}
