// The controls between header and graph. Each shows the state and changes it; none knows another.
// What a capture has nothing for (one thread, say) isn't there.

import {byId, element} from './element.js';
import {share} from './format.js';
import {knowsThreads} from './view.js';

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

export function createToolbar(capture, figures, state) {
  const updates = [
    segmented(byId('view'), 'view', state),
    segmented(byId('by'), 'by', state),
    segmented(byId('direction'), 'direction', state, {zoom: ''}),
    segmented(byId('layout'), 'layout', state),
    threadFilter(capture, figures, state),
  ];

  const system = byId('system');
  system.addEventListener('change', () => state.set({system: system.checked ? 'hide' : 'show'}));
  updates.push((now) => { system.checked = now.system === 'hide'; });

  const search = byId('search');
  search.addEventListener('input', () => state.set({search: search.value}, {replace: true}));
  updates.push((now) => { if (search.value !== now.search) search.value = now.search; });

  // These turn the graph alone.
  const ofGraph = [byId('direction'), byId('layout')];
  updates.push((now) => { for (const group of ofGraph) group.hidden = now.view !== 'graph'; });

  return {
    update(now) { updates.forEach((update) => update(now)); },
    // What a search found: {count, value} of frames or sites; null without a term.
    showMatches(found, total, what) {
      byId('matches').textContent = found === null ? ''
          : found.count === 0 ? 'no match'
          : `${share(found.value, total)} in ${found.count} ${what}${found.count === 1 ? '' : 's'}`;
    },
  };
}
