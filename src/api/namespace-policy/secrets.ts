// The field `secrets`: rules on Secrets in matched namespaces, checked before they are stored.
import { duration, notBoth } from '../../schema/common-fields.ts';
import { boolean, integer, list, object, text, withDefault } from '../../schema/build.ts';
import { defaults } from './defaults.ts';

export const tlsSchema = object({
  description:
    'What Secrets of type kubernetes.io/tls must contain. The key and the certificate never leave the webhook, not even in a message.',
  fields: {
    keyMatchesCertificate: withDefault(
      boolean('Whether tls.key must be the private key of the first certificate in tls.crt. Default: false.'),
      false,
    ),
    minRemaining: duration(
      'How long the certificate must still be valid when the Secret is written, in hours, minutes and seconds. Example: 168h.',
    ),
    minRsaBits: integer({
      description:
        'The minimum number of bits of an RSA key. Other kinds of keys are not checked. Example: 2048.',
      minimum: 1024,
      maximum: 16_384,
    }),
  },
});

export const dockerConfigSchema = object({
  description:
    'What Secrets of type kubernetes.io/dockerconfigjson and kubernetes.io/dockercfg must contain: a valid configuration that names only allowed registries. {} only requires a valid configuration.',
  fields: {
    allowedRegistries: list({
      description:
        'The hosts of the allowed registries, with the port if one is used; globs are allowed. Without it any registry is allowed. Example: ["registry.example.com", "*.corp.example.com", "localhost:5000"].',
      items: text({
        description: 'A registry.',
        maxLength: 261,
        pattern: '^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?(:[0-9*]{1,5})?$',
        accepted:
          'the host of a registry such as registry.example.com or localhost:5000, in small letters, without scheme and path; or a glob',
      }),
      minItems: 1,
      maxItems: 100,
      unique: 'set',
    }),
  },
});

const secretType = text({
  description: 'The type of a Secret.',
  minLength: 1,
  maxLength: 253,
  pattern: '^[^\\s*]+$',
  accepted: 'the type of a Secret such as Opaque or kubernetes.io/tls',
});

export const secretRules = object({
  description:
    'Rules on Secrets in matched namespaces, checked before they are stored. Secrets of type helm.sh/release.v1, where Helm stores its releases, are checked only if forbiddenTypes or allowedTypes names that type.',
  fields: {
    forbiddenTypes: list({
      description:
        'The types that no Secret may have. At most one of this and allowedTypes. Example: [kubernetes.io/service-account-token].',
      items: secretType,
      maxItems: 50,
      unique: 'set',
    }),
    allowedTypes: list({
      description:
        'The types that a Secret may have; all others are refused. At most one of this and forbiddenTypes. Example: [Opaque, kubernetes.io/tls].',
      items: secretType,
      minItems: 1,
      maxItems: 50,
      unique: 'set',
    }),
    maxBytes: integer({
      description:
        'The maximum size of all values of a Secret together, in bytes after base64 is decoded. Kubernetes itself accepts at most 1048576. Example: 65536.',
      minimum: 1,
      maximum: 1_048_576,
    }),
    tls: tlsSchema,
    dockerConfig: dockerConfigSchema,
    defaults: defaults(
      'Labels and annotations to set on a Secret where they are missing; never its data.',
      'CEL in ${ } sees namespaceObject, the Namespace of the Secret, and on creation the userInfo, name, operation and dryRun of request; never the Secret. Example: "${namespaceObject.metadata.labels[\'team\']}".',
    ),
  },
  rules: [notBoth('forbiddenTypes', 'allowedTypes')],
});
