/** A binary heap. */
export class Heap {
  #items = [];
  #compare;

  constructor(compare) {
    this.#compare = compare;
  }

  peek() {
    return this.#items[0];
  }

  push(item) {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#compare(items[parent], item) <= 0) break;
      items[at] = items[parent];
      at = parent;
    }
    items[at] = item;
  }

  pop() {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#compare(items[child + 1], items[child]) < 0) child++;
      if (this.#compare(last, items[child]) <= 0) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = last;
    return first;
  }
}
