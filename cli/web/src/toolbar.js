// The controls between header and graph. Each shows the state and changes it; none knows another.

import {byId} from './element.js';
import {share} from './format.js';

function segmented(id, state) {
  const buttons = [...byId(id).querySelectorAll('button')];
  for (const button of buttons) {
    button.addEventListener('click', () => state.set({[id]: button.dataset.value}));
  }
  return (now) => {
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.dataset.value === now[id]));
    }
  };
}

export function createToolbar(state) {
  const updates = [segmented('by', state), segmented('layout', state)];

  const system = byId('system');
  system.addEventListener('change', () => state.set({system: system.checked ? 'hide' : 'show'}));
  updates.push((now) => { system.checked = now.system === 'hide'; });

  const search = byId('search');
  search.addEventListener('input', () => state.set({search: search.value}, {replace: true}));
  updates.push((now) => { if (search.value !== now.search) search.value = now.search; });

  return {
    update(now) { updates.forEach((update) => update(now)); },
    showMatches(found, total) {
      byId('matches').textContent = found === null ? ''
          : found.frames === 0 ? 'no match'
          : `${share(found.value, total)} in ${found.frames} frame${found.frames === 1 ? '' : 's'}`;
    },
  };
}
