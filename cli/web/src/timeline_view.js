// The heap and the RSS over time, stacked by the functions that hold most, and the range of it that the
// graph shows. A capture without a timeline has no chart; one without moments has a chart without a
// stack, in which no range can be chosen.

import uPlot from 'uplot';

import {bandAt, nearestMoment} from './model/bands.js';
import {byId, element} from './element.js';
import {bytes, duration, exact, measure, measureExact, plural, share, shortened} from './model/format.js';
import {effectiveTheme} from './theme.js';
import {chartColumns, drawsRss, peakOnCurve} from './model/timeline.js';
import {createTooltip} from './tooltip.js';

const HEIGHT = 118;
const BYTE_STEPS = Array.from({length: 50}, (_, i) => 2 ** i);
const TIME_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10]
    .flatMap((unit) => [unit, 2 * unit, 5 * unit]);

const COLORS = {
  light: {heap: '#8a4206', area: 'rgb(232 131 58 / 22%)', rss: '#4d6f9c', grid: '#ece7de',
    text: '#6d675e', peak: '#22201c'},
  dark: {heap: '#f0a35c', area: 'rgb(240 163 92 / 20%)', rss: '#86a9d6', grid: '#2d2a26',
    text: '#a29b8f', peak: '#ece7de'},
};

// The colour of a band, by its place in the stack from the bottom; page.css has both themes'. The
// others, at the top, have the last one.
export const bandColor = (place, others) => `var(--band-${place === others ? 'others' : place})`;

