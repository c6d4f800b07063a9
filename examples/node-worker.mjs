// A worker: it runs until Ctrl-C, and sleeps while there is nothing to do.
import { NonRetriable, open, RetryAfter } from 'fencepost';

const store = await open('working'); // kept in ./.fencepost/working
const mail = store.queue('mail');
for (const to of ['ada@example.com', 'noor@example.com', 'nowhere']) {
  await mail.enqueue({ to }, { key: `welcome-${to}`, deadRetention: 60_000 });
}

mail.work(
  async (task, { signal }) => {
    const { to } = task.payload;
    if (!to.includes('@')) throw new NonRetriable(`no address: ${to}`); // dead at once
    if (to.startsWith('noor') && task.attempt === 1) throw new RetryAfter(200); // again, then
    signal.throwIfAborted(); // give it to fetch: it aborts when the claim is lost, or on stop
    console.log(`to ${to}, attempt ${task.attempt}`);
  }, // returning completes the task, throwing fails the attempt
  { concurrency: 4, maxRun: 60_000 },
);

// What runs may finish, for ten seconds; then it is given back, and this process ends by itself.
process.once('SIGINT', () => store.close({ drain: 10_000 }));
