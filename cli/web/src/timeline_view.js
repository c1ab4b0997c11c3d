// The heap and the RSS over time, and the range of it that the graph shows. A capture without a
// timeline has no chart; one without moments has a chart in which no range can be chosen.

import uPlot from 'uplot';

import {byId} from './element.js';
import {bytes, duration} from './model/format.js';
import {effectiveTheme} from './theme.js';
import {peakOnCurve} from './model/timeline.js';

const HEIGHT = 118;
const BYTE_STEPS = Array.from({length: 50}, (_, i) => 2 ** i);
const TIME_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10]
    .flatMap((unit) => [unit, 2 * unit, 5 * unit]);

const COLORS = {
  light: {heap: '#c2600f', area: 'rgb(232 131 58 / 22%)', rss: '#4d6f9c', grid: '#ece7de',
    text: '#6d675e', peak: '#22201c'},
  dark: {heap: '#f0a35c', area: 'rgb(240 163 92 / 20%)', rss: '#86a9d6', grid: '#2d2a26',
    text: '#a29b8f', peak: '#ece7de'},
};

export function createTimelineView(capture, range) {
  const {timeline, program, history} = capture;
  const section = byId('timeline');
  section.hidden = !timeline || timeline.time_ms.length < 2;
  if (section.hidden) return {update() {}};
  const container = byId('timeline-chart');
  let colors = COLORS.light, chart = null, chosen = null;

  const byTheme = (name) => () => colors[name];
  const axis = {stroke: byTheme('text'), font: '12px system-ui, sans-serif',
    grid: {stroke: byTheme('grid'), width: 1}, ticks: {show: false}};
  const options = {
    width: Math.max(320, container.clientWidth),
    height: HEIGHT,
    scales: {x: {time: false}, y: {range: (_, low, high) => [0, Math.max(1, high) * 1.05]}},
    axes: [
      {...axis, size: 26, incrs: TIME_STEPS, space: 90, values: (_, all) => all.map(timeText)},
      {...axis, size: 74, incrs: BYTE_STEPS, space: 20, values: (_, all) => all.map(bytes)},
    ],
    series: [
      {label: 'Time', value: (_, ms) => ms === null || ms === undefined ? '' : timeText(ms)},
      {label: 'Heap (live bytes)', stroke: byTheme('heap'), fill: byTheme('area'), width: 1.5,
        points: {show: false}, value: (_, value) => figure(value)},
      {label: 'RSS', stroke: byTheme('rss'), width: 1.5, points: {show: false},
        value: (_, value) => figure(value)},
    ],
    cursor: {y: false, drag: {x: history !== null, y: false, setScale: false}},
    hooks: {draw: [drawPeak, mark], setSelect: [selected]},
  };

  function drawPeak(u) {
    const {peak_time_ms: at, peak_time_resolution_ms: resolution} = program;
    if (at === 0 && resolution === 0) return;
    const {left, top, width, height} = u.bbox;
    const x = Math.round(u.valToPos(peakOnCurve(timeline, at, resolution), 'x', true));
    if (x < left || x > left + width) return;
    const {ctx} = u, scale = devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colors.peak;
    ctx.lineWidth = scale;
    ctx.setLineDash([3 * scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.font = `${11 * scale}px system-ui, sans-serif`;
    const right = x > left + width - 50 * scale;
    ctx.textAlign = right ? 'right' : 'left';
    ctx.fillText('peak', x + (right ? -4 : 4) * scale, top + 11 * scale);
    ctx.restore();
  }

  function selected(u) {
    if (!history) return;
    const {left, width} = u.select;
    if (width < 3) return;
    const momentAt = (x) => history.nearest(u.posToVal(x, 'x'));
    range.choose(momentAt(left), momentAt(left + width));
    mark();  // where it snapped to, or what it was before
  }

  // Drawn with the chart, which lays itself out after it was made or resized.
  function mark(u = chart) {
    const [from, to] = chosen ? chosen.map((moment) =>
      u.valToPos(history.timeOf(moment), 'x')) : [0, 0];
    u.setSelect({left: from, width: to - from, top: 0, height: u.over.clientHeight}, false);
  }

  new ResizeObserver(() => {
    if (!chart || container.clientWidth === chart.width || container.clientWidth === 0) return;
    chart.setSize({width: container.clientWidth, height: HEIGHT});
  }).observe(container);

  return {
    update(view, changed) {
      chosen = view.range;
      if (!chart || changed.has('theme')) {
        colors = COLORS[effectiveTheme(view.theme)];
        if (chart) chart.redraw(false, true);
        else chart = new uPlot(options, dataOf(timeline), container);
      } else if (changed.has('range')) {
        mark();
      }
    },
  };
}

const dataOf = ({time_ms: time, heap_bytes: heap, rss_bytes: rss}) => [time, heap, rss];
const figure = (value) => value === null || value === undefined ? '–' : bytes(value);
const timeText = (ms) => ms === 0 ? '0'
    : ms < 1000 || ms % 1000 === 0 || ms >= 60000 ? shortDuration(ms)
    : `${(ms / 1000).toFixed(ms % 100 === 0 ? 1 : 2)} s`;
// "2 s", not "2.0 s": an axis has round numbers.
const shortDuration = (ms) => duration(ms).replace(/\.0 s$/, ' s').replace(/ 0 (s|min)$/, '');
