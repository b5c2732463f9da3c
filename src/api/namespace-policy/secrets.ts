// Rules on the Secrets of matched namespaces, judged before they are stored.
import { duration, notBoth } from '../common-fields.ts';
import { boolean, integer, list, object, text, withDefault } from '../schema/build.ts';
import { defaults } from './defaults.ts';

export const tlsSchema = object({
  description:
    'What Secrets of type kubernetes.io/tls must hold. The key and the certificate never leave the webhook, not even in a message.',
  fields: {
    keyMatchesCertificate: withDefault(
      boolean(
        'Whether to demand that tls.key is the private key of the first certificate in tls.crt. Default: false.',
      ),
      false,
    ),
    minRemaining: duration(
      'How long the certificate must still be valid when the Secret is written, in hours, minutes and seconds. Example: 168h.',
    ),
    minRsaBits: integer({
      description:
        'The least number of bits of an RSA key. Keys of other kinds are not affected. Example: 2048.',
      minimum: 1024,
      maximum: 16_384,
    }),
  },
});

export const dockerConfigSchema = object({
  description:
    'What Secrets of type kubernetes.io/dockerconfigjson and kubernetes.io/dockercfg must hold: a configuration that can be read, and that names only allowed registries. {} demands only that it can be read.',
  fields: {
    allowedRegistries: list({
      description:
        'The registries that may be named, by host, with the port where one is used; globs are allowed. Without it any registry may be named. Example: ["registry.example.com", "*.corp.example.com", "localhost:5000"].',
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
    'Rules on Secrets in matched namespaces, judged before they are stored. Secrets of type helm.sh/release.v1, in which Helm keeps its releases, are judged only when forbiddenTypes or allowedTypes names that type.',
  fields: {
    forbiddenTypes: list({
      description:
        'The types that a Secret must not have. At most one of this and allowedTypes. Example: [kubernetes.io/service-account-token].',
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
        'How many bytes the values of a Secret may have together, after base64 is decoded. Kubernetes itself takes at most 1048576. Example: 65536.',
      minimum: 1,
      maximum: 1_048_576,
    }),
    tls: tlsSchema,
    dockerConfig: dockerConfigSchema,
    defaults: defaults(
      'Labels and annotations that are set on a Secret where they are missing; never its data.',
      'CEL in ${ } sees namespaceObject, the Namespace of the Secret, and on creation the userInfo, name, operation and dryRun of request; never the Secret. Example: "${namespaceObject.metadata.labels[\'team\']}".',
    ),
  },
  rules: [notBoth('forbiddenTypes', 'allowedTypes')],
});
