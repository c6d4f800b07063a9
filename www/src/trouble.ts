/** What went wrong, on top of the page. */
import { find } from './dom.js';

const SHOWN_MS = 10_000;

const trouble = find('trouble', HTMLElement);
let shownAt = 0;

/** What went wrong stays readable for a while, also when the next drawing went well. */
export function show(error: unknown): void {
  shownAt = performance.now();
  trouble.hidden = false;
  trouble.textContent = error instanceof Error ? error.message : String(error);
}

export function forget(): void {
  if (performance.now() - shownAt > SHOWN_MS) trouble.hidden = true;
}
