// A binary heap: pop() returns the item that comes before all others. `items` have no order.

export class Heap {
  constructor(before) {
    this.before = before;
    this.items = [];
  }

  get size() { return this.items.length; }

  push(item) {
    const {items, before} = this;
    let at = items.push(item) - 1;
    for (let up; at > 0 && before(item, items[up = (at - 1) >> 1]); at = up) items[at] = items[up];
    items[at] = item;
  }

  pop() {
    const {items, before} = this;
    const top = items[0], last = items.pop();
    if (items.length === 0) return top;
    let at = 0;
    for (let child; (child = 2 * at + 1) < items.length; at = child) {
      if (child + 1 < items.length && before(items[child + 1], items[child])) ++child;
      if (!before(items[child], last)) break;
      items[at] = items[child];
    }
    items[at] = last;
    return top;
  }
}
