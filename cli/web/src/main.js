// The page: reads the embedded capture and keeps header, controls and views in step with one
// state. A view is an object with update(state, changed); the flame graph is the first of them.

import {parseCapture} from './capture.js';
import {byId, element} from './element.js';
import {createFlameView} from './flame_view.js';
import {createHeader} from './header.js';
import {createKeyboard} from './keyboard.js';
import {createTheme} from './theme.js';
import {createToolbar} from './toolbar.js';
import {createState} from './view_state.js';

function start() {
  const capture = parseCapture(byId('capture').textContent);
  const state = createState({mode: capture.mode});
  const toolbar = createToolbar(state);
  const flame = createFlameView(capture, state, toolbar);
  const theme = createTheme(state, () => update(new Set(['theme'])));
  const parts = [theme, createHeader(capture, state), toolbar, flame];
  createKeyboard(state);
  byId('licences-open').addEventListener('click', () => byId('licences').showModal());

  function update(changed) {
    for (const part of parts) part.update(state.get(), changed);
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
