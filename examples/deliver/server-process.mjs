// @ts-check
/** The server's process as its parent sees it: started, watched, stopped. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RunFailed } from './failures.mjs';

const SERVER = fileURLToPath(new URL('./server.mjs', import.meta.url));

/**
 * @typedef {object} ServerProcess
 * @property {string} origin such as `http://127.0.0.1:40123`
 * @property {number | undefined} pid
 * @property {AbortSignal} died aborts when it ended without being asked to
 * @property {() => Promise<void>} stop
 */

/**
 * @param {{ record: string, seed: number }} options
 * @returns {Promise<ServerProcess>}
 */
export async function startServer({ record, seed }) {
  const child = fork(SERVER, [record, String(seed)]);
  const exited = once(child, 'exit');
  const died = new AbortController();
  let stopping = false;
  exited.then(([code]) => {
    if (stopping) return;
    died.abort(new RunFailed(`the server ended by itself, with ${code ?? 'a signal'}`));
  });
  const [{ port }] = await once(child, 'message', { signal: died.signal }).catch(() => {
    throw died.signal.reason;
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid,
    died: died.signal,
    async stop() {
      stopping = true;
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
