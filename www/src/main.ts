/** The page: one store, drawn anew whenever its log moves, from whichever tab. */
import { open, type Queue, type Store } from 'fencepost';
import { setUpCrew } from './crew.js';
import { find, numberOf } from './dom.js';
import { setUpLeader } from './leader.js';
import { followLog } from './log.js';
import { LEASE_MS, type Parcel, QUEUE, STORE } from './protocol.js';
import { drawCounts, drawLeases, drawStore, drawTasks } from './tables.js';
import { forget, show } from './trouble.js';

/** Often enough for deadlines to be seen running down. */
const REDRAW_MS = 500;
const KEPT_MS = 60_000;

const tab = `tab-${crypto.randomUUID().slice(0, 4)}`;

addEventListener('error', ({ message }) => show(message));
addEventListener('unhandledrejection', ({ reason }) => show(reason));
start().catch(show);

async function start(): Promise<void> {
  const store = await open(STORE);
  const queue = store.queue<Parcel>(QUEUE, {
    lease: LEASE_MS,
    backoff: { base: 1_000 },
    resultRetention: KEPT_MS,
  });
  setUpQueue(queue);
  setUpCrew(tab);
  setUpLeader(store, tab);
  const redraw = redrawing(store, queue);
  setInterval(redraw, REDRAW_MS);
  await Promise.all([redraw(), followLog(store, redraw)]);
}

function setUpQueue(queue: Queue<Parcel>): void {
  const form = find('enqueue', HTMLFormElement);
  const pause = find('pause', HTMLButtonElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const options = {
      delay: numberOf(form, 'delay') * 1_000,
      priority: numberOf(form, 'priority'),
    };
    const length = numberOf(form, 'count');
    const items = Array.from({ length }, (_, number) => ({ payload: { number }, options }));
    queue.enqueueMany(items).catch(show);
  });
  pause.addEventListener('click', () => {
    const isPaused = pause.getAttribute('aria-pressed') === 'true';
    (isPaused ? queue.resume() : queue.pause()).catch(show);
  });
  find('redrive', HTMLButtonElement).addEventListener('click', () => {
    queue.redrive().catch(show);
  });
  find('purge', HTMLButtonElement).addEventListener('click', () => {
    queue.purge().catch(show);
  });
}

/** Draws everything; asked for again meanwhile, it draws once more afterwards. */
function redrawing(store: Store, queue: Queue<Parcel>): () => Promise<void> {
  let drawing: Promise<void> | null = null;
  let isStale = false;
  const draw = async () => {
    do {
      isStale = false;
      await Promise.all([
        drawStore(store, tab),
        drawCounts(store, queue),
        drawTasks(queue),
        drawLeases(store),
      ]).then(forget, show);
    } while (isStale);
    drawing = null;
  };
  return () => {
    isStale = true;
    drawing ??= draw();
    return drawing;
  };
}
