/**
 * Things by the instant at which they are due, the first one at hand: a binary heap.
 *
 * **Cost**: O(1) to look at the first, O(log n) to set or take away any.
 */

/** Of those due at once, what was set first comes first. `place`: in the heap; -1: in none. */
export interface Dated {
  readonly at: number;
  place: number;
  order: number;
}

export class Deadlines<T extends Dated> {
  readonly #heap: T[] = [];
  #added = 0;

  get first(): T | undefined {
    return this.#heap[0];
  }

  add(item: T): void {
    item.order = this.#added++;
    this.#heap.push(item);
    this.#rise(item, this.#heap.length - 1);
  }

  /** Of one that is in. */
  remove(item: T): void {
    const { place } = item;
    const last = this.#heap.pop();
    item.place = -1;
    if (last === undefined || last === item) return;
    this.#rise(last, place);
    this.#sink(last, last.place);
  }

  /** Puts the item at a place, or above whatever is due later there. */
  #rise(item: T, from: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !isBefore(item, parent)) break;
      this.#put(parent, place);
      place = above;
    }
    this.#put(item, place);
  }

  #sink(item: T, from: number): void {
    let place = from;
    for (;;) {
      const child = this.#earlier(2 * place + 1);
      if (child === undefined || !isBefore(child, item)) break;
      const below = child.place;
      this.#put(child, place);
      place = below;
    }
    this.#put(item, place);
  }

  /** Of two neighbours. */
  #earlier(place: number): T | undefined {
    const [left, right] = [this.#heap[place], this.#heap[place + 1]];
    return right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
  }

  #put(item: T, place: number): void {
    this.#heap[place] = item;
    item.place = place;
  }
}

function isBefore(one: Dated, other: Dated): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
