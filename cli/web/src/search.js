// Search over functions, files and modules: plain text without regard to case, or /a regular
// expression/. The share counts a match below another match once.

import {forEachNode} from './call_tree.js';

export function makeMatcher(term) {
  const text = term.trim();
  if (text === '') return null;
  const pattern = /^\/(.+)\/$/.exec(text);
  if (pattern) {
    try {
      const expression = new RegExp(pattern[1], 'i');
      return (value) => expression.test(value);
    } catch {
      return () => false;  // half typed
    }
  }
  const lower = text.toLowerCase();
  return (value) => value.toLowerCase().includes(lower);
}

// A test of frames {function, file, module}; null without a term.
export function makeFrameMatcher(term) {
  const matches = makeMatcher(term);
  return matches && (({function: name, file, module}) =>
      matches(name) || matches(file) || matches(module));
}

// Marks the nodes of the tree and returns {count, value} of what matched; null without a term.
export function markMatches(root, term) {
  const test = makeFrameMatcher(term);
  if (!test) {
    forEachNode(root, (node) => { node.match = false; });
    return null;
  }
  const known = new Map();  // frame → whether it matches: a function occurs many times
  let count = 0, value = 0;
  const stack = [[root, false]];
  while (stack.length > 0) {
    const [node, below] = stack.pop();
    let match = node !== root && known.get(node.frame);
    if (match === undefined) known.set(node.frame, match = test(node.frame));
    node.match = match;
    if (match) {
      ++count;
      if (!below) value += node.value;
    }
    for (const child of node.children) stack.push([child, below || match]);
  }
  return {count, value};
}
