// Lists the schemas of all outputs, for the generator of /schemas.
import type { ObjectSchema } from '../../schema/schema.ts';
import { adoption, adoptionList, confirmation } from './confirmation.ts';
import { checkResults } from './check-results.ts';
import { explanation } from './explanation.ts';
import { importOutput } from './import-output.ts';
import { planOutput } from './plan-output.ts';
import { reportOutput } from './report-output.ts';
import { testResults } from './test-results.ts';

/** Keys are the names of the files. */
export const outputSchemas: Readonly<Record<string, ObjectSchema>> = {
  adoption,
  'adoption-list': adoptionList,
  'check-results': checkResults,
  confirmation,
  explanation,
  import: importOutput,
  plan: planOutput,
  report: reportOutput,
  'test-results': testResults,
};
