/** A turn of the event loop, as opposed to time. */

/** Resolves as soon as everything has run that is ready now, and what that sets going at once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else if (typeof MessageChannel === 'function') passMessage(resolve);
    else setTimeout(resolve, 0);
  });
}

/** Browsers make timers that set timers wait for milliseconds; messages they do not. */
function passMessage(resolve: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(null);
}
