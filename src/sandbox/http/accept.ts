// In which form the client wants its answer: plain, or of objects also as a table, or their metadata alone.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
import { ApiError } from '../api-error.ts';

type OtherForm = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList';
export type Form = 'plain' | OtherForm;

const homes = ['meta.k8s.io/v1', 'apidiscovery.k8s.io/v2'];
const ours = ['application/json', 'application/*', '*/*', 'application/yaml'];

/** The first that the client names and we have. */
export function acceptedForm(accept: string | undefined, offered: readonly OtherForm[]): Form {
  for (const clause of (accept === undefined || accept === '' ? '*/*' : accept).split(',')) {
    const [media = '', ...parameters] = clause.split(';').map((text) => text.trim());
    const given = new URLSearchParams(parameters.join('&'));
    const isHome = homes.includes(`${given.get('g')}/${given.get('v')}`);
    const form = offered.find((name) => isHome && name === given.get('as'));
    if (ours.includes(media) && (form !== undefined || !given.has('as'))) return form ?? 'plain';
  }
  const message = 'only the following media types are accepted: application/json, application/yaml';
  throw new ApiError({ code: 406, reason: 'NotAcceptable', message });
}
