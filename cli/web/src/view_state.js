// What the reader chose, kept in the URL's fragment, so that it survives a reload and can be
// passed on as a link. One object; listeners hear which keys changed.

const CHOICES = {
  mode: ['peak', 'leaked', 'total'],
  by: ['bytes', 'allocations'],
  layout: ['icicle', 'flame'],
  system: ['show', 'hide'],
  theme: ['auto', 'light', 'dark'],
};

export function createState(defaults) {
  const initial = {mode: 'peak', by: 'bytes', layout: 'icicle', system: 'show', theme: 'auto',
    search: '', zoom: 0, ...defaults};
  const listeners = [];
  let current = read();

  function read() {
    const params = new URLSearchParams(location.hash.slice(1));
    const state = {...initial};
    for (const [key, allowed] of Object.entries(CHOICES)) {
      const value = params.get(key);
      if (allowed.includes(value)) state[key] = value;
    }
    state.search = params.get('search') ?? '';
    const zoom = params.get('zoom') ?? '';
    state.zoom = /^\d{1,9}$/.test(zoom) ? Number(zoom) : 0;
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
  addEventListener('popstate', reread);
  addEventListener('hashchange', reread);

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
