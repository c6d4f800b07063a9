/** A turn of the event loop, as opposed to time. */

/** Resolves as soon as everything has run that is ready now, and what that sets going at once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
