// The baseline of the bench: a node:https server that reads the body and returns a fixed answer.
import { createServer } from 'node:https';
import { issueCertificates } from '../../src/certs/issue/issue.ts';

const { serving } = await issueCertificates({
  namespace: 'reeve-system',
  now: new Date(),
  caLifetimeDays: 2,
  leafLifetimeDays: 1,
});

const server = createServer(
  { cert: serving.certPem, key: serving.keyPem, keepAliveTimeout: 120_000 },
  (request, response) => {
    request.resume().on('end', () => response.end('{}'));
  },
);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.stdout.write(`${address.port}\n`);
});
