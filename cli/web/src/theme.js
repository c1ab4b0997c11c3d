// Light or dark: the system's choice until the reader chooses.

import {byId} from './element.js';
import {listen} from './lifetime.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

export const effectiveTheme = (theme) =>
    theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;

export function createTheme(state, onSystemChange) {
  const button = byId('theme');
  button.addEventListener('click', () => {
    state.set({theme: effectiveTheme(state.get().theme) === 'dark' ? 'light' : 'dark'},
        {replace: true});
  });
  listen('change', onSystemChange, {}, dark);
  return {
    update({theme}) {
      const now = effectiveTheme(theme);
      document.documentElement.dataset.theme = now;
      button.textContent = now === 'dark' ? 'Light' : 'Dark';
    },
  };
}
