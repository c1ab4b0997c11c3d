// A function between its callers and what it calls: how much of its inclusive figure came from each
// caller, and went through each callee. A stack counts once: with the caller of the function's
// outermost frame, and the callee of its innermost one.

import {hidesKind} from './capture.js';
import {uniqueFrames} from './call_tree.js';

export const ITSELF = -1, NOBODY = -2, NOT_DRAWN = -3;

// {inclusive, callers, callees}: lists of {fn, frame, value}, largest first and NOT_DRAWN last, which
// both sum to `inclusive`. `fn` is undefined for functions that the page doesn't tell apart, or one of
//   ITSELF     allocated by the function itself
//   NOBODY     nothing called it: the stack begins there
//   NOT_DRAWN  by stacks that were pruned from the capture's nodes
export function sandwichOf(capture, figures, view, fn) {
  const {parent, frame} = capture.nodes;
  const unique = uniqueFrames(capture), own = figures.own(view);
  const {inclusive, self} = figures.functions(view);
  const callers = new Map(), callees = new Map();
  const add = (to, identity, value) => to.set(identity, (to.get(identity) ?? 0) + value);
  const isHidden = unique.frame.map(({kind}) => hidesKind(view, kind));
  for (const leaf of capture.leaves) {
    const value = own[leaf];
    if (value === 0) continue;
    let below = ITSELF, callee = null, caller = null;
    for (let node = leaf; node !== 0; node = parent[node]) {
      const at = frame[node];
      if (isHidden[at]) continue;
      const identity = unique.pruned[at] ? NOT_DRAWN : unique.identity[at];
      if (identity >= 0 && unique.fn[identity] === fn) {
        callee ??= below;
        caller = NOBODY;
      } else if (caller === NOBODY) {
        caller = identity;
      }
      below = identity;
    }
    if (caller === null) continue;
    add(callers, caller, value);
    if (callee !== ITSELF) add(callees, callee, value);
  }
  // Its own figure is known whole. The rest of what isn't drawn went through callees.
  if (self[fn] > 0) callees.set(ITSELF, self[fn]);
  return {inclusive: inclusive[fn], callers: listed(callers), callees: listed(callees)};

  function listed(sums) {
    const rest = [...sums].reduce((left, [, value]) => left - value, inclusive[fn]);
    if (rest > 0) add(sums, NOT_DRAWN, rest);
    return [...sums].map(([identity, value]) => identity < 0 ? {fn: identity, frame: null, value}
        : {fn: unique.fn[identity], value, frame: unique.frame[unique.identity.indexOf(identity)]})
        .sort((a, b) => (a.fn === NOT_DRAWN) - (b.fn === NOT_DRAWN) || b.value - a.value);
  }
}
