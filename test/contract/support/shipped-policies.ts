// Installs the ValidatingAdmissionPolicies that Reeve ships.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Backend } from './backend.ts';
import { at } from './objects.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'manifests', 'install');

const plurals = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
} as const;

/** Creates the policies of a file of the install, and leaves those that exist as they are. */
export async function installPolicies({ api }: Pick<Backend, 'api'>, file: string): Promise<void> {
  for (const document of parseAllDocuments(await readFile(join(folder, file), 'utf8'))) {
    const object = document.toJS() as { readonly kind: keyof typeof plurals };
    const { status, text } = await api.create(at(plurals[object.kind], ''), object);
    if (status !== 201 && status !== 409) throw new Error(text);
  }
}
