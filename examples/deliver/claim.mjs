// @ts-check
/** A claim kept alive: heartbeats go on, with progress, until its work is over. */

/** @typedef {import('./attempt.mjs').DeliveryTask} DeliveryTask */

/** How long a claim lasts without a heartbeat, and so how long a killed process keeps its tasks. */
export const CLAIM_MS = 2_000;

export class HeldClaim {
  #task;
  #since = Date.now();
  #lost = new AbortController();
  #heartbeats;
  #underWay = Promise.resolve();

  /** @param {DeliveryTask} task */
  constructor(task) {
    this.#task = task;
    this.#heartbeats = setInterval(() => {
      this.#underWay = this.#beat();
    }, CLAIM_MS / 3);
  }

  /** Aborts when somebody else may have the task. */
  get lost() {
    return this.#lost.signal;
  }

  /** Ends the heartbeats, so that none of them can come after the settlement. */
  async stop() {
    clearInterval(this.#heartbeats);
    await this.#underWay;
  }

  async #beat() {
    try {
      const progress = { waited_ms: Date.now() - this.#since };
      const kept = await this.#task.heartbeat({ progress });
      if (!kept.ok) this.#lost.abort(new Error(`the claim is lost: ${kept.reason}`));
    } catch (error) {
      this.#lost.abort(error);
    }
  }
}
