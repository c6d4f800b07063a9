/**
 * Where the user called, kept until the answer is known: an error that is found turns later, inside
 * the committer, still points at the line that asked.
 *
 * **Cost**: frames are captured at every call, and become text only when somebody looks.
 */
import { FencepostError } from './errors.js';

interface WithStack {
  stack?: string;
}

export class CallSite {
  readonly #frames: WithStack;

  /** `below`: the function whose caller is the first frame to show. */
  constructor(below: (...args: never[]) => unknown) {
    if (typeof Error.captureStackTrace === 'function') {
      this.#frames = {};
      Error.captureStackTrace(this.#frames, below);
    } else {
      this.#frames = new Error();
    }
  }

  /**
   * The same error with the stack of the call; errors that are not the package's stay as they are.
   */
  adopt(error: unknown): unknown {
    if (!(error instanceof FencepostError)) return error;
    const { code, message, details, cause, name } = error;
    const adopted = new FencepostError(code, message, { details, cause });
    const frames = (this.#frames.stack ?? '').split('\n');
    const from = frames.findIndex((line) => /^\s+at |@/.test(line));
    const stack = from < 0 ? [] : frames.slice(from);
    Object.defineProperty(adopted, 'stack', {
      value: [`${name}: ${message}`, ...stack].join('\n'),
      configurable: true,
      writable: true,
    });
    return adopted;
  }
}
