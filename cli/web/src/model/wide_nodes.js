// The nodes of a tree that are wide enough to be drawn.

// Narrower frames can't be seen or hit; zooming makes them wide.
export const MIN_FRAME_PX = 3;

// Sets which nodes are drawn if the graph is zoomed to `focus`: its callers, and below it those that
// are wide enough. Returns them.
export function giveWide(root, focus, width) {
  const path = [];
  for (let node = focus; node.parent; node = node.parent) path.push(node);
  const nodes = [];
  let above = root;
  for (const node of path.reverse()) {
    above.fade = true;
    above.c = [node];
    nodes.push(above);
    above = node;
  }
  const least = MIN_FRAME_PX * focus.value / width;
  const stack = [focus];
  while (stack.length > 0) {
    const node = stack.pop();
    nodes.push(node);
    node.c = node.children.filter(({value}) => value > least);
    for (const child of node.c) stack.push(child);
  }
  return nodes;
}
