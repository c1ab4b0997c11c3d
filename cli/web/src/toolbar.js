// The controls between header and graph. Each shows the state and changes it; none knows another.
// Controls for which a capture has no data (one thread, say) are left out.

import {byId, element} from './element.js';
import {share} from './model/format.js';
import {searchError} from './model/frame_matcher.js';
import {knowsThreads} from './model/view.js';

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

function threadFilter(capture, figures, state) {
  const select = byId('thread');
  const label = select.closest('label');
  label.hidden = capture.rows.thread === null;
  if (label.hidden) return () => {};
  const peak = (thread) => figures.total({mode: 'peak', by: 'bytes', thread});
  select.replaceChildren(
      element('option', {value: ''}, `All ${capture.threads.length} threads`),
      ...capture.threads.map((name, i) => element('option', {value: String(i)},
          `${name || '(no name)'} · ${share(peak(i), peak(null))} of the peak`)));
  select.addEventListener('change', () => state.set({thread: select.value}));
  return (now) => {
    select.value = now.thread === null ? '' : String(now.thread);
    select.disabled = !knowsThreads(capture, now.mode);
    select.title = select.disabled ? 'The history is kept by place, not by thread: a range shows ' +
        'all threads' : '';
  };
}

// "23.4% in 12 frames"; if frames were pruned "at least 23.4%, 12 frames drawn".
function matchesText({value, upTo, count}, total, what, shown) {
  const part = share(value, total);
  const number = `${count} ${what}${count === 1 ? '' : 's'}`;
  return upTo === value ? `${part} in ${number}` : `at least ${part}, ${number} ${shown}`;
}

export function createToolbar(capture, figures, state) {
  const updates = [
    segmented(byId('view'), 'view', state),
    segmented(byId('group'), 'group', state, {fn: ''}),
    segmented(byId('by'), 'by', state),
    segmented(byId('direction'), 'direction', state, {zoom: ''}),
    segmented(byId('layout'), 'layout', state),
    threadFilter(capture, figures, state),
  ];

  const system = byId('system');
  system.addEventListener('change', () => state.set({system: system.checked ? 'hide' : 'show'}));
  updates.push((now) => { system.checked = now.system === 'hide'; });

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
