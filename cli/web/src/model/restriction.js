// What the reader takes out of the graph by expression:
//
//   only    stacks in which no frame matches are left out: the graph's whole is the rest
//   merge   frames that match are left out, and their figures are their callers'
//
// Both are about the nodes that are drawn: the whole profile's figures by function don't know which
// functions are in one stack.

import {uniqueFrames} from './call_tree.js';
import {createFigures} from './figures.js';
import {makeFrameMatcher} from './frame_matcher.js';

export const isRestricted = ({only, merge}) => Boolean(only?.trim() || merge?.trim());

// The figures of the graph, as createFigures'. The last restriction is kept, since every change of
// the page asks.
export function createRestriction(capture, figures) {
  let key = null, kept = null;
  return {
    figures(view) {
      if (!isRestricted(view)) return figures;
      const asked = `${view.only ?? ''}\n${Boolean(view.merge?.trim())}`;
      if (asked !== key) {
        key = asked;
        kept = createFigures(capture, {keeps: stacksWith(capture, view.only), byNode: true});
      }
      return kept;
    },
  };
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
