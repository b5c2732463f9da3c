// Which Secret is shared.
import { namespaceName } from '../common-fields.ts';
import { object } from '../schema/build.ts';
import { secretName } from './secret-names.ts';

export const source = object({
  description:
    'The Secret that is shared. While it is gone, its copies stay as they are. A copy that Reeve manages is never a source, and neither are Secrets of type kubernetes.io/service-account-token, bootstrap.kubernetes.io/token or helm.sh/release.v1.',
  fields: {
    namespace: namespaceName(
      'The namespace of the Secret: one of those that the installation names for sources. No share reaches into them, so a source is never its own target. Example: reeve-shared.',
    ),
    name: secretName('The name of the Secret. Example: regcred.'),
  },
  required: ['namespace', 'name'],
});
