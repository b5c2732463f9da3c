// What the API server takes as the name of a Secret and as a key of its data, and which types are never copied.
import { subdomain } from '../kubernetes-names.ts';
import { text } from '../schema/build.ts';

/** Copies of these would hand out an identity, or would be taken for the state of a release. */
export const uncopiedTypes: readonly string[] = [
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  'helm.sh/release.v1',
];

/** https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data */
export function secretName(description: string) {
  return text({
    description,
    maxLength: 253,
    pattern: `^${subdomain}$`,
    accepted: 'the name of a Secret: small letters, digits, - and ., with a letter or digit at both ends',
  });
}

/** The same page: letters, digits, -, _ and .; neither . alone nor what starts with .. is one. */
export function secretKey(description: string) {
  return text({
    description,
    maxLength: 253,
    pattern: '^[.]?[-_A-Za-z0-9][-._A-Za-z0-9]*$',
    accepted: 'a key of a Secret: letters, digits, -, _ and ., not starting with ..',
  });
}
