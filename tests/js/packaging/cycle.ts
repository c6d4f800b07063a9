/**
 * The small program that every runtime runs: a task is enqueued, claimed and completed, the store
 * is opened again, the next task is claimed with a larger token, a cron expression is worked out in
 * a time zone, and a bad call is a typed error.
 */

/** `await cycle(fencepost, options, name)`, for any kind of script. */
export const CYCLE = `
async function cycle({ open, FencepostError }, options, name = 'packaged') {
  const store = await open(name, options);
  const queue = store.queue('mail');
  await queue.enqueueMany([{ payload: 'ada' }, { payload: 'noor' }]);
  const [first] = await queue.claim('worker');
  const completed = await first.complete();
  await store.close();
  const again = await open(name, options);
  const [second, ...others] = await again.queue('mail').claim('worker', { max: 10 });
  const rose = second.token > first.token;
  const yearly = { cron: '0 0 1 1 *', timeZone: 'Europe/Berlin' };
  const { next } = await again.schedule('yearly', yearly, { queue: 'mail', payload: 'cheers' });
  const midnight = new Date(next).toISOString().slice(5, 16);
  await again.close();
  const error = await open('', options).catch((reason) => reason);
  const told = error instanceof FencepostError ? error.code : String(error);
  const answers = [first.payload, completed.ok, second.payload, others.length, rose, midnight];
  return [...answers, told].join(' ');
}
`;

/** What it answers. */
export const CYCLED = 'ada true noor 0 true 12-31T23:00 INVALID_NAME';

/** What it answers for each of `count` entries. */
export function cycled(count: number): string {
  return Array.from({ length: count }, () => CYCLED).join('\n');
}
