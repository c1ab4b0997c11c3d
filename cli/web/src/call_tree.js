// The tree that is drawn: the capture's nodes with a figure in the chosen mode, with the system
// frames folded away if asked. Folding gives a frame's figures to its caller: sums don't change.
//
// A drawn node: {key, name, value, frame, ids, children, parent}; `key` is the capture's node, or
// the first of several that folding has brought together; `ids` are all of them.

import {KIND_ROW, KIND_SYSTEM} from './capture.js';

const FOLDED = {function: '[system frames]', file: '', module: '', lines: '', kind: KIND_ROW,
  inlined: false};

export function buildTree(capture, {mode, by, system}) {
  const {parent, frame} = capture.nodes;
  const inclusive = capture.inclusive(mode, by), own = capture.own(mode, by);
  const hide = system === 'hide';
  const root = drawn(0, inclusive[0], {...FOLDED, function: capture.program.program || 'all'},
      null);
  root.ids.push(0);
  const at = new Array(parent.length);  // the drawn node that stands for each of the capture's
  const merged = new Map();             // "drawn parent/frame identity" of those folding joined
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
        folded ??= drawn(node, 0, FOLDED, root);
        folded.ids.push(node);
        folded.value += own[node];
      }
      continue;
    }
    if (inclusive[node] === 0) continue;
    const identity = hide ? `${above.key}/${unique.identity[frame[node]]}` : '';
    let here = merged.get(identity);
    if (!here) {
      here = drawn(node, 0, info, above);
      above.children.push(here);
      if (hide) merged.set(identity, here);
    }
    here.ids.push(node);
    here.value += inclusive[node];
    at[node] = here;
  }
  if (folded?.value > 0) {
    folded.ownOnly = true;
    root.children.push(folded);
  }
  sortByValue(root);
  return {root, at: (node) => node === folded?.key ? folded : nearest(at, parent, node)};
}

function drawn(key, value, frame, parent) {
  return {key, name: frame.function, value, frame, parent, ids: [], children: [],
    hide: false, fade: false, match: false};
}

// A node that isn't drawn (no figure in this mode) is stood for by its nearest drawn caller.
function nearest(at, parent, node) {
  if (!(node >= 0 && node < parent.length)) return at[0];
  while (!at[node]) node = parent[node];
  return at[node];
}

function uniqueFrames(capture) {
  const count = capture.frames.function.length;
  const frame = [], identity = [];
  const {function: names, file, module} = capture.frames;
  for (let i = 0; i < count; ++i) {
    frame.push(capture.frame(i));
    identity.push(`${names[i]}/${file[i]}/${module[i]}`);
  }
  return {frame, identity};
}

// Largest first; of equals the one that comes first in the capture.
function sortByValue(root) {
  const stack = [root];
  while (stack.length > 0) {
    const {children} = stack.pop();
    children.sort((a, b) => b.value - a.value || a.key - b.key);
    for (const child of children) stack.push(child);
  }
}

export function forEachNode(root, visit) {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    visit(node);
    for (const child of node.children) stack.push(child);
  }
}

// The standard error of that figure; 0 of an exact capture.
export const errorOf = (capture, node, mode, by) =>
    capture.error(mode, by, node.ids, node.ownOnly);

// What the tooltip shows of a drawn node: the sum over the nodes that it stands for.
export function figureOf(capture, node, mode, by) {
  const column = node.ownOnly ? capture.own(mode, by) : capture.inclusive(mode, by);
  return node.ids.reduce((sum, id) => sum + column[id], 0);
}
