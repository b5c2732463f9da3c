// Before each file of tests that share a process: loads node:tls completely, before any test uses up the stack.
import { createSecureContext } from 'node:tls';

if (typeof createSecureContext !== 'function')
  throw new Error('node:tls is only half loaded: an earlier test file loaded it with a used-up stack');
