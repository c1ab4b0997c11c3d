// The first look: which memory is live at the peak, and which was never freed, by the function of
// the program that allocated it. A click shows its callers in the graph.

import {KEPT_BY_DESIGN, KIND_ROW} from './model/capture.js';
import {stackOf} from './model/bands.js';
import {buildCallerTree} from './model/caller_tree.js';
import {byId, element} from './element.js';
import {baseName, bytes, measureExact, plural, share, shortened} from './model/format.js';
import {whereOf} from './model/frame_text.js';
import {bandColor} from './timeline_view.js';

const LINES = 5;
// Enough to follow the heaviest callers of the functions that are shown.
const OPENED = 400;
const CALLERS = 4;

export function createFirstLook(capture, figures, state) {
  let shown;  // the process whose figures are shown

  function show(process) {
    const running = ['running', 'cut'].includes(capture.program.end?.kind);
    byId('first-look').replaceChildren(
        list(capture, figures, state, {mode: 'peak', process}, capture.selected
            ? `Holds the memory: ${capture.selected.text}` : 'Holds the memory at the peak',
        'Nothing was allocated.'),
        list(capture, figures, state, {mode: 'leaked', process}, running ? 'Live when read' : 'Never freed',
            'Nothing was left: no leak.'));
  }

  // The functions of the peak have the colours of the timeline's stack, which is that of all processes.
  function paint({process, by}) {
    const bands = process === null && capture.bands ? stackOf(capture.bands, by).bands : [];
    for (const bar of byId('first-look').querySelectorAll('[data-look=peak] .bar')) {
      const place = bands.findIndex(({fn}) => fn !== undefined && String(fn) === bar.dataset.fn);
      bar.classList.toggle('band', place >= 0);
      bar.style.background = place >= 0 ? bandColor(place) : '';
    }
  }

  return {
    update(view, changed) {
      if (view.process !== shown) show(shown = view.process);
      else if (!changed.has('by')) return;
      paint(view);
    },
  };
}

function list(capture, figures, state, {mode, process}, title, empty) {
  const view = {mode, by: 'bytes', system: 'hide', thread: null, process, direction: 'callers'};
  const {root} = buildCallerTree(capture, figures, view, OPENED);
  // Blocks kept by design answer neither question, so they come last.
  const kept = root.children.filter(({name}) => name === KEPT_BY_DESIGN);
  // Those that the page doesn't tell apart are no holder, but some of the rest.
  const isOthers = ({fn}) => fn === capture.functions.otherFunctions;
  const functions = root.children.filter((node) => !kept.includes(node) && !isOthers(node));
  const others = root.children.filter(isOthers);
  const shown = functions.slice(0, LINES), rest = functions.slice(LINES);
  const lines = shown.map((node) => line(capture, state, view, root, node));
  const restValue = [...rest, ...others].reduce((sum, node) => sum + node.value, 0);
  const restCount = rest.length + (others.length > 0 ? capture.functions.others : 0);
  const below = [
    restValue > 0 ? `${plural(restCount, 'other function', 'other functions')} ` +
        `${bytes(restValue)} (${share(restValue, root.value)})` : '',
    ...kept.map((node) => `kept by design by the runtime: ${bytes(node.value)}`),
  ].filter(Boolean).join(' · ');
  return element('div', {className: 'look', 'data-look': mode},
      element('h2', {}, title),
      lines.length > 0 ? element('ol', {}, ...lines) : element('p', {className: 'exactly'}, empty),
      below ? element('p', {className: 'place'}, below) : null);
}

// The bar lies below the text and shows the share of the whole.
function line(capture, state, view, root, node) {
  const {place, module} = whereOf(capture, node);
  const bar = element('i', {className: 'bar', 'data-fn': String(node.fn)});
  bar.style.width = `${100 * node.value / root.value}%`;
  const callers = heaviestCallers(node);
  const button = element('button', {type: 'button', title: shortened(node.name, 700) + '\n' +
      [callers, place, module, measureExact(node.value, 'bytes')].filter(Boolean).join('\n')},
  bar,
  element('span', {className: 'figure'}, bytes(node.value)),
  element('span', {className: 'share'}, share(node.value, root.value)),
  element('span', {className: 'name'}, shortened(node.name, 200)),
  element('span', {className: 'callers-line'}, callers),
  element('span', {className: 'where'}, baseName(place || module)));
  button.addEventListener('click', () => {
    state.set({mode: view.mode, by: 'bytes', view: 'graph', direction: 'callers', system: 'hide',
      thread: '', search: '', zoom: node.zoom});
    byId('toolbar').scrollIntoView({block: 'start', behavior: 'smooth'});
  });
  return element('li', {}, button);
}

// "40.0% of it ← load ← main": the share of the function's bytes that came this way, unless it is
// nearly all.
function heaviestCallers(node) {
  const names = [];
  let at = node;
  for (let next; names.length < CALLERS &&
      (next = at.children.find(({frame}) => frame.kind !== KIND_ROW));) {
    at = next;
    names.push(shortened(at.name, 60));
  }
  if (names.length === 0) return '';
  return (at.value < 0.995 * node.value ? `${share(at.value, node.value)} of it ` : '') +
      names.map((name) => `← ${name}`).join(' ');
}
