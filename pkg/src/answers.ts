/** Reads why an operation has no reply. The order of the fields is that of `src/wasm/answer.rs`. */
import { PAYLOAD_ADVICE } from './arguments.js';
import { type ErrorCode, FencepostError } from './errors.js';
import type { ReplyReader } from './records.js';
import type { Refused } from './requests.js';
import type { RefusalReason } from './types.js';

/** An error has a code, a refusal has none. */
export function readAnswer(reply: ReplyReader): FencepostError | Refused {
  const code = reply.text() as ErrorCode | undefined;
  let words = reply.text() ?? '';
  // A number that is wrong is shown here.
  if (code !== undefined && reply.flag()) words += reply.number();
  const details = Object.fromEntries(reply.rest(readDetail));
  if (code === 'PAYLOAD_TOO_LARGE' && isPayload(details.argument)) words += PAYLOAD_ADVICE;
  if (code !== undefined) return new FencepostError(code, words, { details });
  const reason = words as RefusalReason;
  return Object.keys(details).length === 0 ? { ok: false, reason } : { ok: false, reason, details };
}

/** Of a fixed size are notes only: progress and metadata. */
function isPayload(argument: unknown): boolean {
  return /(payload|result|value)$/.test(String(argument));
}

function readDetail(reply: ReplyReader): [name: string, value: string | number | null] {
  const name = reply.text() ?? '';
  return [name, reply.flag() ? (reply.text() ?? '') : (reply.optional() ?? null)];
}
