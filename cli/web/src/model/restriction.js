// What the reader takes out of the graph by expression:
//
//   only     stacks in which no frame matches are left out: the graph's whole is the rest
//   without  stacks in which a frame matches are left out, likewise
//   merge    frames that match are left out, and their figures are their callers'
//
// They are about the nodes that are drawn: the whole profile's figures by function don't know which
// functions are in one stack.

import {uniqueFrames} from './call_tree.js';
import {createFigures} from './figures.js';
import {makeFrameMatcher} from './frame_matcher.js';

export const isRestricted = ({only, without, merge}) =>
  Boolean(only?.trim() || without?.trim() || merge?.trim());

// The figures of the graph, as createFigures'. The last restriction is kept, since every change of
// the page asks.
export function createRestriction(capture, figures) {
  let key = null, kept = null;
  return {
    figures(view) {
      if (!isRestricted(view)) return figures;
      const asked = [view.only ?? '', view.without ?? '', Boolean(view.merge?.trim())].join('\n');
      if (asked !== key) {
        key = asked;
        kept = createFigures(capture, {keeps: keptStacks(capture, view), byNode: true});
      }
      return kept;
    },
  };
}

// For each node whether its stack stays; null: all do.
function keptStacks(capture, view) {
  const only = stacksWith(capture, view.only), without = stacksWith(capture, view.without);
  if (!without) return only;
  return without.map((match, node) => (only === null || only[node]) && !match ? 1 : 0);
}

// For each node whether its stack has a match; null without a term.
function stacksWith(capture, term) {
  const test = makeFrameMatcher(term ?? '');
  if (!test) return null;
  const matches = uniqueFrames(capture).frame.map((info) => test(info));
  const {parent, frame} = capture.nodes;
  const keeps = new Uint8Array(parent.length);
  for (let node = 1; node < parent.length; ++node) {
    keeps[node] = keeps[parent[node]] || matches[frame[node]] ? 1 : 0;
  }
  return keeps;
}
