// The graph: a thin layer over d3-flame-graph that draws call_tree.js's nodes.
//
// d3-flame-graph hides and fades by flags in the data (`hide`, `fade`) and joins frames by a
// running number; both are set here before each draw, so that one draw does for a new mode with an
// old zoom.

import flamegraph from 'd3-flame-graph';
import {select} from 'd3-selection';

import {forEachNode} from './call_tree.js';

const ROW_HEIGHT = 20;
// Narrower frames can't be seen or hit; zooming makes them wide.
const MIN_FRAME_PX = 1;
const ZOOM_MS = 220;

export function createFlameChart(container, {color, tooltip, onZoom}) {
  const animated = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  const chart = flamegraph()
      .cellHeight(ROW_HEIGHT)
      .minFrameSize(MIN_FRAME_PX)
      .resetHeightOnZoom(true)
      .transitionDuration(0)
      .inverted(true)
      .tooltip(tooltip)
      .setColorMapper((drawn) => color(drawn.data))
      .onClick((drawn) => { drawnFocus = drawn.data; onZoom(drawn.data); });
  const selection = select(container);
  let started = false;
  let drawnFocus = null;  // a click on a frame has zoomed there already
  let quick = 0;

  function width() { return Math.max(320, container.clientWidth); }

  // Zooming by a click moves; everything else appears at once.
  container.addEventListener('click', () => {
    if (!animated) return;
    chart.transitionDuration(ZOOM_MS);
    clearTimeout(quick);
    quick = setTimeout(() => chart.transitionDuration(0), 0);
  }, true);

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
    },
    // The same tree with another zoom, direction, width or colours.
    redraw(root, focus, {inverted}) {
      markZoom(root, drawnFocus = focus);
      chart.inverted(inverted).width(width()).update();
    },
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
