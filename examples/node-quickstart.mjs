// A durable queue in Node. Kill it anywhere and run it again: what was enqueued is still there.
import { open } from 'fencepost';

const store = await open('quickstart'); // kept in ./.fencepost/quickstart
const mail = store.queue('mail', { backoff: { base: 200 } });

// The key makes a second run harmless: for a day after it is done, no mail is enqueued again.
await mail.enqueue({ to: 'ada@example.com' }, { key: 'welcome-ada' });
await mail.enqueue({ to: 'noor@example.com' }, { key: 'welcome-noor', priority: 5 });

for (;;) {
  const [task] = await mail.claim('worker-1', { lease: 30_000 });
  if (task === undefined) break;
  console.log(`to ${task.payload.to}, attempt ${task.attempt}`);
  // Send it here, with task.token: a receiver that remembers it can refuse a late predecessor.
  const done = await task.complete();
  if (!done.ok) console.log(`somebody else has it now: ${done.reason}`);
}

await store.close();
