// The tree upside down: the functions that allocated, below each the functions that called it, and
// so on. A node's figure is the sum of the allocations made through it. Blocks kept by design stay
// under their own row: nobody leaks them.
//
// The functions have their figures over the whole profile (functions.js). What of them comes from
// frames that aren't drawn is a row "[pruned]" below the function. The figures of a range are known
// only by node: there the row is beside the functions.
//
// Upside down, a call tree shares no prefixes any more and can be many times larger. The heaviest
// nodes are opened first, up to a limit; the callers of the others are in the row "[pruned]".

import {KEPT_BY_DESIGN, KIND_ROW} from './capture.js';
import {PRUNED, drawnNode, drawnRoot, foldedNode, hiddenFrames, markRecursion, sortByValue, uniqueFrames} from './call_tree.js';
import {Heap} from './heap.js';

const MAX_NODES = 30000;

// `maxNodes` are opened below the functions; 0: only the functions, without callers.
export function buildCallerTree(capture, figures, view, maxNodes = MAX_NODES) {
  const {parent, frame} = capture.nodes;
  const own = figures.own(view), functions = figures.functions(view);
  const unique = uniqueFrames(capture);
  const hidden = hiddenFrames(capture, view);
  let key = 0;

  const root = callerNode(drawnRoot(capture, view, 0));
  const leaves = [], kept = [];
  const keptDepth = keptDepths(capture, unique);
  for (const leaf of capture.leaves) {
    take(root, leaf);
    if (functions && unique.pruned[frame[leaf]] && leaf !== 0) continue;
    (keptDepth[leaf] > 0 ? kept : leaves).push(leaf);
  }
  const keptFunction = functions && capture.functions.kept >= 0 ? capture.functions.kept : undefined;
  // Nodes to open: {drawn, at: for each of its ids the next place outwards, 0 at the end}.
  const pending = new Heap((a, b) => a.drawn.value > b.drawn.value);
  open(root, leaves, leaves.map(outwards));
  addKept();
  const limit = key + maxNodes;
  while (maxNodes > 0 && pending.size > 0 && key < limit) {
    const {drawn, at} = pending.pop();
    open(drawn, drawn.ids, at);
  }
  if (maxNodes > 0) pending.items.forEach(({drawn, at}) => addPruned(drawn, at));
  sortByValue(root);
  return {root, at: (zoom) => find(root, parent, zoom)};

  function outwards(node) {
    while (node !== 0 && hidden !== null && hidden[frame[node]]) node = parent[node];
    return node;
  }

  // The next frame outwards of another function, if recursion is folded, or of any.
  function callerOf(place, drawn) {
    let next = outwards(parent[place]);
    if (view.recursion !== 'fold') return next;
    const identity = unique.identity[frame[place]];
    let times = 1;
    for (; next !== 0 && unique.identity[frame[next]] === identity; next = outwards(parent[next])) {
      markRecursion(drawn, ++times);
    }
    return next;
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
    const ofFunctions = functions && above === root;
    ids.forEach((leaf, i) => {
      const place = at[i];
      // The stack's end: the figure is the node's own. If nothing of the stack is shown, it has a
      // row.
      if (place === 0 && above !== root) return;
      const identity = place === 0 ? -1 : unique.identity[frame[place]];
      let group = groups.get(identity);
      if (!group) {
        const drawn = place === 0 ? callerNode(foldedNode(++key, root, view))
            : child(above, unique.frame[frame[place]], leaf, place);
        if (place === 0) drawn.zoom = `${leaf}-0`;
        groups.set(identity, group = {drawn, at: []});
      }
      take(group.drawn, leaf);
      if (place === 0) return;
      group.drawn.places.push(place);
      group.at.push(callerOf(place, group.drawn));
    });
    if (ofFunctions) takeFunctions(groups);
    for (const group of groups.values()) {
      if (group.drawn.value === 0) continue;
      group.drawn.parent.children.push(group.drawn);
      if (group.at.some((place) => place !== 0)) pending.push(group);
    }
    if (above.fn !== undefined) addRest(above, above.ids);
  }

  // Gives the functions' nodes their whole figures, and adds those of which no stack is drawn.
  function takeFunctions(groups) {
    const {noProgram, otherFunctions, frame: infos} = capture.functions;
    const given = new Set([keptFunction]);
    const others = otherFunctions < 0 ? null : functionNode(otherFunctions, infos[otherFunctions]);
    for (const [identity, {drawn}] of groups) {
      if (identity < 0 && noProgram < 0) continue;  // without a figure
      const fn = identity < 0 ? noProgram : unique.fn[identity];
      if (fn !== undefined) {
        giveFunction(drawn, fn);
        given.add(fn);
      } else if (others) {  // it isn't told apart, so it is a part of the others
        drawn.parent = others;
        for (const leaf of drawn.ids) others.ids.push(leaf);
      }
    }
    if (others) groups.set('others', {drawn: others, at: []});
    functions.self.forEach((value, fn) => {
      if (value === 0 || given.has(fn) || fn === otherFunctions) return;
      groups.set(`f${fn}`, {drawn: functionNode(fn, infos[fn]), at: []});
    });
    for (const {drawn, at} of groups.values()) {
      if (drawn.fn !== undefined && !at.some((place) => place !== 0)) addRest(drawn, drawn.ids);
    }
  }

  function functionNode(fn, info) {
    const drawn = callerNode(drawnNode(++key, 0, info, root));
    drawn.zoom = `f${fn}`;
    drawn.places = [];
    giveFunction(drawn, fn);
    return drawn;
  }

  function giveFunction(drawn, fn) {
    drawn.fn = fn;
    drawn.value = functions.self[fn];
  }

  // The row for what of a function isn't that of these nodes.
  function addRest(drawn, minus) {
    const value = minus.reduce((sum, leaf) => sum - own[leaf], drawn.value);
    if (!(value > 0) || maxNodes === 0) return;
    const row = callerNode(drawnNode(++key, value, PRUNED, drawn));
    Object.assign(row, {zoom: drawn.zoom, places: [], fn: drawn.fn, minus: [...minus]});
    drawn.children.push(row);
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
    if (keptFunction !== undefined) {
      row ??= functionNode(keptFunction, capture.functions.frame[keptFunction]);
      giveFunction(row, keptFunction);
    }
    if (!(row?.value > 0)) return;
    root.children.push(row);
    row.children = [...reasons.values()].filter((drawn) => drawn.value > 0);
    if (keptFunction !== undefined) addRest(row, row.ids);
  }

  function addPruned(drawn, at) {
    if (drawn.fn !== undefined) return addRest(drawn, drawn.ids.filter((_, i) => at[i] === 0));
    const row = callerNode(drawnNode(++key, 0, PRUNED, drawn));
    row.zoom = drawn.zoom;
    row.places = [];
    drawn.ids.forEach((leaf, i) => { if (at[i] !== 0) take(row, leaf); });
    if (row.value > 0) drawn.children.push(row);
  }
}

const callerNode = (drawn) => Object.assign(drawn, {ownOnly: true});

// A link names a leaf and one of its callers: follows that stack down the drawn tree. The link of a
// function of which no stack is drawn names the function.
function find(root, parent, zoom) {
  const fn = /^f(\d+)$/.exec(zoom);
  if (fn) return root.children.find((node) => node.fn === Number(fn[1])) ?? root;
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
  // Blocks kept by design, and stacks of which nothing is shown, have a row of their own.
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
