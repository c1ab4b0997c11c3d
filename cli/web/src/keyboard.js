// All keyboard commands. The dialog in index.html lists the keys.

import {byId} from './element.js';
import {listen} from './lifetime.js';

const FORMS = 'input, select, textarea';

export function createKeyboard(capture, state, flame) {
  const search = byId('search');
  const flip = (key, a, b) => state.set({[key]: state.get()[key] === a ? b : a});
  const modeKeys = Object.fromEntries(capture.modes.map((mode, i) => [String(i + 1), mode]));

  // "Down" is the direction in which the graph grows.
  const vertical = (down) => flame.move(down === (state.get().layout === 'icicle') ? 'in' : 'out');
  // By the search, or back.
  function restrict(key) {
    const term = state.get().search.trim();
    if (term !== '') state.set({[key]: term, search: '', zoom: ''});
    else if (state.get()[key] !== '') state.set({[key]: '', zoom: ''});
  }
  const keys = {
    '/': () => { search.focus(); search.select(); },
    '?': () => byId('help').showModal(),
    b: () => flip('by', 'bytes', 'allocations'),
    i: () => flip('layout', 'icicle', 'flame'),
    u: () => state.set({zoom: '',
      direction: state.get().direction === 'callees' ? 'callers' : 'callees'}),
    s: () => flip('view', 'sites', 'graph'),
    f: () => flip('view', 'functions', 'graph'),
    t: () => flip('view', 'statistics', 'graph'),
    h: () => flip('system', 'hide', 'show'),
    n: () => flip('interpreter', 'hide', 'show'),
    r: () => flip('recursion', 'fold', 'show'),
    c: () => flame.copyStack(),
    o: () => restrict('only'),
    x: () => restrict('without'),
    m: () => restrict('merge'),
    ArrowDown: () => vertical(true),
    ArrowUp: () => vertical(false),
    ArrowRight: () => flame.move('next'),
    ArrowLeft: () => flame.move('previous'),
    Enter: () => flame.zoomToCursor(),
    Backspace: () => flame.zoomOut(),
  };

  listen('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) {
      return;
    }
    const {activeElement} = document;
    if (event.key === 'Escape') {
      if (state.get().search !== '') state.set({search: ''});
      else if (activeElement !== search) state.set({zoom: ''});
      search.blur();
      return;
    }
    if (activeElement?.matches(FORMS)) return;
    // A button that has the focus keeps its own keys.
    if (event.key === 'Enter' && activeElement?.matches('button, summary, a')) return;
    const act = keys[event.key] ?? (modeKeys[event.key] && (() =>
      state.set({mode: modeKeys[event.key]})));
    if (!act) return;
    if (event.key.startsWith('Arrow') && state.get().view !== 'graph') return;
    event.preventDefault();
    act();
  });
}
