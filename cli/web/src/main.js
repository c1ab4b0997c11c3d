// The page: reads the embedded capture and keeps header, controls and views consistent with one
// state. A part is an object with update(view, changed). Parts share only the state.

import {parseCapture} from './model/capture.js';
import {byId, element} from './element.js';
import {createFigures} from './model/figures.js';
import {createFirstLook} from './first_look.js';
import {createFlameView} from './flame_view.js';
import {createFunctionsView} from './functions_view.js';
import {createHeader} from './header.js';
import {carriedOver} from './model/carry_over.js';
import {createHeldView} from './held_view.js';
import {createKeyboard} from './keyboard.js';
import {createLive} from './live.js';
import {endLifetime} from './lifetime.js';
import {createProcessesView} from './processes_view.js';
import {createRangeBar} from './range_bar.js';
import {createSitesView} from './sites_view.js';
import {createStatisticsView} from './statistics_view.js';
import {createTheme} from './theme.js';
import {createTimelineView} from './timeline_view.js';
import {createToolbar} from './toolbar.js';
import {viewOf} from './model/view.js';
import {createState} from './view_state.js';

// `carried`: what the reader had chosen, if this isn't the first look.
function start(capture, carried = () => ({})) {
  const figures = createFigures(capture);
  const state = createState({mode: capture.mode,
    interpreter: capture.native_frames ? 'show' : 'hide'});
  state.set(carried(state.get()), {replace: true});
  const toolbar = createToolbar(capture, state);
  const flame = createFlameView(capture, figures, state, toolbar);
  const range = createRangeBar(capture, figures, state);
  const parts = [
    createTheme(state, () => update(new Set(['theme']))),
    createHeader(capture, figures, state),
    createFirstLook(capture, figures, state),
    toolbar, range, createTimelineView(capture, range, state), flame,
    createFunctionsView(capture, figures, state, toolbar),
    createSitesView(capture, figures, state, toolbar),
    createHeldView(capture),
    createStatisticsView(capture),
    createProcessesView(capture, state),
  ];
  createKeyboard(capture, state, flame);
  for (const dialog of ['help', 'licences']) {
    byId(`${dialog}-open`).addEventListener('click', () => byId(dialog).showModal());
  }

  function update(changed) {
    const view = viewOf(capture, state.get());
    for (const part of parts) part.update(view, changed);
  }
  state.onChange(update);
  update(new Set(Object.keys(state.get())));
}

// The page's own elements as they were written, to begin anew with.
const partsOf = () => [...document.body.children].filter(({id, tagName}) =>
  id !== 'live' && tagName !== 'SCRIPT');

function follow(first) {
  const written = partsOf().map((part) => part.cloneNode(true));
  let capture = first;
  createLive((text) => {
    const next = parseCapture(text), {scrollX, scrollY} = window;
    const focus = document.activeElement?.id;
    endLifetime();
    partsOf().forEach((part, i) => part.replaceWith(written[i].cloneNode(true)));
    start(next, (chosen) => carriedOver(chosen, capture, next));
    capture = next;
    window.scrollTo(scrollX, scrollY);
    if (focus) byId(focus)?.focus({preventScroll: true});
  });
}

try {
  const capture = parseCapture(byId('capture').textContent);
  if ('live' in document.body.dataset) follow(capture);
  start(capture);
} catch (error) {
  byId('chart').replaceChildren(
      element('p', {className: 'empty'}, `This page's data can't be shown: ${error.message}`));
  throw error;
}
