// The graph: a thin layer over d3-flame-graph that draws call_tree.js's nodes.
//
// d3-flame-graph lays out every node that it is given, also those that are too narrow to be drawn. A
// tree may have hundreds of thousands, so it is given only the nodes that are wide enough at this zoom:
// `c` has them, which it prefers to `children`. It fades by a flag in the data. Both are set here before
// each draw, so that one draw does for a new mode with an old zoom.

import flamegraph from 'd3-flame-graph';
import {select} from 'd3-selection';

import {MIN_FRAME_PX, giveWide} from './model/wide_nodes.js';

const ROW_HEIGHT = 20;
const ZOOM_MS = 220;

// `onDrawn` is called after each draw.
export function createFlameChart(container, {color, tooltip, onZoom, onDrawn = () => {}}) {
  const animated = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  const chart = flamegraph()
      .cellHeight(ROW_HEIGHT)
      .minFrameSize(MIN_FRAME_PX)
      .resetHeightOnZoom(true)
      .transitionDuration(animated ? ZOOM_MS : 0)
      .inverted(true)
      .tooltip(tooltip)
      .setColorMapper((drawn) => color(drawn.data))
      .onClick((drawn) => {
        drawnFocus = drawn.data;
        // What the chart has moves there already. Then it gets what is wide enough now.
        const last = look;
        onZoom(drawn.data);
        if (look === last) pending = setTimeout(() => draw(look), animated ? ZOOM_MS + 20 : 0);
      });
  const selection = select(container);
  let started = false;
  let drawnFocus = null;  // a click on a frame has zoomed there already
  let look = null;        // {root, inverted}, as drawn last
  let given = {nodes: [], left: 0};  // the nodes that the chart was given
  let pending = null;     // the draw after the move

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

  function draw(next) {
    clearTimeout(pending);
    look = next;
    for (const node of given.nodes) node.hide = node.fade = false;
    given = giveWide(look.root, drawnFocus, width());
    chart.inverted(look.inverted).width(width());
    if (started) {
      chart.update(look.root);
    } else {
      started = true;
      selection.datum(look.root).call(chart);
    }
    finish();
    onDrawn();
  }

  return {
    shows: (focus) => drawnFocus === focus,
    draw(root, focus, {inverted}) {
      drawnFocus = focus;
      draw({root, inverted});
    },
    // {nodes, left}: the nodes that are wide enough to be drawn, with the callers of the one that the graph
    // is zoomed to, and the number of those that are left out since they are too many.
    given: () => given,
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
      clearTimeout(pending);
      chart.destroy();
      container.replaceChildren();
      started = false;
    },
  };
}
