// The page: reads the embedded capture and keeps header, controls and views consistent with one
// state. A part is an object with update(view, changed). Parts share only the state.

import {parseCapture} from './model/capture.js';
import {byId, element} from './element.js';
import {createFigures} from './model/figures.js';
import {createFirstLook} from './first_look.js';
import {createFlameView} from './flame_view.js';
import {createFunctionsView} from './functions_view.js';
import {createHeader} from './header.js';
import {createKeyboard} from './keyboard.js';
import {createProcessesView} from './processes_view.js';
import {createRangeBar} from './range_bar.js';
import {createSitesView} from './sites_view.js';
import {createStatisticsView} from './statistics_view.js';
import {createTheme} from './theme.js';
import {createTimelineView} from './timeline_view.js';
import {createToolbar} from './toolbar.js';
import {viewOf} from './model/view.js';
import {createState} from './view_state.js';

function start() {
  const capture = parseCapture(byId('capture').textContent);
  const figures = createFigures(capture);
  const state = createState({mode: capture.mode,
    interpreter: capture.native_frames ? 'show' : 'hide'});
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

try {
  start();
} catch (error) {
  byId('chart').replaceChildren(
      element('p', {className: 'empty'}, `This page's data can't be shown: ${error.message}`));
  throw error;
}
