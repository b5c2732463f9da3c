// Starts a rig in the folder of its argument, says so, and stays until it is killed, as a test run may be.
import { startRig } from '../../cluster/node/rig.ts';

const [, , folder = ''] = process.argv;
await startRig({ nodes: 0, folder });
process.stdout.write('started\n');
setInterval(() => undefined, 60_000);
