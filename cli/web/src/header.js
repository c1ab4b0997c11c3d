// The top of the page: what ran, how it ended, its figures, and how far they can be trusted. The
// three figures that the graph can show are the buttons that choose between them.

import {verify} from './model/capture.js';
import {byId, element} from './element.js';
import {bytes, duration, exact, measureExact, measureWithError, moment, plural} from './model/format.js';
import {showRss} from './rss_strip.js';
import {modeLabel} from './model/view.js';

// Quoted for a shell, so that an empty argument is visible.
const quoted = (argument) => /^[\w@%+=:,./-]+$/.test(argument) ? argument
    : `'${argument.replaceAll("'", "'\\''")}'`;

function endText({kind, code, signal}) {
  switch (kind) {
    case 'exit': return `exited with ${code}`;
    case 'signal': return `was ended by ${signal} (${code})`;
    case 'exec': return 'executed another program';
    case 'ended': return 'ended, exit status not known';
    case 'cut': return 'had not ended at its last checkpoint';
    default: return 'was still running';
  }
}

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

// In a sampled capture every figure is marked as an estimate, with its error.
const estimate = (capture, figures, mode, by, value) => (capture.sampled ? '≈ ' : '') +
    measureWithError(value, figures.error({mode, by}, [0]), by);

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
  const {program} = capture;
  byId('program').textContent = program.program || 'unknown program';
  const command = program.command.map(quoted).join(' ');
  byId('command').textContent = command;
  byId('command').title = command.slice(0, 4000);
  // A capture that has lost its section of the run has none of these; the warnings say so.
  byId('run').textContent = program.pid === 0 ? '' : [`pid ${program.pid}`,
    moment(program.start_ms), `${duration(program.duration_ms)}, ${endText(program.end)}`]
      .filter(Boolean).join(' · ');
  byId('made').textContent = `Made by memprof ${capture.memprof} from ${capture.capture}.`;
  document.title = `${program.program || 'memprof'} · ${capture.capture}`;

  const mores = {peak: capture.selected ? '' : peakTime(program), leaked: leakClasses(capture),
    temporary: freedAfter(capture)};
  const cards = capture.modes.map((mode) => {
    const [size, count] = capture.totals[mode];
    const more = mores[mode] ?? '';
    const made = card(modeLabel(capture, mode), estimate(capture, figures, mode, 'bytes', size),
        measureExact(size, 'bytes'),
        [estimate(capture, figures, mode, 'allocations', count) +
             (count === 1 ? ' allocation' : ' allocations'), more].filter(Boolean).join(' · '),
        {'data-mode': mode, type: 'button'});
    made.addEventListener('click', () => state.set({mode}));
    return made;
  });
  const known = program.rss_peak_bytes > 0;
  // A tracker with more bytes than were resident counted in a file.
  const {tracker_bytes: tracker} = program;
  const trackers = known && tracker >= program.rss_peak_bytes
      ? `tracker counted in a file of ${bytes(tracker)}` : `tracker ${bytes(tracker)} of it`;
  cards.push(card('Peak RSS', known ? bytes(program.rss_peak_bytes) : 'not known',
      known ? measureExact(program.rss_peak_bytes, 'bytes') : '',
      tracker > 0 ? trackers : ''));
  if (capture.mapped) cards.push(mappedCard(capture.mapped));
  byId('figures').replaceChildren(...cards);
  showRss(capture);
  showTrust(capture);

  return {
    update({mode}) {
      for (const made of cards) {
        if (made.dataset.mode) {
          made.setAttribute('aria-pressed', String(made.dataset.mode === mode));
        }
      }
    },
  };
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
