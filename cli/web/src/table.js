// What the tables of sites and functions share.

import {element} from './element.js';

// A column's head: a click sorts by it, another one turns the order round. `sort` is the key that the
// table is sorted by.
export function sortHeading(state, view, sort, {key, label, numeric, title = ''}) {
  const button = element('button', {type: 'button', className: 'link', title}, label);
  const sorted = sort === key;
  const first = sorted && view.order === 'down';
  button.addEventListener('click', () => state.set({sort: key, order: first ? 'up' : 'down'}));
  // "down" means A to Z for text, and largest first for figures.
  const ascending = numeric === (view.order === 'up');
  return element('th', {scope: 'col', className: numeric ? 'number' : '',
    'aria-sort': !sorted ? 'none' : ascending ? 'ascending' : 'descending'},
  button, sorted ? (ascending ? ' ↑' : ' ↓') : '');
}

// The last two parts of a path say enough in a table.
export const shortPlace = (place) => place.split('/').slice(-2).join('/');
