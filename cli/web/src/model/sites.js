// The places that allocated: a row for each node that has figures of its own, named by its
// innermost frame that is no allocation plumbing. What was pruned from the capture's nodes is no
// place: it is told by prunedNodes.

import {uniqueFrames} from './call_tree.js';
import {KEPT_BY_DESIGN, KIND_INTERPRETER, KIND_SYSTEM, hidesKind} from './capture.js';
import {makeFrameMatcher} from './frame_matcher.js';
import {placeText} from './frame_text.js';

const CALLERS = 3;
const isPlumbing = ({kind}) => kind === KIND_SYSTEM || kind === KIND_INTERPRETER;

// {node, name, place, module, callers}, in the capture's order.
export function listSites(capture) {
  const {parent, frame} = capture.nodes;
  const unique = uniqueFrames(capture);
  return [...capture.leaves].filter(isPlace).map((node) => {
    let shown = node;
    while (shown !== 0 && isPlumbing(unique.frame[frame[shown]])) shown = parent[shown];
    const at = unique.frame[frame[shown === 0 ? node : shown]];
    const [top, reason] = outermost(parent, node).map((n) => unique.frame[frame[n]]?.function);
    if (top === KEPT_BY_DESIGN) return {node, name: top, place: reason, module: '', callers: ''};
    return {node, name: at.function, place: placeText(at.file, at.lines), module: at.module,
      callers: callersOf(shown === 0 ? node : shown)};
  });

  function isPlace(node) { return node !== 0 && !unique.pruned[frame[node]]; }

  // "← load ← main": distinguishes sites of one function.
  function callersOf(node) {
    let text = '';
    for (let n = 0, at = parent[node]; at !== 0 && n < CALLERS; at = parent[at]) {
      const {function: name} = unique.frame[frame[at]];
      if (isPlumbing(unique.frame[frame[at]])) continue;
      text += `${text ? ' ' : ''}← ${name.length > 60 ? `${name.slice(0, 60)}…` : name}`;
      ++n;
    }
    return text;
  }
}

// The nodes that have the figures of places that aren't listed.
export function prunedNodes(capture) {
  const {frame} = capture.nodes, {pruned} = uniqueFrames(capture);
  return [...capture.leaves].filter((node) => node !== 0 && pruned[frame[node]]);
}

function outermost(parent, node) {
  const path = [];
  for (; node !== 0; node = parent[node]) path.push(node);
  return [path.at(-1), path.at(-2)];
}

// The sites any of whose frames match; all without a term.
export function filterSites(capture, sites, term) {
  const test = makeFrameMatcher(term);
  if (!test) return sites;
  const {parent, frame} = capture.nodes;
  const byFrame = uniqueFrames(capture).frame.map(test);
  const matches = new Uint8Array(parent.length);
  for (let node = 1; node < parent.length; ++node) {
    matches[node] = byFrame[frame[node]] || matches[parent[node]];
  }
  return sites.filter(({node}) => matches[node]);
}

// `valueOf` gives a site's figure, or its text; the largest figure or the first name comes first.
export function sortSites(sites, valueOf, order) {
  const sign = order === 'up' ? -1 : 1;
  const compare = (a, b) => typeof a === 'string' ? (a < b ? -1 : a > b ? 1 : 0) : b - a;
  return sites.map((site) => ({site, value: valueOf(site)}))
      .sort((a, b) => sign * compare(a.value, b.value) || a.site.node - b.site.node)
      .map(({site}) => site);
}

// Innermost first: {name, place, module, system} of each frame of a site's stack; without those of an
// interpreter that Python functions stand for, unless the view shows them.
export function stackOfSite(capture, {node}, view) {
  const {parent, frame} = capture.nodes;
  const unique = uniqueFrames(capture);
  const stack = [];
  for (; node !== 0; node = parent[node]) {
    const {function: name, file, lines, module, kind} = unique.frame[frame[node]];
    if (kind === KIND_INTERPRETER && hidesKind(view, kind)) continue;
    stack.push({name, place: placeText(file, lines), module,
      system: kind === KIND_SYSTEM || kind === KIND_INTERPRETER});
  }
  return stack;
}
