// The strip that says what is left out of the graph, or offers to leave out by the search.

import {byId, element} from './element.js';
import {measure, share} from './model/format.js';
import {searchError} from './model/frame_matcher.js';
import {isRestricted} from './model/restriction.js';

export function showRestriction(figures, shown, view, state) {
  const strip = byId('restriction');
  const parts = view.view === 'graph' ? [...chips(), ...offers()] : [];
  strip.hidden = parts.length === 0;
  strip.replaceChildren(...parts);

  function chips() {
    const made = [];
    const add = (key, text) => {
      if (!view[key]?.trim()) return;
      const clear = element('button', {type: 'button', className: 'quiet', id: `${key}-clear`},
          'Show all');
      clear.addEventListener('click', () => state.set({[key]: '', zoom: ''}));
      made.push(element('span', {className: 'chip'},
          `${text} ${view[key]}${searchError(view[key]) ? ` (${searchError(view[key])})` : ''}`, clear));
    };
    add('only', 'Only stacks with');
    add('without', 'Without stacks with');
    add('merge', 'Merged into callers:');
    if (isRestricted(view)) {
      const whole = figures.total(view), rest = shown.total(view);
      made.push(element('span', {},
          rest === whole ? 'nothing is left out of the whole'
            : `${measure(rest, view.by)}, ${share(rest, whole)} of the whole, in what is drawn`));
    }
    return made;
  }

  function offers() {
    const term = view.search.trim();
    if (term === '' || searchError(term)) return [];
    const offer = (key, text) => {
      const button = element('button', {type: 'button', className: 'quiet', id: `${key}-set`}, text);
      button.addEventListener('click', () => state.set({[key]: term, search: '', zoom: ''}));
      return button;
    };
    return [offer('only', `Only stacks with ${term}`), offer('without', `Without stacks with ${term}`),
      offer('merge', `Merge ${term} into callers`)];
  }
}
