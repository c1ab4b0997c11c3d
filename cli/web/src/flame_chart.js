// The graph: a thin layer over d3-flame-graph that draws call_tree.js's nodes.
//
// d3-flame-graph hides and fades by flags in the data (`hide`, `fade`) and joins frames by a
// running number; both are set here before each draw, so that one draw does for a new mode with an
// old zoom.

import flamegraph from 'd3-flame-graph';
import {select} from 'd3-selection';

import {forEachNode} from './model/call_tree.js';

const ROW_HEIGHT = 20;
// Narrower frames can't be seen or hit; zooming makes them wide.
const MIN_FRAME_PX = 2;
const ZOOM_MS = 220;

export function createFlameChart(container, {color, tooltip, onZoom}) {
  const animated = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  const chart = flamegraph()
      .cellHeight(ROW_HEIGHT)
      .minFrameSize(MIN_FRAME_PX)
      .resetHeightOnZoom(true)
      .transitionDuration(animated ? ZOOM_MS : 0)
      .inverted(true)
      .tooltip(tooltip)
      .setColorMapper((drawn) => color(drawn.data))
      .onClick((drawn) => { drawnFocus = drawn.data; onZoom(drawn.data); });
  const selection = select(container);
  let started = false;
  let drawnFocus = null;  // a click on a frame has zoomed there already

  function width() { return Math.max(320, container.clientWidth); }

  // Only zooming by a click is animated. d3-flame-graph always makes transitions, and new frames
  // would grow even in one without duration.
  function finish() {
    const wide = chart.width(), high = chart.height(), inverted = chart.inverted();
    const frames = selection.selectAll('g.frame').interrupt().attr('transform', (drawn) => {
      const y = drawn.depth * ROW_HEIGHT;
      return `translate(${drawn.x0 * wide},${inverted ? y : high - y - ROW_HEIGHT})`;
    });
    frames.select('rect').interrupt().attr('width', (drawn) => (drawn.x1 - drawn.x0) * wide);
    frames.select('foreignObject').select('div').interrupt().text((drawn) => drawn.data.name);
  }

  return {
    shows: (focus) => drawnFocus === focus,
    draw(root, focus, {inverted}) {
      markZoom(root, drawnFocus = focus);
      chart.inverted(inverted).width(width());
      if (started) {
        chart.update(root);
      } else {
        started = true;
        selection.datum(root).call(chart);
      }
      finish();
    },
    // The same tree with another zoom, direction, width or colours.
    redraw(root, focus, {inverted}) {
      markZoom(root, drawnFocus = focus);
      chart.inverted(inverted).width(width()).update();
      finish();
    },
    // Marks the frame that the keyboard is at. Returns its element, or null if it isn't drawn.
    mark(node) {
      let marked = null;
      selection.selectAll('g.frame').classed('cursor', function(drawn) {
        const here = node !== null && drawn.data === node;
        if (here) marked = this;
        return here;
      });
      return marked;
    },
    // The drawn nodes: narrow ones are missing.
    drawn() { return new Set(selection.selectAll('g.frame').data().map(({data}) => data)); },
    clear() {
      chart.destroy();
      container.replaceChildren();
      started = false;
    },
  };
}

function markZoom(root, focus) {
  forEachNode(root, (node) => { node.hide = node.fade = false; });
  for (let node = focus; node.parent; node = node.parent) {
    node.parent.fade = true;
    for (const sibling of node.parent.children) sibling.hide = sibling !== node;
  }
}
