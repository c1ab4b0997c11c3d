// The tree that is drawn: the capture's nodes with a figure in the chosen view, with the system
// frames folded away if asked. Folding gives a frame's figures to its caller: sums don't change.
//
// A drawn node: {key, zoom, name, value, frame, ids, places, children, parent}. `ids` are the
// capture's nodes whose figures it has (inclusive ones, or with `ownOnly` their own), `places`
// those that stand at this frame, `zoom` what a link says of it ('' for the root).

import {KIND_ROW, KIND_SYSTEM} from './capture.js';

const FOLDED = {function: '[system frames]', file: '', module: '', lines: '', source: '', kind: KIND_ROW,
  inlined: false};

export function buildTree(capture, figures, view) {
  const {parent, frame} = capture.nodes;
  const inclusive = figures.inclusive(view), own = figures.own(view);
  const hide = view.system === 'hide';
  const root = drawnRoot(capture, inclusive[0]);
  root.ids.push(0);
  const at = new Array(parent.length);  // the drawn node that stands for each of the capture's
  const merged = new Map();             // (drawn parent, frame identity) of those folding joined
  const unique = uniqueFrames(capture);
  at[0] = root;
  let folded = null;
  for (let node = 1; node < parent.length; ++node) {
    const above = at[parent[node]];
    const info = unique.frame[frame[node]];
    if (hide && info.kind === KIND_SYSTEM) {
      at[node] = above;
      // Nobody of the program's own is left to take its figure: it gets a row with a name.
      if (above === root) {
        folded ??= {...drawnNode(node, 0, FOLDED, root), ownOnly: true};
        folded.ids.push(node);
        folded.value += own[node];
      }
      continue;
    }
    if (inclusive[node] === 0) continue;
    const identity = above.key * unique.count + unique.identity[frame[node]];
    let here = hide ? merged.get(identity) : undefined;
    if (here === undefined) {
      here = drawnNode(node, 0, info, above);
      here.zoom = String(node);
      above.children.push(here);
      if (hide) merged.set(identity, here);
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

export function drawnRoot(capture, value) {
  return drawnNode(0, value, {...FOLDED, function: capture.program.program || 'all'}, null);
}

export function drawnNode(key, value, frame, parent) {
  const ids = [];
  return {key, zoom: '', name: frame.function, value, frame, parent, ids, places: ids, children: [],
    ownOnly: false, hide: false, fade: false, match: false};
}

export const foldedNode = (key, parent) => drawnNode(key, 0, FOLDED, parent);

// A node that isn't drawn (no figure in this mode) is stood for by its nearest drawn caller.
function nearest(at, parent, node) {
  if (!(node >= 0 && node < parent.length)) return at[0];
  while (!at[node]) node = parent[node];
  return at[node];
}

// Each of the capture's frames, and a number below `count` that is equal for the same function of
// the same file.
export function uniqueFrames(capture) {
  if (capture.uniqueFrames) return capture.uniqueFrames;
  const frame = [], identity = [], numbers = new Map();
  const {function: names, file, module} = capture.frames;
  for (let i = 0; i < names.length; ++i) {
    frame.push(capture.frame(i));
    const key = `${names[i]}/${file[i]}/${module[i]}`;
    if (!numbers.has(key)) numbers.set(key, numbers.size);
    identity.push(numbers.get(key));
  }
  return capture.uniqueFrames = {frame, identity, count: numbers.size};
}

// Largest first; of equals the one that comes first in the capture.
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

// Its frames, innermost first, without the root, as a drawn node has them above or below it.
export function stackOf(node, direction) {
  const path = [];
  for (; node.parent; node = node.parent) path.push(node);
  return direction === 'callers' ? path.reverse() : path;
}
