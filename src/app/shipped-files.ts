// Reads the files that ship beside the code: the version, and the templates of the webhook configurations.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import { parseYaml } from '../base/yaml.ts';
import type { WebhookTemplates } from '../registration/wanted-configurations.ts';

/** Works from src/ and from dist/. */
const root = join(import.meta.dirname, '..', '..');

/** A part of manifests/. */
export function shippedFolder(part: string): string {
  return join(root, 'manifests', part);
}

export async function readProgramVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return String(ownMember(manifest, 'version'));
}

export async function readWebhookTemplates(): Promise<WebhookTemplates> {
  const [validating, mutating] = await Promise.all([
    readTemplate('validating.yaml'),
    readTemplate('mutating.yaml'),
  ]);
  return { validating, mutating };
}

async function readTemplate(name: string): Promise<JsonObject> {
  const path = join(shippedFolder('webhooks'), name);
  const [document] = parseYaml(await readFile(path, 'utf8')).documents;
  if (document?.kind !== 'data' || !isJsonObject(document.value))
    throw new Error(`${name} is not as it was shipped`);
  return document.value;
}
