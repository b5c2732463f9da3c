// Starts a component that sleeps, says so, and stays until it is killed: what processes.test.ts does not want to be.
import { Component } from '../../cluster/component.ts';
import { Guard } from '../../cluster/guard.ts';

const [, , folder = '', mode] = process.argv;
const guard = new Guard(folder);
const command = { name: 'sleeper', program: '/bin/sh', args: ['-c', 'exec sleep 1000'], cwd: folder };
const component = new Component(command, folder);
await component.start(guard, folder);
if (mode === 'released') await guard.release();
process.stdout.write(`${JSON.stringify({ component: component.process?.pid, watchdog: guard.pid })}\n`);
setInterval(() => undefined, 60_000);
