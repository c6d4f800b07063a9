/** Programs that start another one as a container would. They need root. */
import { execFileSync } from 'node:child_process';

/** In a PID namespace of its own; ended, it takes along whom it started. */
export const OWN_PIDS = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

/** Under a host name of its own. */
export function underHostName(name: string): string[] {
  return ['unshare', '--uts', 'sh', '-c', `hostname ${name} && exec "$@"`, 'sh'];
}

/** @throws Error where nobody may: such a test has shown nothing, and must not pass. */
export function requireNamespaces(): void {
  for (const [program = '', ...rest] of [OWN_PIDS, underHostName('elsewhere')]) {
    try {
      execFileSync(program, [...rest, 'true'], { stdio: 'pipe' });
    } catch (cause) {
      throw new Error('namespaces need Linux, `unshare` and root: run the tests as root', {
        cause,
      });
    }
  }
}
