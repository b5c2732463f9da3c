// Loaded into a process under test before anything else: appends each module that the process loads to REEVE_TEST_LOADED.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const list = process.env['REEVE_TEST_LOADED'] ?? '';

registerHooks({
  load: (url, context, next) => {
    appendFileSync(list, `${url}\n`);
    return next(url, context);
  },
});
