// The line below the chart: the chosen range in words and figures, two sliders to choose it without
// a mouse, and which half of it the graph shows.

import {RANGE_MODES} from './model/capture.js';
import {byId, element} from './element.js';
import {bytes, duration, measureExact} from './model/format.js';
import {signed} from './model/frame_text.js';
import {segmented} from './toolbar.js';
import {rangeText} from './model/view.js';

export function createRangeBar(capture, figures, state) {
  const {history} = capture;
  const bar = byId('range');
  if (!history) {
    byId('range-text').textContent =
        'This capture has no history by place: no range can be chosen.';
    byId('range-controls').hidden = true;
    return {update() {}, choose() {}};
  }
  const from = byId('range-from'), to = byId('range-to');
  for (const slider of [from, to]) {
    slider.min = '-1';
    slider.max = String(history.moments - 1);
    slider.addEventListener('input', () => choose(Number(from.value), Number(to.value), true));
  }
  byId('range-clear').addEventListener('click', clear);
  const showHalf = segmented(byId('half'), 'mode', state);

  function choose(first, last, replace = false) {
    if (first >= last) return first === last ? clear() : undefined;
    const {mode} = state.get();
    state.set({range: rangeText(capture, [first, last]),
      mode: RANGE_MODES.includes(mode) ? mode : 'grew'}, {replace});
  }
  function clear() {
    const {mode} = state.get();
    state.set({range: '', mode: RANGE_MODES.includes(mode) ? 'peak' : mode});
  }

  function describe(view) {
    const [first, last] = view.range;
    const total = (mode, by) => figures.total({...view, mode, by});
    const grew = total('grew', 'bytes'), shrank = total('shrank', 'bytes');
    const change = grew - shrank;
    const raced = view.range.some(history.inexact);
    return [
      `Live at ${duration(history.timeOf(last))} minus live at ${duration(history.timeOf(first))}: `,
      element('strong', {title: measureExact(change, 'bytes')}, signed(change, 'bytes')),
      ` (${bytes(grew)} grew, ${bytes(shrank)} shrank)`,
      view.thread !== null ? ' in this thread' : '',
      raced ? '. It was read while events went on: figures may be off by those.' : '',
    ];
  }

  return {
    choose,
    update(view) {
      const chosen = view.range !== null;
      bar.classList.toggle('chosen', chosen);
      byId('half').hidden = byId('range-clear').hidden = !chosen;
      const [first, last] = view.range ?? [-1, history.moments - 1];
      from.value = String(first);
      to.value = String(last);
      for (const [slider, moment] of [[from, first], [to, last]]) {
        slider.setAttribute('aria-valuetext', duration(history.timeOf(moment)));
      }
      byId('range-text').replaceChildren(...(chosen ? describe(view)
          : ['Drag over the chart: what grew and shrank.']));
      showHalf(view);
    },
  };
}
