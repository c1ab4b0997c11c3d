// "/" goes to the search box; Esc clears the search, and a second Esc zooms out.

import {byId} from './element.js';

export function createKeyboard(state) {
  const search = byId('search');
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId('licences').open) return;
    if (event.key === '/' && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === 'Escape') {
      if (state.get().search !== '') state.set({search: ''});
      else if (document.activeElement !== search) state.set({zoom: 0});
      search.blur();
    }
  });
}
