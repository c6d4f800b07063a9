/** The engine in the file that lies beside the package's modules, unless somebody moved those. */
import { FencepostError } from '../errors.js';
import type { EngineModule } from '../load.js';
import { messageOf } from '../realm.js';

/**
 * @throws FencepostError `INVALID_ARGUMENT` with what lies there instead: a bundler copies modules,
 * and may well leave the file behind
 */
export async function engineOfOwnFile(
  locate: () => URL,
  reach: (url: URL) => Promise<EngineModule>,
): Promise<EngineModule> {
  try {
    return await reach(locate());
  } catch (cause) {
    const problem = messageOf(cause);
    const advice =
      'if a bundler left the file behind: copy it there or pass it as the option wasm; ' +
      'fencepost/inline needs none';
    const details = cause instanceof FencepostError ? cause.details : { argument: 'wasm' };
    throw new FencepostError('INVALID_ARGUMENT', `${problem} (${advice})`, { details, cause });
  }
}
