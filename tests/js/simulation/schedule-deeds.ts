/** What clients do with schedules. Whichever store fires them, each boundary fires once. */
import type { Chance } from './chance.js';
import type { Client, Deed } from './client.js';
import { QUEUE_NAMES } from './places.js';

const NAMES = ['tick', 'tock'];
/** Long enough that a healed world, in which an hour passes, stays small. */
const EVERY_MS = 100_000;

export const SCHEDULE_DEEDS: readonly Deed[] = [
  { name: 'schedule', weight: 4, run: schedule },
  { name: 'unschedule', weight: 2, run: unschedule },
  { name: 'schedules', weight: 1, run: list },
];

function schedule(client: Client, chance: Chance): void {
  const name = chance.oneOf(NAMES);
  const soon = client.life.clock.now() + chance.oneOf([-1_000, 0, 20, 400]);
  const when = chance.happens(40) ? { every: EVERY_MS } : { at: soon };
  const catchUp = chance.oneOf(['all', 'last', 'none'] as const);
  const queue = chance.oneOf(QUEUE_NAMES);
  client.ask({
    what: `schedule ${name} ${JSON.stringify(when)} into ${queue}, catching up ${catchUp}`,
    call: (mark) => client.store.schedule(name, when, { queue, payload: `${mark}.s`, catchUp }),
  });
}

function unschedule(client: Client, chance: Chance): void {
  const name = chance.oneOf(NAMES);
  client.ask({ what: `unschedule ${name}`, call: () => client.store.unschedule(name) });
}

function list(client: Client): void {
  client.ask({ what: 'list the schedules', call: () => client.store.schedules.list() });
}
