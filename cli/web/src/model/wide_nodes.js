// The nodes of a tree that are wide enough to be drawn.

// Narrower frames can't be seen or hit; zooming makes them wide.
export const MIN_FRAME_PX = 2;

// Browsers need a second for some twenty thousand.
export const MOST_FRAMES = 4000;

// Sets which nodes are drawn if the graph is zoomed to `focus`: its callers, and below it those that
// are wide enough. If these are more than `most`, the widest are drawn, of equal ones the outer ones;
// so a node's caller is drawn, too. Returns {nodes, left}: those that are drawn, and the number of those
// that were left out.
export function giveWide(root, focus, width, most = MOST_FRAMES) {
  const path = [];
  for (let node = focus; node.parent; node = node.parent) path.push(node);
  const above = [];
  let caller = root;
  for (const node of path.reverse()) {
    caller.fade = true;
    caller.c = [node];
    above.push(caller);
    caller = node;
  }
  const least = MIN_FRAME_PX * focus.value / width;
  let wide = [{node: focus, depth: 0}];
  for (let i = 0; i < wide.length; ++i) {
    const {node, depth} = wide[i];
    node.c = node.children.filter(({value}) => value > least);
    for (const child of node.c) wide.push({node: child, depth: depth + 1});
  }
  const left = Math.max(0, wide.length - most);
  if (left > 0) {
    wide.sort((a, b) => b.node.value - a.node.value || a.depth - b.depth);
    wide = wide.slice(0, most);
    const drawn = new Set(wide.map(({node}) => node));
    for (const {node} of wide) node.c = node.c.filter((child) => drawn.has(child));
  }
  return {nodes: [...above, ...wide.map(({node}) => node)], left};
}
