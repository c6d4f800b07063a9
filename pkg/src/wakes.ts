/**
 * Who is told when something was merged: whoever wants to hear of everything, and those whom it
 * concerns.
 *
 * **Cost**: a commit tells those who wait for what it touched, however many others there are.
 */

/** What somebody waits for. Whoever waits for nothing hears of the end only. */
export type Topic = 'everything' | 'nothing' | `${'queue' | 'lease'}:${string}` | `task:${number}`;

/** What was merged: names of queues and leases, ids of tasks; null: there is no telling. */
export interface Touched {
  readonly queues: readonly string[];
  readonly leases: readonly string[];
  readonly tasks: readonly number[];
}

export class Wakes {
  readonly #byTopic = new Map<Topic, Set<() => void>>();

  /** Returns the way to stop it. */
  on(topic: Topic, wake: () => void): () => void {
    const waiting = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, waiting.add(wake));
    return () => {
      if (waiting.delete(wake) && waiting.size === 0) this.#byTopic.delete(topic);
    };
  }

  /** Whether somebody wants to know what exactly was merged. */
  get arePicky(): boolean {
    const { size } = this.#byTopic;
    return size > Number(this.#byTopic.has('everything')) + Number(this.#byTopic.has('nothing'));
  }

  /** `touched`: null is everything. */
  tell(touched: Touched | null): void {
    const topics = touched === null ? [...this.#byTopic.keys()] : topicsOf(touched);
    const told = new Set(topics.flatMap((topic) => [...(this.#byTopic.get(topic) ?? [])]));
    for (const wake of told) wake();
  }
}

function topicsOf({ queues, leases, tasks }: Touched): Topic[] {
  return [
    'everything',
    ...queues.map((name) => `queue:${name}` as const),
    ...leases.map((name) => `lease:${name}` as const),
    ...tasks.map((id) => `task:${id}` as const),
  ];
}
