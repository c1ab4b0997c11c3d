// The controls between header and graph. Each shows the state and changes it; none knows another.
// Controls for which a capture has no data (one thread, say) are left out.

import {byId, element} from './element.js';
import {KIND_INTERPRETER, hidesKind} from './model/capture.js';
import {rowsOf, threadSums} from './model/figures.js';
import {bytes, share} from './model/format.js';
import {searchError} from './model/frame_matcher.js';
import {isApart} from './model/processes.js';
import {knowsProcesses, knowsThreads} from './model/view.js';

// A group of buttons for one key of the state. `reset`: what else a choice changes.
export function segmented(group, key, state, reset = {}) {
  const buttons = [...group.querySelectorAll('button')];
  for (const button of buttons) {
    button.addEventListener('click', () => state.set({[key]: button.dataset.value, ...reset}));
  }
  return (now) => {
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.dataset.value === now[key]));
    }
  };
}

function threadFilter(capture, state) {
  const select = byId('thread');
  const label = select.closest('label');
  label.hidden = capture.rows.thread === null;
  if (label.hidden) return () => {};
  let shown;  // the process whose threads' shares are shown
  const show = (process) => {
    const peaks = threadSums(rowsOf(capture, process), 'peak_bytes', capture.threads.length);
    const whole = peaks.reduce((sum, peak) => sum + peak, 0);
    select.replaceChildren(
        element('option', {value: ''}, `All ${capture.threads.length} threads`),
        ...capture.threads.map((name, i) => element('option', {value: String(i)},
            `${name || '(no name)'} · ${share(peaks[i], whole)} of the peak`)));
  };
  select.addEventListener('change', () => state.set({thread: select.value}));
  return (now) => {
    if (now.process !== shown) show(shown = now.process);
    select.value = now.thread === null ? '' : String(now.thread);
    select.disabled = !knowsThreads(capture, now.mode);
    select.title = select.disabled ? 'The history is kept by place, not by thread: a range shows ' +
        'all threads' : '';
  };
}

// The processes of a merge that are kept apart.
function processFilter(capture, state) {
  const select = byId('process'), label = select.closest('label');
  const {processes} = capture;
  label.hidden = !processes?.listed.some(isApart);
  if (label.hidden) return () => {};
  select.replaceChildren(element('option', {value: ''}, `All ${processes.count}`),
      ...processes.listed.flatMap((process, i) => isApart(process) ? [element('option', {value: String(i)},
          `${process.program} (${process.pid}) · ${bytes(process.totals.peak[0])}`)] : []));
  select.addEventListener('change', () => state.set({process: select.value, zoom: ''}));
  return (now) => {
    select.value = now.process === null ? '' : String(now.process);
    select.disabled = !knowsProcesses(now.mode);
    select.title = select.disabled ? 'The history is kept for all processes together, so a range is of all'
        : 'Only processes that the merge keeps apart can be chosen; the tab Processes lists all';
  };
}

// "23.4% in 12 frames"; if frames were pruned "at least 23.4%, 12 frames drawn".
function matchesText({value, upTo, count}, total, what, shown) {
  const part = share(value, total);
  const number = `${count} ${what}${count === 1 ? '' : 's'}`;
  return upTo === value ? `${part} in ${number}` : `at least ${part}, ${number} ${shown}`;
}

export function createToolbar(capture, state) {
  byId('view').querySelector('[data-value=statistics]').hidden = !capture.statistics;
  byId('view').querySelector('[data-value=held]').hidden = !capture.inspection;
  byId('view').querySelector('[data-value=processes]').hidden = !capture.processes;
  const updates = [
    segmented(byId('view'), 'view', state),
    segmented(byId('group'), 'group', state, {fn: ''}),
    segmented(byId('by'), 'by', state),
    segmented(byId('direction'), 'direction', state, {zoom: ''}),
    segmented(byId('layout'), 'layout', state),
    threadFilter(capture, state),
    processFilter(capture, state),
  ];

  const system = byId('system');
  system.addEventListener('change', () => state.set({system: system.checked ? 'hide' : 'show'}));
  updates.push((now) => { system.checked = now.system === 'hide'; });

  // Python functions stand for these frames.
  const interpreter = byId('interpreter');
  const hasInterpreter = capture.frames.kind.includes(KIND_INTERPRETER);
  interpreter.addEventListener('change', () =>
    state.set({interpreter: interpreter.checked ? 'show' : 'hide'}));
  updates.push((now) => {
    interpreter.checked = !hidesKind(now, KIND_INTERPRETER);
    interpreter.disabled = now.system === 'show';
  });

  const recursion = byId('recursion');
  recursion.addEventListener('change', () =>
    state.set({recursion: recursion.checked ? 'fold' : 'show'}));
  updates.push((now) => { recursion.checked = now.recursion === 'fold'; });

  const search = byId('search');
  search.addEventListener('input', () => state.set({search: search.value}, {replace: true}));
  updates.push((now) => { if (search.value !== now.search) search.value = now.search; });

  // These apply to the graph only.
  const ofGraph = [byId('direction'), byId('layout'), recursion.closest('label')];
  updates.push((now) => { for (const group of ofGraph) group.hidden = now.view !== 'graph'; });

  updates.push((now) => { byId('group').hidden = now.view !== 'functions'; });

  // These tables are of the whole run.
  const ofStacks = [system.closest('label'), search.closest('.search')];
  const ofSome = [byId('thread').closest('label')];
  updates.push((now) => {
    const whole = ['held', 'statistics', 'processes'].includes(now.view);
    for (const group of ofStacks) group.hidden = whole;
    interpreter.closest('label').hidden = whole || !hasInterpreter;
    for (const label of ofSome) label.hidden = whole || capture.rows.thread === null;
  });

  return {
    update(now) { updates.forEach((update) => update(now)); },
    // `found` is the result of a search: the {value, upTo} of shareOfMatches and the `count` of frames
    // or sites; null without a term. `shown`: "drawn" or "listed".
    showMatches(found, total, what, shown) {
      byId('matches').textContent = found === null ? ''
          : found.count === 0 && found.value === 0 ? searchError(search.value) || 'no match'
          : matchesText(found, total, what, shown);
      byId('matches').title = found === null || found.upTo === found.value ? ''
          : `Of the smallest frames, which aren't ${shown}, it isn't known whether two functions ` +
            `are in one stack: ${share(found.value, total)} to ${share(found.upTo, total)}.`;
    },
  };
}
