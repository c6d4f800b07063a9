/** Runs the chaos in a process of its own and prints what came of it, with the CPU time it took. */
import { argv, cpuUsage, stdout } from 'node:process';
import { runChaos } from './chaos-run.js';

const [, , seed, tasks] = argv;

async function outcome() {
  try {
    return { happened: await runChaos(Number(seed), Number(tasks)) };
  } catch (error) {
    return { broken: error instanceof Error ? error.message : String(error) };
  }
}

const { user, system } = cpuUsage();
const came = await outcome();
const used = cpuUsage({ user, system });
const cpu_ms = Math.round((used.user + used.system) / 1_000);
stdout.write(`${JSON.stringify({ ...came, cpu_ms })}\n`);
