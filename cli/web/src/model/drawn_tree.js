// The tree that is drawn, as columns: a number for each drawn node, parents first. The nodes
// themselves are made when they are asked for, since few of them are.

// For each of the capture's nodes: `of` is the drawn node that has its figure, or -1, and `member` the same
// if the drawn node stands at its frame. For each drawn node: `first` is the capture's node that made it.
export class DrawnColumns {
  constructor(nodes) {
    this.count = 0;
    this.of = new Int32Array(nodes);
    this.member = new Int32Array(nodes).fill(-1);
    this.first = new Uint32Array(nodes);
    this.parent = new Int32Array(nodes);
    this.identity = new Int32Array(nodes);
    this.value = new Float64Array(nodes);
    this.times = new Uint32Array(nodes);
  }

  add(node, parent, identity) {
    const made = this.count++;
    this.first[made] = node;
    this.parent[made] = parent;
    this.identity[made] = identity;
    this.times[made] = 1;
    return made;
  }

  take(drawn, node, value) {
    this.of[node] = this.member[node] = drawn;
    this.value[drawn] += value;
  }
}

// Finds a drawn node by its parent and the number of its function: open addressing, in typed arrays.
export class PairTable {
  constructor(columns) {
    this.columns = columns;
    let size = 16;
    while (size < 2 * columns.of.length) size *= 2;
    this.mask = size - 1;
    this.slots = new Int32Array(size).fill(-1);
    this.free = 0;  // the slot where the last search ended
  }

  // -1: there is none; then set() puts one there.
  find(parent, identity) {
    const {slots, mask, columns} = this;
    const mixed = Math.imul(Math.imul(parent, 0x9e3779b1) ^ identity, 0x85ebca6b);
    let at = (mixed ^ mixed >>> 15) & mask;
    for (; slots[at] >= 0; at = (at + 1) & mask) {
      const found = slots[at];
      if (columns.parent[found] === parent && columns.identity[found] === identity) return found;
    }
    this.free = at;
    return -1;
  }

  set(made) { this.slots[this.free] = made; }
}

// For each number below `count` the items that have it, as ranges of one array.
class Groups {
  constructor(count, items, groupOf) {
    this.start = new Uint32Array(count + 1);
    for (let i = 0; i < items; ++i) if (groupOf[i] >= 0) ++this.start[groupOf[i] + 1];
    for (let i = 0; i < count; ++i) this.start[i + 1] += this.start[i];
    const next = this.start.slice(0, count);
    this.items = new Uint32Array(this.start[count]);
    for (let i = 0; i < items; ++i) if (groupOf[i] >= 0) this.items[next[groupOf[i]]++] = i;
  }

  of(group) { return this.items.subarray(this.start[group], this.start[group + 1]); }
}

export class DrawnTree {
  // `frameOf` gives the frame of one of the capture's nodes.
  constructor(columns, frameOf, parents, rootFrame) {
    Object.assign(this, {columns, frameOf, parents, rootFrame, row: null, matches: null});
    this.nodes = new Array(columns.count);
    this.root = this.node(0);
  }

  node(number) { return this.nodes[number] ??= new DrawnNode(this, number); }

  // A node that isn't drawn (no figure in this mode) is represented by its nearest drawn caller.
  nearest(node) {
    const {of} = this.columns;
    if (!(node >= 0 && node < of.length)) return this.root;
    while (of[node] < 0) node = this.parents[node];
    return this.node(of[node]);
  }

  childrenOf(number) {
    const {columns} = this;
    this.byParent ??= new Groups(columns.count, columns.count, columns.parent);
    const children = Array.from(this.byParent.of(number), (child) => this.node(child));
    if (number === 0 && this.row) children.push(this.row);
    return children.sort((a, b) => b.value - a.value || a.key - b.key);
  }

  idsOf(number) {
    const {columns} = this;
    this.byMember ??= new Groups(columns.count, columns.member.length, columns.member);
    return Array.from(this.byMember.of(number));
  }

  // Marks the nodes whose frames pass the test, or none if it is null. Returns their number.
  mark(test) {
    this.matches = null;
    if (this.row) this.row.match = test !== null && test(this.row.frame);
    if (test === null) return 0;
    const {identity, first, count} = this.columns;
    const matches = this.matches = new Map();  // by function: each occurs many times
    let found = this.row?.match ? 1 : 0;
    for (let i = 1; i < count; ++i) {
      let match = matches.get(identity[i]);
      if (match === undefined) matches.set(identity[i], match = test(this.frameOf(first[i])));
      if (match) ++found;
    }
    return found;
  }
}

// As call_tree.js says, with what is costly made on demand.
class DrawnNode {
  constructor(tree, number) {
    const {columns} = tree, key = columns.first[number];
    this.tree = tree;
    this.number = number;
    this.key = key;
    this.zoom = number === 0 ? '' : String(key);
    this.value = columns.value[number];
    this.frame = number === 0 ? tree.rootFrame : tree.frameOf(key);
    this.times = columns.times[number];
    this.name = this.times > 1 ? `${this.frame.function} ×${this.times}` : this.frame.function;
    this.identity = columns.identity[number];
    this.ownOnly = false;
    this.hide = false;
    this.fade = false;
    this.parts = null;
    this.members = null;
  }

  get parent() { return this.number === 0 ? null : this.tree.node(this.tree.columns.parent[this.number]); }
  get children() { return this.parts ??= this.tree.childrenOf(this.number); }
  get ids() { return this.members ??= this.tree.idsOf(this.number); }
  get places() { return this.ids; }
  get match() { return this.number !== 0 && this.tree.matches?.get(this.identity) === true; }
}
