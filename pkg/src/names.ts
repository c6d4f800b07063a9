/**
 * Names as the engine stores them: with the family that says which rules they follow.
 *
 * The engine checks the rules; here is refused only what would not reach it as it is: what is no
 * string, and halves of surrogate pairs, which UTF-8 cannot hold.
 */
import { requireText } from './arguments.js';
import { FencepostError, quote } from './errors.js';
import { FAMILY, type FullName } from './requests.js';

const OUTBOX_PREFIX = '__fencepost_outbox:';
const LOCK_PREFIX = '__fencepost_lock:';
const EFFECT_PREFIX = '__fencepost_effect:';
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A string that UTF-8 can hold. */
export function requireName(argument: string, value: unknown): string {
  const text = requireText(argument, value);
  if (LONE_SURROGATE.test(text)) {
    const what = `${argument}: expected well-formed Unicode, got ${quote(text)}`;
    throw new FencepostError('INVALID_NAME', what, { details: { argument } });
  }
  return text;
}

export function sharedName(argument: string, value: unknown): FullName {
  return { family: FAMILY.shared, text: requireName(argument, value) };
}

export function ownerName(value: unknown): FullName {
  return { family: FAMILY.owner, text: requireName('owner', value) };
}

export function keyName(value: unknown): FullName {
  return { family: FAMILY.key, text: requireName('key', value) };
}

export function outboxName(value: unknown): FullName {
  return { family: FAMILY.outbox, text: OUTBOX_PREFIX + requireName('name', value) };
}

export function lockName(value: unknown): FullName {
  return { family: FAMILY.lock, text: LOCK_PREFIX + requireName('name', value) };
}

export function effectName(value: unknown): FullName {
  return { family: FAMILY.effect, text: EFFECT_PREFIX + requireName('key', value) };
}

/** The queue that a task says it is in: its full name, which may be that of an outbox. */
export function queueOfTask(value: unknown): FullName {
  const text = requireName('task.queue', value);
  const family = text.startsWith(OUTBOX_PREFIX) ? FAMILY.outbox : FAMILY.shared;
  return { family, text };
}
