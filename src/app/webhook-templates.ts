// Reads the templates of the webhook configurations, which ship beside the code.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { parseYaml } from '../base/yaml.ts';
import type { WebhookTemplates } from '../registration/wanted-configurations.ts';
import { shippedFolder } from './shipped-files.ts';

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
