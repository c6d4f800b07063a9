/** What the store holds, as tables. Each is drawn anew from what the store answers. */
import type { LeaseRecord, Queue, Store, TaskRecord } from 'fencepost';
import { button, fact, fill, find, make, row, until } from './dom.js';
import { STORE } from './protocol.js';
import { show } from './trouble.js';

const TASKS_SHOWN = 25;

export async function drawStore(store: Store, tab: string): Promise<void> {
  const log = store.logId.slice(0, 8);
  const facts = [
    ['Store', STORE],
    ['Log', log],
    ['Version', store.version],
    ['This tab', tab],
  ] as const;
  find('store', HTMLElement).replaceChildren(...facts.map(([term, value]) => fact(term, value)));
}

export async function drawCounts(store: Store, queue: Queue): Promise<void> {
  const [counts, queues] = await Promise.all([queue.counts(), store.queues()]);
  const states = Object.entries(counts).map(([state, count]) => fact(state, count));
  find('counts', HTMLElement).replaceChildren(...states);
  const paused = queues.some(({ name, paused: isPaused }) => name === queue.name && isPaused);
  const pause = find('pause', HTMLButtonElement);
  pause.setAttribute('aria-pressed', String(paused));
  pause.textContent = paused ? 'Resume' : 'Pause';
}

/** What runs first, then what waits, then what is over. */
export async function drawTasks(queue: Queue): Promise<void> {
  const states = ['inflight', 'ready', 'scheduled', 'dead', 'done'] as const;
  const pages = await Promise.all(states.map((state) => queue.list({ state, limit: TASKS_SHOWN })));
  const tasks = pages.flatMap(({ items }) => items).slice(0, TASKS_SHOWN);
  const { length } = tasks;
  fill(
    find('tasks', HTMLElement),
    tasks.map((task) => taskRow(queue, task)),
  );
  find('more', HTMLElement).textContent =
    length < TASKS_SHOWN ? '' : `The first ${length} are shown.`;
}

function taskRow(queue: Queue, task: TaskRecord): HTMLElement {
  const { id, state, attempt, maxAttempts, token, owner, lastOwner, deadline, lastError } = task;
  const cancel = button('Cancel', () => {
    queue.cancel(id, 'by hand').catch(show);
  });
  cancel.dataset.key = `cancel ${id}`;
  cancel.setAttribute('aria-label', `Cancel task ${id}`);
  const progress = task.progress as { step: number; of: number } | undefined;
  const drawn = row(
    String(id),
    state,
    `${attempt} of ${maxAttempts}`,
    token === undefined ? '' : String(token),
    owner ?? lastOwner ?? '',
    deadline === undefined ? '' : until(deadline),
    progress === undefined ? '' : `${progress.step} of ${progress.of}`,
    lastError ?? '',
    cancel,
  );
  drawn.cells[1]?.classList.add(`state-${state}`);
  drawn.cells[7]?.classList.add('error');
  return drawn;
}

export async function drawLeases(store: Store): Promise<void> {
  const { items } = await store.leases.list();
  fill(find('leases', HTMLElement), items.length > 0 ? items.map(leaseRow) : [nobody()]);
}

function leaseRow({ name, owner, token, until: end }: LeaseRecord): HTMLElement {
  return row(name, owner ?? '', String(token), until(end));
}

function nobody(): HTMLElement {
  const cell = make('td', 'Nobody holds a lease.');
  cell.colSpan = 4;
  return make('tr', cell);
}