export function createTimelineView(capture, range, state) {
  const {timeline, program, history} = capture;
  const section = byId('timeline');
  section.hidden = !timeline || timeline.time_ms.length < 2;
  if (section.hidden) return {update() {}};
  const container = byId('timeline-chart');
  let colors = COLORS.light, chart = null, chosen = null, by = 'bytes', columns = null, rssDrawn = true;
  // The moment, and the band that the pointer is at.
  let pointed = null;
  const tip = createTooltip(byId('tooltip'), describe);

  const byTheme = (name) => () => colors[name];
  const fillOf = (place) => () => getComputedStyle(document.documentElement)
      .getPropertyValue(bandColor(place, columns.stack.bands.length).slice(4, -1));

  function optionsOf() {
    const axis = {stroke: byTheme('text'), font: '12px system-ui, sans-serif',
      grid: {stroke: byTheme('grid'), width: 1}, ticks: {show: false}};
    const figureText = (value) => by === 'bytes' ? bytes(value) : exact(value);
    const figure = (value) => value === null || value === undefined ? '–' : figureText(value);
    const line = {points: {show: false}, spanGaps: true, width: 1.5};
    // The highest edge first: each lower one is painted over it.
    const parts = columns.tops.map((_, place) => ({...line, class: 'band', width: 0, fill: fillOf(place)}));
    return {
      width: Math.max(320, container.clientWidth),
      height: HEIGHT,
      scales: {x: {time: false}, y: {range: (_, low, high) => [0, Math.max(1, high) * 1.05]}},
      axes: [
        {...axis, size: 26, incrs: TIME_STEPS, space: 90, values: (_, all) => all.map(timeText)},
        {...axis, size: 74, incrs: by === 'bytes' ? BYTE_STEPS : TIME_STEPS, space: 20,
          values: (_, all) => all.map(figureText)},
      ],
      series: [
        {label: 'Time', value: (_, ms) => ms === null || ms === undefined ? '' : timeText(ms)},
        ...parts.reverse(),
        {...line, label: by === 'bytes' ? 'Heap' : 'Live allocations', stroke: byTheme('heap'),
          ...(columns.stack ? {} : {fill: byTheme('area')}), value: (_, value) => figure(value)},
        ...(columns.rss ? [{...line, label: 'RSS', show: rssDrawn, stroke: byTheme('rss'), spanGaps: columns.stack !== null,
          value: (_, value) => figure(value)}] : []),
      ],
      cursor: {y: false, drag: {x: history !== null, y: false, setScale: false}},
      hooks: {draw: [drawPeak, mark], setSelect: [selected], setCursor: [point]},
    };
  }

  function draw() {
    columns = chartColumns(capture, by);
    chart?.destroy();
    chart = new uPlot(optionsOf(), [columns.time, ...[...columns.tops].reverse(), columns.curve,
      ...(columns.rss ? [columns.rss] : [])], container);
    chart.over.addEventListener('mouseleave', () => { pointed = null; tip.hide(); });
    chart.over.addEventListener('click', open);
  }

  function drawPeak(u) {
    const {peak_time_ms: at, peak_time_resolution_ms: resolution} = program;
    if (by !== 'bytes' || (at === 0 && resolution === 0)) return;
    const {left, top, width, height} = u.bbox;
    const curve = {time_ms: columns.time, heap_bytes: columns.curve};
    const x = Math.round(u.valToPos(peakOnCurve(curve, at, resolution), 'x', true));
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

  function point(u) {
    if (!columns.stack) return;
    const {left, top, event} = u.cursor;
    if (!event || left < 0 || top < 0) {
      pointed = null;
      return tip.hide();
    }
    const ms = u.posToVal(left, 'x'), {times} = columns.stack;
    if (ms < times[0] || ms > times.at(-1)) {
      pointed = null;
      return tip.hide();
    }
    pointed = {moment: nearestMoment(times, ms), band: bandAt(columns.stack, ms, u.posToVal(top, 'y'))};
    // Below the chart, which it would cover.
    tip.showAt(pointed, {left: event.clientX, bottom: u.over.getBoundingClientRect().bottom});
  }

  // The stack at a moment, from the top as it is drawn.
  function describe({moment, band}) {
    const {times, bands, others, total} = columns.stack;
    const row = (place, name, value) => value === 0 ? null
        : element('tr', {className: place === band ? 'current' : ''},
            element('td', {}, swatch(place, bands.length)),
            element('td', {className: 'band-name'}, shortened(name, 90)),
            element('td', {className: 'number', title: measureExact(value, by)}, measure(value, by)),
            element('td', {className: 'number share'}, share(value, total[moment])));
    return [
      element('p', {className: 'name'}, `Live at ${duration(times[moment])}: ${measure(total[moment], by)}` +
          (by === 'bytes' ? '' : ' allocations')),
      capture.bands.sourcesWithout > 0 ? element('p', {className: 'place'}, 'Without ' + plural(
          capture.bands.sourcesWithout, 'process', 'processes') + ' of which there is no history') : '',
      element('table', {className: 'frame-figures'}, element('tbody', {}, ...[
        row(bands.length, 'others', others[moment]),
        ...bands.map(({name, live}, place) => row(place, name, live[moment])).reverse()])),
    ];
  }

  // A click on a band, which isn't the end of a choice of a range, shows its function.
  function open() {
    if (!pointed || chart.select.width >= 3) return;
    const fn = columns.stack.bands[pointed.band]?.fn;
    if (fn !== undefined) state.set({view: 'functions', group: 'function', fn: String(fn)});
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

  const rssBox = byId('draw-rss');
  rssBox.addEventListener('change', () => state.set({rss: rssBox.checked ? 'show' : 'hide'}));

  new ResizeObserver(() => {
    if (!chart || container.clientWidth === chart.width || container.clientWidth === 0) return;
    chart.setSize({width: container.clientWidth, height: HEIGHT});
  }).observe(container);

  return {
    update(view, changed) {
      chosen = view.range;
      colors = COLORS[effectiveTheme(view.theme)];
      const wanted = capture.bands ? view.by : 'bytes', rss = drawsRss(capture, view.rss);
      rssBox.checked = rss;
      byId('rss-choice').hidden = wanted !== 'bytes' || !capture.bands;
      if (!chart || wanted !== by || rss !== rssDrawn) {
        by = wanted;
        rssDrawn = rss;
        draw();
      } else if (changed.has('theme')) {
        chart.redraw(false, true);
      } else if (changed.has('range')) {
        mark();
      }
      byId('timeline-whole').hidden = view.process === null;
    },
  };
}

export function swatch(place, others) {
  const made = element('i', {className: 'swatch'});
  made.style.background = bandColor(place, others);
  return made;
}

const timeText = (ms) => ms === 0 ? '0'
    : ms < 1000 || ms % 1000 === 0 || ms >= 60000 ? shortDuration(ms)
    : `${(ms / 1000).toFixed(ms % 100 === 0 ? 1 : 2)} s`;
// "2 s", not "2.0 s": an axis has round numbers.
const shortDuration = (ms) => duration(ms).replace(/\.0 s$/, ' s').replace(/ 0 (s|min)$/, '');
