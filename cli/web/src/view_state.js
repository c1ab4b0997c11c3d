// The reader's choices, kept in the URL's fragment, so that they survive a reload and can be shared
// as a link. One object; listeners are told which keys changed.

import {listen} from './lifetime.js';
import {MODES, RANGE_MODES} from './model/capture.js';

const CHOICES = {
  mode: [...MODES, ...RANGE_MODES],
  by: ['bytes', 'allocations'],
  view: ['graph', 'functions', 'sites', 'held', 'statistics', 'processes'],
  direction: ['callees', 'callers'],
  layout: ['icicle', 'flame'],
  system: ['show', 'hide'],
  interpreter: ['show', 'hide'],
  recursion: ['fold', 'show'],
  rss: ['auto', 'show', 'hide'],  // in the timeline
  theme: ['auto', 'light', 'dark'],
  sort: ['function', 'place', 'self', 'inclusive', ...MODES, 'range'],
  order: ['down', 'up'],
  group: ['function', 'file', 'module'],
};
// A range is of milliseconds after the start, so that a link means the same in a newer page.
const PATTERNS = {zoom: /^(\d{1,9}(-\d{1,9})?|f\d{1,7})$/, thread: /^\d{1,6}$/, process: /^\d{1,6}$/, fn: /^\d{1,7}$/, range: /^\d{1,15}-\d{1,15}$/};

const TERMS = ['search', 'only', 'without', 'merge'];  // frame_matcher.js

export function createState(defaults) {
  const initial = {mode: 'peak', by: 'bytes', view: 'graph', direction: 'callees', layout: 'icicle',
    system: 'hide', interpreter: 'hide', recursion: 'fold', rss: 'auto', theme: 'auto', sort: '', order: 'down', search: '', only: '', without: '', merge: '',
    zoom: '', thread: '', process: '',
    fn: '', group: 'function', range: '', ...defaults};
  const listeners = [];
  let current = read();

  function read() {
    const params = new URLSearchParams(location.hash.slice(1));
    const state = {...initial};
    for (const [key, allowed] of Object.entries(CHOICES)) {
      const value = params.get(key);
      if (allowed.includes(value)) state[key] = value;
    }
    for (const [key, pattern] of Object.entries(PATTERNS)) {
      const value = params.get(key) ?? '';
      if (pattern.test(value)) state[key] = value;
    }
    for (const key of TERMS) state[key] = params.get(key) ?? '';
    return state;
  }

  function write(replace) {
    const params = new URLSearchParams();
    for (const [key, value] of Object.entries(current)) {
      if (value !== initial[key]) params.set(key, String(value));
    }
    const url = `#${params}`;
    if (replace) history.replaceState(null, '', url);
    else history.pushState(null, '', url);
  }

  function apply(next) {
    const changed = new Set(Object.keys(next).filter((key) => next[key] !== current[key]));
    current = next;
    return changed;
  }

  const notify = (changed) => { if (changed.size > 0) listeners.forEach((f) => f(changed)); };
  const reread = () => notify(apply(read()));
  listen('popstate', reread);
  listen('hashchange', reread);

  return {
    get: () => current,
    // `replace`: don't make an entry in the history (typing in the search box).
    set(change, {replace = false} = {}) {
      const changed = apply({...current, ...change});
      if (changed.size === 0) return;
      write(replace);
      notify(changed);
    },
    onChange(listener) { listeners.push(listener); },
  };
}
