// What an inspection of the program's memory found: what is lost for good, what holds the rest, and
// whose blocks keep free memory from being given back.

import {byId, element} from './element.js';
import {bytes, duration, exact, measureExact, shortened} from './model/format.js';
import {shortPlace} from './table.js';

const KINDS = [
  ['lost_directly', 'lost directly', 'Nothing reaches them, and no other lost block points to them'],
  ['lost_indirectly', 'lost indirectly', 'Only lost blocks point to them'],
  ['reachable', 'reachable', 'Held by a global, a stack, mapped memory, or a block that is'],
  ['inherited', 'inherited at fork', 'Blocks that a forked child had from its parent'],
  ['unknown', 'unknown', 'Called lost by the last look only, or of an unknown stack'],
];

export function createHeldView(capture) {
  const container = byId('held');
  const {inspection} = capture;
  if (!inspection) return {update() {}};

  const part = (title, ...content) =>
    element('section', {className: 'panel'}, element('h2', {}, title), ...content);
  const size = (value) => element('td', {className: 'number', title: measureExact(value, 'bytes')}, bytes(value));
  const number = (value) => element('td', {className: 'number'}, exact(value));
  const table = (names, rows, foot = null) => element('table', {className: 'sites counts'},
      element('thead', {}, element('tr', {}, ...names.map(([name, title], i) => element('th',
          {scope: 'col', className: i > 0 ? 'number' : '', title: title ?? ''}, name)))),
      element('tbody', {}, ...rows), foot && element('tfoot', {}, foot));

  const placeRow = ({name, place, rest}, ...cells) => element('tr', {className: rest ? 'others' : ''},
      element('td', {className: 'key'}, shortened(name, 300), place
          ? element('div', {className: 'callers-line', title: place}, shortPlace(place)) : null), ...cells);

  function summary() {
    const {total} = inspection;
    const rows = KINDS.filter(([kind]) => total[kind][1] > 0 || !['inherited', 'unknown'].includes(kind))
        .map(([kind, name, title]) => element('tr', {}, element('td', {className: 'key', title}, name),
            size(total[kind][0]), number(total[kind][1])));
    return part(`Live after ${duration(inspection.time_ms)}`,
        table([['blocks that are'], ['bytes'], ['blocks']], rows, element('tr', {className: 'total'},
            element('td', {}, 'live'), size(total.live[0]), number(total.live[1]))),
        ...inspection.notes.map((note) => element('p', {className: 'place'}, note)));
  }

  function lost() {
    const rows = inspection.lost.map((row) => placeRow(row, size(row.figures[0]), number(row.figures[1]),
        size(row.figures[2])));
    return part('Lost for good', rows.length > 0
        ? table([['place'], ['bytes'], ['blocks'], ['directly', 'Those that no other lost block points to']], rows)
        : element('p', {className: 'place'}, 'Nothing: every live block is reached.'));
  }

  function paths() {
    const rows = inspection.paths.map(({path, held, rest}) => element('tr', {className: rest ? 'others' : ''},
        element('td', {className: 'key'}, shortened(path.at(-1), 300), path.length > 1 ? element('div',
            {className: 'callers-line', title: shortened(path.join(' → '), 4000)},
            `← ${shortened(path.slice(0, -1).reverse().join(' ← '), 300)}`) : null),
        size(held[0]), number(held[1])));
    return part('What holds the rest', table([['held'], ['bytes'], ['blocks']], rows));
  }

  function pages() {
    const rows = inspection.pages.map((row) => placeRow(row, ...row.figures.map(size)));
    if (rows.length === 0) return null;
    return part('Free memory on pages that live blocks keep', table([['place'],
      ['free there', 'The place\'s share of what is free on its blocks\' pages'],
      ['goes back', 'Pages of one of its stacks alone: given back if these blocks were freed'],
      ['live']], rows));
  }

  return {
    update(view) {
      container.hidden = view.view !== 'held';
      if (container.hidden) container.replaceChildren();
      else if (container.childElementCount === 0) {
        container.replaceChildren(...[summary(), lost(), paths(), pages()].filter(Boolean));
      }
    },
  };
}
