// The figures of `memprof stats`: facts, where the resident memory was, allocations by size and by
// function, and the places that allocated most.

import {byId, element} from './element.js';
import {bytes, duration, exact, measureExact, share, shortened} from './model/format.js';
import {signed} from './model/frame_text.js';

export function createStatisticsView(capture) {
  const container = byId('statistics');
  const {statistics, sampled} = capture;
  const about = sampled ? '≈ ' : '';
  const [bytesInAll, blocksInAll] = capture.totals.total;

  const part = (title, ...content) =>
    element('section', {className: 'panel'}, element('h2', {}, title), ...content);
  const cell = (text, title = '', more = '') =>
    element('td', {className: `number ${more}`.trim(), title}, text);
  const head = (...names) => element('thead', {}, element('tr', {}, ...names.map(([name, numeric, title]) =>
    element('th', {scope: 'col', className: numeric ? 'number' : '', title: title ?? ''}, name))));
  const lines = (notes) => notes.map((note) => element('p', {className: 'place'}, note));

  const facts = () => part('Figures', element('table', {className: 'facts'}, element('tbody', {},
      ...statistics.facts.map(([name, value]) => element('tr', {},
          element('th', {scope: 'row'}, name), element('td', {}, shortened(value, 4000)))))),
  ...lines(statistics.notes));

  // Rows with a bar, which is relative to the whole.
  function counts(title, name, rows, by) {
    const row = ({name: text, place, count: [size, blocks], rest}) => {
      const part = by === 'bytes' ? share(size, bytesInAll) : share(blocks, blocksInAll);
      const length = by === 'bytes' ? size / bytesInAll : blocks / blocksInAll;
      const bar = element('i', {className: 'bar'});
      bar.style.width = rest ? '0' : `${100 * (length || 0)}%`;
      return element('tr', {className: rest ? 'others' : ''},
          element('td', {className: 'key'}, shortened(text, 300),
              place ? element('div', {className: 'callers-line'}, place) : null),
          cell(exact(blocks), '', by === 'bytes' ? '' : 'current'),
          cell(bytes(size), measureExact(size, 'bytes'), by === 'bytes' ? 'current' : ''),
          cell(part), element('td', {className: 'bar-cell'}, bar));
    };
    return part(title, element('table', {className: 'sites counts'},
        head([name], [`${about}allocations`, true], [`${about}bytes`, true], ['share', true],
            ['', false, 'Share of the whole']),
        element('tbody', {}, ...rows.map(row)),
        element('tfoot', {}, element('tr', {className: 'total'}, element('td', {}, 'total'),
            cell(exact(blocksInAll)), cell(bytes(bytesInAll), measureExact(bytesInAll, 'bytes')),
            cell(share(1, 1)), element('td')))));
  }

  function memory() {
    const {time_ms: times, rss_bytes: rss, parts, notes} = statistics.memory;
    if (!times) return notes.length > 0 ? part('Where the resident memory is', ...lines(notes)) : null;
    const signedBytes = (value) => value < 0 ? signed(value, 'bytes') : bytes(value);
    return part('Where the resident memory is', element('table', {className: 'sites counts'},
        head(['part'], [`at ${duration(times[0])}`, true, 'When it was highest, of the moments that were measured'],
            [`at ${duration(times[1])}`, true, 'When it was measured last']),
        element('tbody', {}, ...parts.map(({meaning, bytes: values}) => element('tr', {},
            element('td', {className: 'key'}, meaning),
            ...values.map((value) => cell(signedBytes(value), measureExact(value, 'bytes')))))),
        element('tfoot', {}, element('tr', {className: 'total'}, element('td', {}, 'RSS'),
            ...rss.map((value) => cell(bytes(value), measureExact(value, 'bytes')))))),
    ...lines(notes));
  }

  function show({by, process}) {
    const {sizes, kinds, most_bytes: mostBytes, most_blocks: mostBlocks} = statistics;
    container.replaceChildren(...[
      process === null ? null : element('p', {className: 'whole-note'},
          'These figures are those of all processes together.'),
      sizes.length > 0 ? counts('Allocations by size', 'size', sizes, by)
          : part('Allocations by size', ...lines(['Not known: a merge keeps sizes only for all processes together.'])),
      counts('Allocations by function of the allocator', 'function', kinds, by),
      facts(),
      memory(),
      counts('Places that allocated most bytes', 'function', mostBytes, 'bytes'),
      counts('Places that allocated most often', 'function', mostBlocks, 'allocations'),
    ].filter(Boolean));
  }

  return {
    update(view, changed) {
      container.hidden = view.view !== 'statistics';
      if (container.hidden) container.replaceChildren();
      else if (container.childElementCount === 0 || changed.has('by') || changed.has('process')) show(view);
    },
  };
}
