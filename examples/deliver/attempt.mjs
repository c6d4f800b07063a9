// @ts-check
/** One attempt: the request is sent under the claim's token, and the answer is judged. */

/** @typedef {import('./requests.mjs').Delivery} Delivery */
/** @typedef {import('fencepost').Task<Delivery, void>} DeliveryTask */
/**
 * @typedef {{ kind: 'delivered', status: number }
 *   | { kind: 'again', error: string, delay?: number }
 *   | { kind: 'refused', error: string }} Verdict
 */

/** Answers that say "later" rather than "no". A fenced request comes again under a newer token. */
const TEMPORARY = new Set([408, 409, 425, 429]);

/**
 * @param {string} origin
 * @param {Pick<DeliveryTask, 'key' | 'token' | 'payload'>} task
 * @param {AbortSignal} signal
 * @returns {Promise<Verdict>}
 */
export async function attempt(origin, task, signal) {
  const { method, path, headers, body } = task.payload;
  try {
    const response = await fetch(new URL(path, origin), {
      method,
      headers: {
        ...headers,
        'Idempotency-Key': String(task.key),
        'Fencing-Token': String(task.token),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      redirect: 'manual',
      signal,
    });
    return judge(response, await response.text());
  } catch (error) {
    return { kind: 'again', error: `no answer: ${causeOf(error)}` };
  }
}

/**
 * @param {Response} response
 * @param {string} text
 * @returns {Verdict}
 */
function judge({ ok, status, headers }, text) {
  if (ok) return { kind: 'delivered', status };
  const error = `${status} ${text}`;
  if (status < 500 && !TEMPORARY.has(status)) return { kind: 'refused', error };
  return { kind: 'again', error, delay: retryAfter(headers.get('retry-after')) };
}

/**
 * `Retry-After` is a number of seconds or a date.
 * @param {string | null} header
 * @returns {number | undefined} in milliseconds; undefined leaves it to the queue's backoff
 */
function retryAfter(header) {
  if (header === null) return undefined;
  const delay = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(delay) ? Math.max(0, Math.round(delay)) : undefined;
}

/** @param {unknown} error `fetch` puts what happened into the cause */
function causeOf(error) {
  const { message, cause } = /** @type {Error} */ (error);
  return cause instanceof Error ? cause.message : message;
}
