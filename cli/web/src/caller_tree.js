// The tree upside down: the functions that allocated, below each the functions that called it, and
// so on. A node's figure is what was allocated through it. What the runtime keeps by design stays
// under its row, for it is nobody's leak.
//
// Turned around, a call tree shares no prefixes any more and can be many times larger. The heaviest
// nodes are opened first, up to a limit; the callers of the others are one row "[pruned]".

import {KEPT_BY_DESIGN, KIND_ROW, KIND_SYSTEM} from './capture.js';
import {drawnNode, drawnRoot, foldedNode, sortByValue, uniqueFrames} from './call_tree.js';
import {Heap} from './heap.js';

const MAX_NODES = 30000;
const PRUNED = {function: '[pruned]', file: '', module: '', lines: '', kind: KIND_ROW,
  inlined: false};

// `maxNodes` 0: the functions alone, without callers.
export function buildCallerTree(capture, figures, view, maxNodes = MAX_NODES) {
  const {parent, frame} = capture.nodes;
  const own = figures.own(view);
  const unique = uniqueFrames(capture);
  const hide = view.system === 'hide';
  let key = 0;

  const root = callerNode(drawnRoot(capture, 0));
  const leaves = [], kept = [];
  const keptDepth = keptDepths(capture, unique);
  for (const leaf of new Set(capture.rows.node)) {
    take(root, leaf);
    (keptDepth[leaf] > 0 ? kept : leaves).push(leaf);
  }
  // Nodes to open: {drawn, at: for each of its ids the next place outwards, 0 at the end}.
  const pending = new Heap((a, b) => a.drawn.value > b.drawn.value);
  open(root, leaves, leaves.map(outwards));
  addKept();
  while (pending.size > 0 && key < maxNodes) {
    const {drawn, at} = pending.pop();
    open(drawn, drawn.ids, at);
  }
  if (maxNodes > 0) pending.items.forEach(({drawn, at}) => addPruned(drawn, at));
  sortByValue(root);
  return {root, at: (zoom) => find(root, parent, zoom)};

  function outwards(node) {
    while (node !== 0 && hide && unique.frame[frame[node]].kind === KIND_SYSTEM) node = parent[node];
    return node;
  }

  function take(drawn, leaf) {
    drawn.ids.push(leaf);
    drawn.value += own[leaf];
  }

  function child(above, info, leaf, place) {
    const drawn = callerNode(drawnNode(++key, 0, info, above));
    drawn.zoom = `${leaf}-${place}`;
    drawn.places = [];
    return drawn;
  }

  function open(above, ids, at) {
    const groups = new Map();
    ids.forEach((leaf, i) => {
      const place = at[i];
      // The stack's end: the figure is the node's own. With nothing of it shown it has a row.
      if (place === 0 && above !== root) return;
      const identity = place === 0 ? -1 : unique.identity[frame[place]];
      let group = groups.get(identity);
      if (!group) {
        const drawn = place === 0 ? callerNode(foldedNode(++key, root))
            : child(above, unique.frame[frame[place]], leaf, place);
        if (place === 0) drawn.zoom = `${leaf}-0`;
        groups.set(identity, group = {drawn, at: []});
      }
      take(group.drawn, leaf);
      if (place === 0) return;
      group.drawn.places.push(place);
      group.at.push(outwards(parent[place]));
    });
    for (const group of groups.values()) {
      if (group.drawn.value === 0) continue;
      above.children.push(group.drawn);
      if (group.at.some((place) => place !== 0)) pending.push(group);
    }
  }

  // The row, and below it the reasons, as the capture has them.
  function addKept() {
    let row = null;
    const reasons = new Map();
    for (const leaf of kept) {
      let reason = leaf;
      while (keptDepth[reason] > 2) reason = parent[reason];
      const top = keptDepth[reason] === 2 ? parent[reason] : reason;
      row ??= child(root, unique.frame[frame[top]], leaf, top);
      row.places.push(top);
      take(row, leaf);
      if (top === reason) continue;
      let drawn = reasons.get(reason);
      if (!drawn) {
        reasons.set(reason, drawn = child(row, unique.frame[frame[reason]], leaf, reason));
      }
      drawn.places.push(reason);
      take(drawn, leaf);
    }
    if (!(row?.value > 0)) return;
    root.children.push(row);
    row.children = [...reasons.values()].filter((drawn) => drawn.value > 0);
  }

  function addPruned(drawn, at) {
    const row = callerNode(drawnNode(++key, 0, PRUNED, drawn));
    row.zoom = drawn.zoom;
    row.places = [];
    drawn.ids.forEach((leaf, i) => { if (at[i] !== 0) take(row, leaf); });
    if (row.value > 0) drawn.children.push(row);
  }
}

const callerNode = (drawn) => Object.assign(drawn, {ownOnly: true});

// A link names a leaf and one of its callers: down the drawn tree along that stack.
function find(root, parent, zoom) {
  const link = /^(\d+)-(\d+)$/.exec(zoom);
  const leaf = Number(link?.[1]), end = Number(link?.[2]);
  if (!(leaf >= 0 && leaf < parent.length)) return root;
  const below = (node, test) =>
      node.children.find((child) => child.ids.includes(leaf) && test(child.places));
  let here = root;
  for (let place = leaf; ; place = parent[place]) {
    here = below(here, (places) => places.includes(place)) ?? here;
    if (place === end || place === 0) break;
  }
  // What is kept by design, and stacks of which nothing is shown, have a row of their own.
  if (here === root) here = below(root, () => true) ?? root;
  return below(here, (places) => places.includes(end)) ?? here;
}

// 0: of the program; n: kept by design, the n-th frame from the outside (1 is the row itself).
function keptDepths({nodes: {parent, frame}}, unique) {
  const depth = new Uint32Array(parent.length);
  for (let node = 1; node < parent.length; ++node) {
    const {kind, function: name} = unique.frame[frame[node]];
    if (depth[parent[node]] > 0) depth[node] = depth[parent[node]] + 1;
    else if (parent[node] === 0 && kind === KIND_ROW && name === KEPT_BY_DESIGN) depth[node] = 1;
  }
  return depth;
}
