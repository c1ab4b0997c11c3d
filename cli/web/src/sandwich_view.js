// A function between its callers and callees (sandwich.js), above the table of functions.

import {element} from './element.js';
import {measure, measureExact, plural, share, shortened} from './model/format.js';
import {ITSELF, NOBODY, NOT_DRAWN, sandwichOf} from './model/sandwich.js';

const NEIGHBOURS = 12;
const NAMES = {[ITSELF]: 'allocated by the function itself', [NOBODY]: 'no caller: stacks begin here',
  [NOT_DRAWN]: 'by frames that are too small to be in the page'};

// `choose(fn)` is called for a neighbour that the reader clicks on, `show(change)` with a change of the
// state.
export function showSandwich(capture, figures, view, fn, {choose, show}) {
  const {inclusive, callers, callees} = sandwichOf(capture, figures, view, fn);
  const {function: name, file, module} = capture.functions.frame[fn], total = figures.total(view);
  const {self} = figures.functions(view);
  const action = (label, change) => {
    const button = element('button', {type: 'button', className: 'quiet'}, label);
    button.addEventListener('click', () => show(change));
    return button;
  };
  return element('section', {className: 'sandwich', 'aria-label': 'The chosen function'},
      element('div', {className: 'focus'},
          element('div', {className: 'focus-text'},
              element('p', {className: 'name'}, shortened(name, 20000)),
              element('p', {className: 'place'}, [file, module].filter(Boolean).join(' · '))),
          element('p', {className: 'focus-figure', title: measureExact(inclusive, view.by)},
              element('strong', {}, measure(inclusive, view.by)),
              element('span', {}, `${share(inclusive, total)} inclusive, ` +
                  `${measure(self[fn], view.by)} self`)),
          element('div', {className: 'focus-actions'},
              self[fn] > 0 ? action('Callers in the graph', {view: 'graph', direction: 'callers',
                zoom: `f${fn}`}) : null,
              action('Close', {fn: ''}))),
      inclusive > 0 ? element('div', {className: 'overview'},
          neighbours('Called by', callers, inclusive, 'callers'),
          neighbours('Calls', callees, inclusive, 'callees')) : null);

  function neighbours(title, list, inclusive, id) {
    const line = ({fn, frame, value}) => {
      const known = fn !== undefined && fn >= 0;
      const name = frame ? frame.function : NAMES[fn];
      const bar = element('i', {className: 'bar'});
      bar.style.width = `${100 * value / inclusive}%`;
      const made = element('button', {type: 'button',
        title: [shortened(name, 700), measureExact(value, view.by)].join('\n'), ...(known ? {} : {disabled: ''})},
      bar, element('span', {className: 'figure'}, measure(value, view.by)),
      element('span', {className: 'share'}, share(value, inclusive)),
      element('span', {className: frame ? 'name' : 'place'}, shortened(name, 200)));
      if (known) made.addEventListener('click', () => choose(fn));
      return element('li', {}, made);
    };
    const drawn = list.filter(({fn}) => fn !== NOT_DRAWN);
    const rest = drawn.slice(NEIGHBOURS);
    const restValue = rest.reduce((sum, {value}) => sum + value, 0);
    return element('div', {className: 'look', 'data-neighbours': id}, element('h2', {}, title),
        element('ol', {}, ...drawn.slice(0, NEIGHBOURS).map(line)),
        rest.length > 0 ? element('p', {className: 'place'},
            `${plural(rest.length, 'other', 'others')} ${measure(restValue, view.by)}`) : null,
        element('ol', {}, ...list.filter(({fn}) => fn === NOT_DRAWN).map(line)));
  }
}
