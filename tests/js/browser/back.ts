import { setTimeout as pause } from 'node:timers/promises';

const LOOKS_MAX = 400;
const BETWEEN_MS = 50;

/**
 * Goes back in a page's history. A page that the browser kept loads nothing when it returns, so its
 * address tells that it is there, and no event of loading.
 */
export async function goBack(evaluate: (expression: string) => Promise<string>): Promise<void> {
  const where = () => evaluate('[document.readyState, location.href].join(" ")').catch(() => '');
  const left = await where();
  await evaluate('void history.back()').catch(() => undefined);
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const now = await where();
    if (now !== left && now.startsWith('complete ')) return;
    await pause(BETWEEN_MS);
  }
  throw new Error(`the page did not go back from ${left}`);
}
