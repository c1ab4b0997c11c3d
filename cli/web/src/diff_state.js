// The choices of a reader of a difference, kept in the URL's fragment like view_state.js's.

const CHOICES = {
  measure: ['bytes', 'allocations'],
  width: ['change', 'after', 'before'],
  layout: ['icicle', 'flame'],
  by: ['site', 'function', 'module'],
  sort: ['change', 'allocations', 'before', 'after', 'name'],
  theme: ['auto', 'light', 'dark'],
};

// `choices` has those that differ from page to page.
export function createDiffState(defaults, choices) {
  const initial = {figure: 'peak', measure: 'bytes', width: 'change', layout: 'icicle', by: 'site',
    sort: 'change', theme: 'auto', search: '', zoom: 0, ...defaults};
  const listeners = [];
  let current = read();

  function read() {
    const params = new URLSearchParams(location.hash.slice(1));
    const state = {...initial};
    for (const [key, allowed] of Object.entries({...CHOICES, ...choices})) {
      if (allowed.includes(params.get(key))) state[key] = params.get(key);
    }
    state.search = params.get('search') ?? '';
    const zoom = params.get('zoom') ?? '';
    state.zoom = /^\d{1,9}$/.test(zoom) ? Number(zoom) : 0;
    return state;
  }

  function become(next) {
    if (Object.keys(next).every((key) => next[key] === current[key])) return false;
    current = next;
    return true;
  }
  const notify = () => listeners.forEach((listener) => listener());
  for (const event of ['popstate', 'hashchange']) {
    addEventListener(event, () => { if (become(read())) notify(); });
  }

  return {
    get: () => current,
    // `replace`: don't make an entry in the history (typing in the search box).
    set(change, {replace = false} = {}) {
      if (!become({...current, ...change})) return;
      const params = new URLSearchParams();
      for (const [key, value] of Object.entries(current)) {
        if (value !== initial[key]) params.set(key, String(value));
      }
      history[replace ? 'replaceState' : 'pushState'](null, '', `#${params}`);
      notify();
    },
    onChange(listener) { listeners.push(listener); },
  };
}
