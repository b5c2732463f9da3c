// The baseline of the bench: a node:https server that reads the body and returns a fixed answer. Prints its port.
//
//   node empty-server.mjs CERTIFICATE KEY ANSWER_BYTES
//
// Plain JavaScript with nothing else loaded, because its memory and its start are a baseline, too.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [, , cert, key, answerBytes] = process.argv;
const answer = `"${'a'.repeat(Math.max(0, Number(answerBytes) - 2))}"`;

const server = createServer(
  { cert: readFileSync(cert), key: readFileSync(key), keepAliveTimeout: 120_000 },
  (request, response) => {
    request.resume().on('end', () => {
      response.setHeader('Content-Type', 'application/json');
      response.end(answer);
    });
  },
);
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
