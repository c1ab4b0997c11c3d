// The top of the page: what ran, how it ended, its figures, and how far they can be trusted. The
// three figures that the graph can show are the buttons that choose between them.

import {verify} from './model/capture.js';
import {byId, element} from './element.js';
import {bytes, duration, exact, measure, measureExact, measureWithError, plural} from './model/format.js';
import {showRss} from './rss_strip.js';
import {quotedCommand, runText} from './run_text.js';
import {modeLabel} from './model/view.js';

// The clock's resolution is shown only if the figure depends on it.
function peakTime({peak_time_ms: at, peak_time_resolution_ms: resolution}) {
  if (resolution === 0 && at === 0) return '';
  return `after ${duration(at)}` + (resolution * 50 > at ? ` ± ${duration(resolution)}` : '');
}

// Blocks that libc and similar libraries never free are no leak of the program; those of threads
// that still ran at the end need not be one.
const leakClasses = ({kept_by_design: [kept], of_running_threads: [running] = [0]}) => [
  kept > 0 ? `${bytes(kept)} of it kept by design` : '',
  running > 0 ? `${bytes(running)} of it of threads that still ran` : '',
].filter(Boolean).join(', ');

// The definition of a temporary block.
const freedAfter = ({temporary_threshold: threshold}) => !(threshold > 0) ? ''
    : threshold === 1 ? "freed before its thread's next allocation"
    : `freed within ${threshold} allocations of its thread`;

// In a sampled capture every figure is marked as an estimate, with its error; a process of a merge has
// none.
const estimate = (capture, figures, of, by, value) => capture.sampled
    ? '≈ ' + measureWithError(value, figures.error({...of, by}, [0]), by) : measure(value, by);

function card(label, figure, exactly, below, attributes = {}) {
  const tag = attributes['data-mode'] ? 'button' : 'div';
  return element(tag, {className: 'card', title: exactly, ...attributes},
      element('span', {className: 'label'}, label),
      element('span', {className: 'figure'}, figure),
      element('span', {className: 'below', title: below}, below));
}

// Beside the heap: what the program mapped is in none of the other figures but RSS.
function mappedCard({peak: [most, mappings], end: [left]}) {
  return card('Mapped', bytes(most),
      `${measureExact(most, 'bytes')} mapped by the program itself (mmap, brk) when that was most; ` +
          'not in the heap\'s figures. By place: memprof table --mmap',
      `${plural(mappings, 'mapping', 'mappings')} · ${bytes(left)} at the end`);
}

export function createHeader(capture, figures, state) {
  let shown;  // the index of the process whose figures are shown; null: all

  // What ran: the capture's program, or the chosen process of a merge.
  function showRun(process) {
    const program = process ?? capture.program;
    byId('program').textContent = program.program || 'unknown program';
    const command = quotedCommand(program.command);
    byId('command').textContent = command;
    byId('command').title = command.slice(0, 4000);
    byId('run').textContent = process === null && capture.run ? capture.run : runText(program);
    byId('run').title = byId('run').textContent;
  }

  function showCards(process, index) {
    const program = process ?? capture.program, totals = process?.totals ?? capture.totals;
    const mores = {peak: capture.selected ? '' : peakTime(program),
      leaked: process === null ? leakClasses(capture) : '', temporary: freedAfter(capture)};
    const cards = capture.modes.map((mode) => {
      const [size, count] = totals[mode];
      const more = mores[mode] ?? '';
      const of = {mode, process: index};
      const made = card(modeLabel(capture, mode), estimate(capture, figures, of, 'bytes', size),
          measureExact(size, 'bytes'),
          [estimate(capture, figures, of, 'allocations', count) +
               (count === 1 ? ' allocation' : ' allocations'), more].filter(Boolean).join(' · '),
          {'data-mode': mode, type: 'button'});
      made.addEventListener('click', () => state.set({mode}));
      return made;
    });
    cards.push(rssCard(program, process !== null, Boolean(capture.processes)));
    if (capture.mapped && process === null) cards.push(mappedCard(capture.mapped));
    byId('figures').replaceChildren(...cards);
  }

  byId('made').textContent = `Made by memprof ${capture.memprof} from ${capture.capture}.`;
  document.title = `${capture.program.program || 'memprof'} · ${capture.capture}`;
  showRss(capture);
  showTrust(capture);

  return {
    update({mode, process: index}) {
      if (index !== shown) {
        const process = index === null ? null : capture.processes.listed[index];
        showRun(process);
        showCards(process, index);
        shown = index;
      }
      for (const made of byId('figures').children) {
        if (made.dataset.mode) {
          made.setAttribute('aria-pressed', String(made.dataset.mode === mode));
        }
      }
    },
  };
}

// For a merge: the sum of the highest of each source. The tracker's part isn't known by process.
function rssCard(program, isProcess, isMerge) {
  const known = program.rss_peak_bytes > 0;
  // A tracker with more bytes than were resident counted in a file.
  const {tracker_bytes: tracker} = program;
  const trackers = known && tracker >= program.rss_peak_bytes
      ? `tracker counted in a file of ${bytes(tracker)}` : `tracker ${bytes(tracker)} of it`;
  const below = [isMerge && !isProcess ? 'sum of the processes' : '', tracker > 0 ? trackers : ''];
  return card('Peak RSS', known ? bytes(program.rss_peak_bytes) : 'not known',
      known ? measureExact(program.rss_peak_bytes, 'bytes') : '', below.filter(Boolean).join(' · '));
}

function notes(className, summary, lines) {
  return element('details', {className},
      element('summary', {}, summary),
      element('ul', {}, ...lines.map((line) => element('li', {}, line))));
}

function showTrust(capture) {
  const warnings = [...verify(capture), ...capture.warnings];
  const parts = [];
  if (capture.sampled) {
    parts.push(element('p', {className: 'sampled'}, `Sampled: ${capture.sampled.text}.`));
  }
  if (warnings.length === 1) {
    parts.push(element('p', {className: 'warning'}, `To know about these figures: ${warnings[0]}`));
  } else if (warnings.length > 1) {
    parts.push(notes('warnings', `${warnings.length} things to know about these figures`, warnings));
  } else if (!capture.sampled) {
    parts.push(element('p', {className: 'exactly'},
        'Exact: every allocation was counted, and the rows sum to the totals.'));
  }
  if (capture.pruned_nodes > 0) {
    parts.push(element('p', {className: 'aside'}, `The ${exact(capture.pruned_nodes)} smallest ` +
        'frames are folded into rows [pruned] of the graph; functions have their whole figures.'));
  }
  if (capture.notes.length > 0) {
    parts.push(notes('symbols', `Symbols: ${plural(capture.notes.length, 'note', 'notes')}`,
        capture.notes));
  }
  byId('trust').replaceChildren(...parts);
}
