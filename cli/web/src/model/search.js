// Search over functions, files and modules. In the share, a match below another match counts once.

import {forEachNode, uniqueFrames} from './call_tree.js';
import {hidesKind} from './capture.js';
import {makeFrameMatcher} from './frame_matcher.js';

// What the matches have of the view's total: {value, upTo}; null without a term. The two are equal
// if the figure is exact. It may not be if nodes were pruned: of those, only each function's own
// figure is known, not whether two functions are in the same stack.
export function shareOfMatches(capture, figures, view, term) {
  const test = makeFrameMatcher(term);
  if (!test) return null;
  const {parent, frame} = capture.nodes, unique = uniqueFrames(capture);
  const isShown = ({kind}) => !hidesKind(view, kind);
  const matches = (info) => isShown(info) && test(info);
  const byFrame = unique.frame.map((info, i) => !unique.pruned[i] && matches(info));
  const inclusive = figures.inclusive(view);
  const found = new Uint8Array(parent.length);
  let value = 0, unknown = 0;
  for (let node = 1; node < parent.length; ++node) {
    const above = found[parent[node]];
    found[node] = above || byFrame[frame[node]] ? 1 : 0;
    if (found[node] && !above) value += inclusive[node];
    if (!found[node] && unique.pruned[frame[node]]) unknown += inclusive[node];
  }
  const functions = figures.functions(view);
  if (unknown === 0 || functions === null) return {value, upTo: value + unknown};
  let sum = 0;
  functions.inclusive.forEach((figure, fn) => {
    if (!matches(capture.functions.frame[fn])) return;
    value = Math.max(value, figure);
    sum += figure;
  });
  // Functions that aren't told apart may match as well.
  return {value, upTo: Math.min(capture.functions.others > 0 ? Infinity : sum, value + unknown)};
}

// Marks the matching nodes of the tree and returns their number; null without a term.
export function markMatches(root, term) {
  const test = makeFrameMatcher(term);
  if (root.tree) {
    const count = root.tree.mark(test);
    return test ? count : null;
  }
  if (!test) {
    forEachNode(root, (node) => { node.match = false; });
    return null;
  }
  const known = new Map();  // frame → whether it matches: a function occurs many times
  let count = 0;
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    let match = node !== root && known.get(node.frame);
    if (match === undefined) known.set(node.frame, match = test(node.frame));
    node.match = match;
    if (match) ++count;
    for (const child of node.children) stack.push(child);
  }
  return count;
}
