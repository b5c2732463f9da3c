// Defines the suites of `reeve test`: a document of YAML beside policies, with requests and what Reeve must answer.
import { cliApiVersion } from '../../schema/names.ts';
import {
  boolean,
  choice,
  integer,
  list,
  object,
  openObject,
  text,
  type Infer,
  type TextSchema,
} from '../../schema/schema.ts';
import { rows } from '../output-schemas/parts.ts';

export const suiteKind = 'Suite';

function name(description: string): TextSchema {
  return text({ description, minLength: 1, maxLength: 253 });
}

function paths(description: string) {
  return rows(description, text({ description: 'A file or folder.', minLength: 1, maxLength: 4096 }));
}

const wholeObject = {
  fields: {
    apiVersion: name('The group and version.'),
    kind: name('The kind.'),
    metadata: openObject({
      description: 'The metadata.',
      fields: { name: name('The name.'), namespace: name('The namespace.') },
      required: [],
    }),
  },
  required: ['apiVersion', 'kind', 'metadata'] as const,
};

function objectOf(description: string) {
  return openObject({ description, ...wholeObject });
}

const anyFields = (description: string) => openObject({ description, fields: {} });

const verbs = ['create', 'update', 'delete', 'file'] as const;

const request = object({
  description: 'A write, as a user or a program sends it to the API server.',
  fields: {
    as: name('The user, such as alice or serviceaccount:ci/deployer. Default: a cluster administrator.'),
    groups: rows('The groups of the user. Kubernetes adds its own.', name('A group.')),
    may: rows(
      'Rights of the user beside those that roles in objects give.',
      text({
        description: 'A verb and what it is for, such as "use secretshares/regcred".',
        maxLength: 500,
        pattern: '^[a-z]+ [a-z]+(\\.[a-z0-9.-]+)?(/[^ ]+)?$',
        accepted: 'VERB RESOURCE/NAME, such as "use secretshares/regcred"',
      }),
    ),
    create: objectOf('The object to create.'),
    update: name(
      'The object to change, such as namespace/team-a or secret/regcred. It is one of objects, or from.',
    ),
    delete: name('The object to delete, such as namespace/team-a. It is one of objects, or from.'),
    namespace: name('The namespace of the object of update and `delete`.'),
    set: anyFields('What update changes: these fields; null removes one.'),
    to: objectOf('The whole object after the update.'),
    from: objectOf('The whole object before the write, if it is not one of objects.'),
    file: name('A file with an AdmissionReview, in JSON or YAML.'),
    dryRun: boolean('True for a dry run.'),
  },
  rules: [
    {
      accepted: `exactly one of ${verbs.join(', ')}`,
      must: 'have',
      offender: (value) => (verbs.filter((verb) => value[verb] !== undefined).length === 1 ? undefined : []),
    },
    {
      accepted: 'set or to with update, and neither without it',
      must: 'have',
      offender: ({ update, set, to }) =>
        [set, to].filter((each) => each !== undefined).length === (update === undefined ? 0 : 1)
          ? undefined
          : [],
    },
  ],
});

const objectName = text({
  description: 'Kind and name, such as RoleBinding/developers.',
  maxLength: 320,
  pattern: '^[A-Za-z]+/[^/]+$',
  accepted: 'KIND/NAME, such as RoleBinding/developers',
});

const expectations = object({
  description: 'What must hold.',
  fields: {
    verdict: choice('The answer to the request. `warned`: allowed, and a rule with Warn is violated.', [
      'allowed',
      'warned',
      'refused',
    ]),
    rule: name(
      'A rule that the write violates, such as namespaces.required, whatever its validationActions.',
    ),
    message: text({
      description: 'A pattern (RE2) that the refusal must match, or the warnings if the request is allowed.',
      maxLength: 4096,
    }),
    warnings: integer({ description: 'How many warnings the user gets.', minimum: 0, maximum: 100 }),
    object: anyFields('Fields that the object has after the defaults of policies.'),
    contents: rows('Exactly the objects that Reeve provides in the namespace.', objectName),
    includes: rows('Some of the objects that Reeve provides in the namespace.', objectName),
    absent: rows('Objects that Reeve does not provide in the namespace.', objectName),
    provided: rows(
      'Objects that Reeve provides in the namespace, with at least these fields.',
      objectOf('An object.'),
    ),
    violations: rows(
      'Exactly the rules that the namespace and the objects in it violate today.',
      name('A rule, such as namespaces.required.'),
    ),
  },
  rules: [
    {
      accepted: 'at least one expectation',
      must: 'have',
      offender: (value) => (Object.keys(value).length > 0 ? undefined : []),
    },
  ],
});

const suiteTest = object({
  description: 'One test: a request, or a namespace of objects.',
  fields: {
    name: text({ description: 'What is tested, as a sentence.', minLength: 1, maxLength: 500 }),
    request,
    namespace: name('The name of a namespace of objects.'),
    expect: expectations,
  },
  required: ['name', 'expect'],
  rules: [
    {
      accepted: 'either request or namespace',
      must: 'have',
      offender: (value) =>
        (value.request === undefined) === (value.namespace === undefined) ? [] : undefined,
    },
    {
      accepted: 'verdict, rule, message, warnings and object with a request only, and violations without one',
      must: 'have',
      offender: ({ request: sent, expect }) => {
        const { verdict, rule, message, warnings, object: written, violations } = expect;
        const ofRequests = [verdict, rule, message, warnings, written];
        const isWrong =
          sent === undefined ? ofRequests.some((each) => each !== undefined) : violations !== undefined;
        return isWrong ? ['expect'] : undefined;
      },
    },
  ],
});

export const suiteSchema = object({
  description: 'A suite of reeve test.',
  fields: {
    apiVersion: choice('The version of this format.', [cliApiVersion]),
    kind: choice('The kind of this document.', [suiteKind]),
    policies: paths('The files with policies, shares, intents and bindings, relative to this file.'),
    objects: paths('The files with objects that exist: namespaces, roles, Secrets. Relative to this file.'),
    given: rows('Objects that exist, written here instead of in a file.', objectOf('An object.')),
    install: object({
      description: 'What the install allows, where it differs from the default.',
      fields: {
        installNamespace: name('The namespace that Reeve is installed in.'),
        sharedNamespace: rows('The namespaces with Secrets to share.', name('A namespace.')),
        excludeNamespace: rows('The namespaces that no policy matches.', name('A namespace.')),
        resourceKind: rows('The kinds that policies may provide, such as v1/ConfigMap.', name('A kind.')),
        secretName: rows('The names of Secrets that shares may create.', name('A name.')),
        enforcedKey: rows(
          'The labels and annotations whose value Reeve may change on existing namespaces.',
          name('A key.'),
        ),
        variable: rows(
          'Facts about the cluster that policies read as variables.cluster.<name>.',
          name('cluster.NAME=VALUE, such as cluster.region=eu.'),
        ),
      },
      required: [],
    }),
    now: text({
      description: 'The time at which the tests run, such as 2026-11-23T12:00:00Z. Default: the real time.',
      format: 'date-time',
      maxLength: 40,
    }),
    tests: list({
      description: 'The tests.',
      items: suiteTest,
      minItems: 1,
      maxItems: 10_000,
      unique: { key: 'name' },
    }),
  },
  required: ['apiVersion', 'kind', 'policies', 'tests'],
});

export type Suite = Infer<typeof suiteSchema>;
export type SuiteTest = Infer<typeof suiteTest>;
export type SuiteRequest = Infer<typeof request>;
export type Expectations = Infer<typeof expectations>;
export type ExpectedVerdict = NonNullable<Expectations['verdict']>;
