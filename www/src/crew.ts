/** The workers of this tab: started, frozen, crashed. Each is a thread. */
import { button, find, make, numberOf } from './dom.js';
import type { Order, Report, Start } from './protocol.js';

export function setUpCrew(tab: string): void {
  const form = find('hire', HTMLFormElement);
  const list = find('crew', HTMLUListElement);
  let hired = 0;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    hired += 1;
    const duration = numberOf(form, 'seconds') * 1_000;
    const failures = numberOf(form, 'failures');
    list.append(hire({ owner: `${tab}-w${hired}`, duration, failures, ice: makeIce() }));
  });
}

function hire(start: Start): HTMLElement {
  const thread = new Worker('dist/thread.js', { type: 'module' });
  const doing = make('span', 'starts');
  doing.setAttribute('role', 'status');
  const late = make('span');
  late.className = 'late';
  const freezing = button('Freeze', () => freezeOrThaw());
  freezing.setAttribute('aria-pressed', 'false');
  const crash = button('Crash', () => {
    thread.terminate();
    item.remove();
  });
  const item = make('li', make('span', make('b', start.owner), ' ', doing, late), freezing, crash);

  const order = (message: Order) => thread.postMessage(message);
  const freezeOrThaw = () => {
    const { ice } = start;
    const isFrozen = ice !== undefined && Atomics.load(ice, 0) === 1;
    if (ice !== undefined) Atomics.store(ice, 0, isFrozen ? 0 : 1);
    if (isFrozen) Atomics.notify(ice, 0);
    else order({ freeze: true });
    if (ice !== undefined) freezing.setAttribute('aria-pressed', String(!isFrozen));
    freezing.textContent = ice === undefined || isFrozen ? 'Freeze' : 'Thaw';
  };
  thread.addEventListener('message', ({ data }: MessageEvent<Report>) => {
    doing.textContent = data.doing;
    if (data.refusal !== undefined) late.textContent = data.refusal;
  });
  thread.addEventListener('error', ({ message }) => {
    doing.textContent = `ended: ${message}`;
  });
  order({ start });
  return item;
}

/** Shared memory is what a thread can stand still on; without it freezing ends by itself. */
function makeIce(): Start['ice'] {
  const isShared = 'SharedArrayBuffer' in globalThis;
  return isShared ? new Int32Array(new SharedArrayBuffer(4)) : undefined;
}
