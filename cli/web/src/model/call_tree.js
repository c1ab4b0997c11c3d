// The tree that is drawn: the capture's nodes with a figure in the chosen view, with the system
// frames folded away if asked, and a function that calls itself as one frame, "walk ×17". Folding
// gives a frame's figures to its caller: sums don't change.
//
// A drawn node: {key, zoom, name, value, frame, ids, places, children, parent}. `ids` are the
// capture's nodes whose figures it has (inclusive ones, or with `ownOnly` their own), `places`
// those that stand at this frame, `zoom` what a link says of it ('' for the root). A node with `fn`
// has a function's figure over the whole profile, less those of its `minus` (caller_tree.js).

import {KIND_ROW, KIND_SYSTEM} from './capture.js';
import {makeFrameMatcher} from './frame_matcher.js';
import {NO_PROGRAM, functionKey} from './functions.js';

const FOLDED = {function: NO_PROGRAM, file: '', module: '', lines: '', source: '', kind: KIND_ROW,
  inlined: false};
const PRUNED_NAME = '[pruned]';  // cli/web/page_tree.h's kPrunedRow
export const PRUNED = {...FOLDED, function: PRUNED_NAME};

export function buildTree(capture, figures, view) {
  const {parent, frame} = capture.nodes;
  const inclusive = figures.inclusive(view), own = figures.own(view);
  const hidden = hiddenFrames(capture, view), hide = hidden !== null;
  const fold = view.recursion === 'fold';
  const root = drawnRoot(capture, inclusive[0]);
  root.ids.push(0);
  const at = new Array(parent.length);  // the drawn node for each of the capture's
  // (drawn parent, frame identity) of frames that folding joined
  const merged = new Map();
  const unique = uniqueFrames(capture);
  const times = new Uint32Array(parent.length);  // of a folded function, up to each node
  at[0] = root;
  let folded = null;
  for (let node = 1; node < parent.length; ++node) {
    const above = at[parent[node]];
    const info = unique.frame[frame[node]];
    if (hide && hidden[frame[node]]) {
      at[node] = above;
      times[node] = times[parent[node]];
      // No frame of the program is left to take its figure: it gets a row with a name.
      if (above === root) {
        folded ??= {...foldedNode(node, root, view), ownOnly: true};
        folded.ids.push(node);
        folded.value += own[node];
      }
      continue;
    }
    if (inclusive[node] === 0) continue;
    const number = unique.identity[frame[node]];
    times[node] = 1;
    if (fold && above.identity === number) {
      at[node] = above;
      times[node] = times[parent[node]] + 1;
      markRecursion(above, times[node]);
      continue;
    }
    const identity = above.key * unique.count + number;
    let here = hide || fold ? merged.get(identity) : undefined;
    if (here === undefined) {
      here = drawnNode(node, 0, info, above);
      here.zoom = String(node);
      here.identity = number;
      above.children.push(here);
      if (hide || fold) merged.set(identity, here);
    }
    here.ids.push(node);
    here.value += inclusive[node];
    at[node] = here;
  }
  if (folded?.value > 0) {
    folded.zoom = String(folded.key);
    root.children.push(folded);
  }
  sortByValue(root);
  return {root, at: (zoom) => {
    const node = /^\d+$/.test(zoom) ? Number(zoom) : 0;
    return node > 0 && node === folded?.key && folded.value > 0 ? folded : nearest(at, parent, node);
  }};
}

// "walk ×17": the most frames of the function in a row.
export function markRecursion(drawn, times) {
  if (times <= drawn.times) return;
  drawn.times = times;
  drawn.name = `${drawn.frame.function} ×${times}`;
}

export function drawnRoot(capture, value) {
  return drawnNode(0, value, {...FOLDED, function: capture.program.program || 'all'}, null);
}

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
  return uniqueFrames(capture).frame.map((info) => (hide && info.kind === KIND_SYSTEM) ||
      (merged !== null && info.kind !== KIND_ROW && merged(info)));
}

// A node that isn't drawn (no figure in this mode) is represented by its nearest drawn caller.
function nearest(at, parent, node) {
  if (!(node >= 0 && node < parent.length)) return at[0];
  while (!at[node]) node = parent[node];
  return at[node];
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
    children.sort((a, b) => b.value - a.value || a.key - b.key);
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
