// The tree that is drawn: the capture's nodes with a figure in the chosen view, with the system
// frames folded away if asked, and a function that calls itself as one frame, "walk ×17". Folding
// gives a frame's figures to its caller: sums don't change.
//
// A drawn node: {key, zoom, name, value, frame, ids, places, children, parent}. `ids` are the
// capture's nodes whose figures it has (inclusive ones, or with `ownOnly` their own), `places`
// those that stand at this frame, `zoom` what a link says of it ('' for the root). A node with `fn`
// has a function's figure over the whole profile, less those of its `minus` (caller_tree.js).
//
// A capture may have hundreds of thousands of nodes, of which a screen shows some hundreds. So the tree
// is kept as columns (DrawnColumns), and a drawn node is made when it is asked for.

import {KIND_ROW, hidesKind} from './capture.js';
import {DrawnColumns, DrawnTree, PairTable} from './drawn_tree.js';
import {makeFrameMatcher} from './frame_matcher.js';
import {NO_PROGRAM, functionKey} from './functions.js';

const FOLDED = {function: NO_PROGRAM, file: '', module: '', lines: '', source: '', kind: KIND_ROW,
  inlined: false};
const PRUNED_NAME = '[pruned]';  // cli/web/page_tree.h's kPrunedRow
export const PRUNED = {...FOLDED, function: PRUNED_NAME};

export function buildTree(capture, figures, view) {
  const {parent, frame} = capture.nodes, nodes = parent.length;
  const inclusive = figures.inclusive(view), own = figures.own(view);
  const hidden = hiddenFrames(capture, view), hide = hidden !== null;
  const fold = view.recursion === 'fold';
  const unique = uniqueFrames(capture);
  const columns = new DrawnColumns(nodes);
  const {of} = columns;
  const times = new Uint32Array(nodes);  // of a folded function, up to each node
  // Where hiding or folding may join frames: the drawn node of a (drawn parent, function).
  const joined = hide || fold ? new PairTable(columns) : null;
  columns.take(columns.add(0, -1, -1), 0, inclusive[0]);
  const folded = [];  // nodes of which nothing is left to take their own figures
  for (let node = 1; node < nodes; ++node) {
    const above = of[parent[node]];
    if (hide && hidden[frame[node]]) {
      of[node] = above;
      times[node] = times[parent[node]];
      if (above === 0) folded.push(node);
      continue;
    }
    if (inclusive[node] === 0) {
      of[node] = -1;
      continue;
    }
    const identity = unique.identity[frame[node]];
    times[node] = 1;
    if (fold && columns.identity[above] === identity) {
      of[node] = above;
      times[node] = times[parent[node]] + 1;
      if (times[node] > columns.times[above]) columns.times[above] = times[node];
      continue;
    }
    let here = joined === null ? -1 : joined.find(above, identity);
    if (here < 0) {
      here = columns.add(node, above, identity);
      joined?.set(here);
    }
    columns.take(here, node, inclusive[node]);
  }
  const tree = new DrawnTree(columns, (node) => unique.frame[frame[node]], parent, rootFrame(capture, view));
  // No frame of the program is left to take their figures: they get a row with a name.
  const value = folded.reduce((sum, node) => sum + own[node], 0);
  if (value > 0) {
    tree.row = Object.assign(foldedNode(folded[0], tree.root, view),
        {ownOnly: true, value, zoom: String(folded[0])});
    for (const node of folded) tree.row.ids.push(node);
  }
  return {root: tree.root, at: (zoom) => {
    const node = /^\d+$/.test(zoom) ? Number(zoom) : 0;
    return tree.row && node === tree.row.key ? tree.row : tree.nearest(node);
  }};
}

// "walk ×17": the most frames of the function in a row.
export function markRecursion(drawn, times) {
  if (times <= drawn.times) return;
  drawn.times = times;
  drawn.name = `${drawn.frame.function} ×${times}`;
}

// Named by the program, or by the chosen process of a merge.
function rootFrame(capture, {process}) {
  const {program} = (process ?? null) === null ? capture.program : capture.processes.listed[process];
  return {...FOLDED, function: program || 'all'};
}

export const drawnRoot = (capture, view, value) => drawnNode(0, value, rootFrame(capture, view), null);

export function drawnNode(key, value, frame, parent) {
  const ids = [];
  return {key, zoom: '', name: frame.function, value, frame, parent, ids, places: ids, children: [],
    ownOnly: false, times: 1, identity: -1, hide: false, fade: false, match: false};
}

// For the stacks of which nothing is shown.
export const foldedNode = (key, parent, view) =>
  drawnNode(key, 0, view.merge?.trim() ? {...FOLDED, function: '[merged frames]'} : FOLDED, parent);

// For each of the capture's frames whether its figure goes to its caller; null: no frame's does.
export function hiddenFrames(capture, view) {
  const hide = view.system === 'hide', merged = makeFrameMatcher(view.merge ?? '');
  if (!hide && !merged) return null;
  return uniqueFrames(capture).frame.map((info) => hidesKind(view, info.kind) ||
      (merged !== null && info.kind !== KIND_ROW && merged(info)));
}

// A number below `count` for each of the capture's frames; it is equal for the same function of the
// same file. `fn` is the function's index for each number, or undefined if it isn't told apart;
// `pruned` tells for each frame whether it is the row of what isn't drawn.
export function uniqueFrames(capture) {
  if (capture.uniqueFrames) return capture.uniqueFrames;
  const frame = [], identity = [], fn = [], pruned = [], numbers = new Map();
  for (let i = 0; i < capture.frames.function.length; ++i) {
    const info = capture.frame(i), key = functionKey(capture.frames, i);
    frame.push(info);
    pruned.push(info.kind === KIND_ROW && info.function === PRUNED_NAME && info.module === '');
    if (!numbers.has(key)) {
      numbers.set(key, numbers.size);
      fn.push(capture.functions.index.get(key));
    }
    identity.push(numbers.get(key));
  }
  return capture.uniqueFrames = {frame, identity, fn, pruned, count: numbers.size};
}

// Largest first; equal ones in the capture's order.
export function sortByValue(root) {
  forEachNode(root, ({children}) => {
    if (children.length > 1) children.sort((a, b) => b.value - a.value || a.key - b.key);
  });
}

export function forEachNode(root, visit) {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    visit(node);
    for (const child of node.children) stack.push(child);
  }
}

// The frames of a drawn node, innermost first, without the root.
export function stackOf(node, direction) {
  const path = [];
  for (; node.parent; node = node.parent) path.push(node);
  return direction === 'callers' ? path.reverse() : path;
}
