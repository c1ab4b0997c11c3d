// The table of sites: sorted, filtered by the search, each with its full stack. Only as many rows
// are made as can be read; the others are summed in one row, so that the rows sum to the total.

import {RANGE_MODES} from './model/capture.js';
import {copyButton} from './copy.js';
import {byId, element} from './element.js';
import {baseName, measure, measureExact, plural, share, shortened} from './model/format.js';
import {rowsOf} from './model/figures.js';
import {figuresTable} from './figures_table.js';
import {signed, stackText} from './model/frame_text.js';
import {shareOfMatches} from './model/search.js';
import {filterSites, listSites, prunedNodes, sortSites, stackOfSite} from './model/sites.js';
import {shortPlace, sortHeading} from './table.js';
import {modeLabel} from './model/view.js';

const ROWS = 100;
const NAME_LIMIT = 300;

export function createSitesView(capture, figures, state, toolbar) {
  const container = byId('sites');
  const open = new Set();  // nodes whose stack is shown
  let sites = null, pruned = null, view = null, limit = ROWS;

  const isRange = () => RANGE_MODES.includes(view.mode);
  const keyOfMode = () => isRange() ? 'range' : view.mode;
  const columns = () => [...capture.modes, ...(view.range ? ['range'] : [])];
  // The figures of a column: an array by node.
  function valuesOf(column) {
    if (column !== 'range') return figures.own({...view, mode: column});
    const grew = figures.own({...view, mode: 'grew'});
    const shrank = figures.own({...view, mode: 'shrank'});
    return grew.map((value, node) => value - shrank[node]);
  }

  function headings(sort) {
    const heading = (key, label, numeric) => sortHeading(state, view, sort, {key, label, numeric});
    return element('tr', {}, heading('function', 'Function', false),
        heading('place', 'Place', false),
        ...columns().map((column) => heading(column,
            column === 'range' ? 'In the range' : modeLabel(capture, column), true)),
        element('th', {scope: 'col', className: 'number'}, 'Share'));
  }

  const figure = (column, value) => element('td',
      {className: `number${column === keyOfMode() ? ' current' : ''}`,
        title: column === 'range' ? '' : measureExact(value, view.by)},
      column === 'range' ? signed(value, view.by) : measure(value, view.by));

  function row(site, values, total) {
    const name = element('button', {type: 'button', className: 'site link',
      'aria-expanded': String(open.has(site.node)), title: shortened(site.name, 2000)},
    shortened(site.name, NAME_LIMIT));
    const line = element('tr', {className: 'site-row'}, element('td', {}, name,
        site.callers ? element('div', {className: 'callers-line'}, site.callers) : null,
        runningMark(site)),
        element('td', {className: 'where', title: site.place || site.module},
            site.place ? shortened(shortPlace(site.place), 80) : baseName(site.module)),
        ...columns().map((column) => figure(column, values.get(column)[site.node])),
        element('td', {className: 'number'}, share(values.get('share')[site.node], total)));
    line.addEventListener('click', (event) => {
      if (getSelection().toString() !== '' && event.target !== name) return;
      if (!open.delete(site.node)) open.add(site.node);
      show();
      container.querySelector(`[data-site="${site.node}"] .site`)?.focus();
    });
    line.dataset.site = site.node;
    return open.has(site.node) ? [line, details(site)] : [line];
  }

  // The part of a leak that isn't one yet: its threads go on. It is known for all threads together.
  function runningMark({node}) {
    const part = capture.running.get(node);
    if (part === undefined || view.mode !== 'leaked' || view.process !== null || view.thread !== null) {
      return null;
    }
    const value = part[view.by], all = figures.own(view)[node];
    if (all === 0) return null;
    const whose = 'of threads that still ran at the end';
    return element('div', {className: 'callers-line running'},
        value === all ? `all of it ${whose}` : `${measure(value, view.by)} of it ${whose}`);
  }

  function details(site) {
    const stack = stackOfSite(capture, site, view);
    const graph = element('button', {type: 'button', className: 'quiet'}, 'Show in the graph');
    graph.addEventListener('click', () => state.set({view: 'graph', direction: 'callees',
      zoom: String(site.node)}));
    const frames = stack.map(({name, place, module, system}) => element('li',
        {className: system ? 'system' : ''},
        element('span', {className: 'name'}, shortened(name, 20000)), ' ',
        element('span', {className: 'place'}, [place, module].filter(Boolean).join(' · '))));
    return element('tr', {className: 'details'},
        element('td', {colspan: String(columns().length + 3)},
            element('div', {className: 'site-details'},
                element('ol', {className: 'stack', start: '0'}, ...frames),
                element('div', {},
                    figuresTable(capture, figures, {ids: [site.node], ownOnly: true}, view),
                    threadsOf(site),
                    element('div', {className: 'actions'}, copyButton(() => stackText(stack)),
                        graph)))));
  }

  // The names of its threads, heaviest first.
  function threadsOf({node}) {
    const {threads} = capture, rows = rowsOf(capture, view.process);
    if (rows.thread === null || isRange()) return null;
    const column = rows.columns[`${view.mode}_${view.by}`];
    const parts = [];
    rows.node.forEach((at, i) => {
      if (at === node && column[i] > 0) parts.push([threads[rows.thread[i]], column[i]]);
    });
    if (parts.length === 0) return null;
    parts.sort((a, b) => b[1] - a[1]);
    return element('p', {className: 'place'}, `Threads: ${parts.slice(0, 8).map(([name, value]) =>
      `${name} ${measure(value, view.by)}`).join(', ')}` +
        (parts.length > 8 ? `, and ${parts.length - 8} more` : ''));
  }

  function sumRow(className, label, some, values, total) {
    const sum = (column) => some.reduce((all, {node}) => all + values.get(column)[node], 0);
    return element('tr', {className}, element('td', {colspan: '2'}, label),
        ...columns().map((column) => figure(column, sum(column))),
        element('td', {className: 'number'}, share(sum('share'), total)));
  }

  function show() {
    sites ??= listSites(capture);
    pruned ??= prunedNodes(capture).map((node) => ({node}));
    const values = new Map(columns().map((column) => [column, valuesOf(column)]));
    values.set('share', figures.own(view));
    const total = figures.total(view);
    const sort = view.sort === '' || (view.sort === 'range' && !view.range) ||
        !['function', 'place', ...columns()].includes(view.sort) ? keyOfMode() : view.sort;
    const valueOf = sort === 'function' ? ({name}) => name
        : sort === 'place' ? ({place, module}) => place || baseName(module)
        : ({node}) => values.get(sort)[node];
    // A process of a merge has only some of them.
    const present = view.process === null ? sites
        : sites.filter(({node}) => columns().some((column) => values.get(column)[node] !== 0));
    const found = filterSites(capture, present, view.search);
    const sorted = sortSites(found, valueOf, view.order);
    const shown = sorted.slice(0, limit), rest = sorted.slice(limit);
    const isFound = new Set(found);
    const others = found.length === present.length ? [] : present.filter((site) => !isFound.has(site));
    const body = shown.flatMap((site) => row(site, values, total));
    if (rest.length > 0) {
      const more = element('button', {type: 'button', className: 'link', id: 'more-sites'},
          `${plural(rest.length, 'more site', 'more sites')}: show ${Math.min(ROWS, rest.length)}`);
      more.addEventListener('click', () => { limit += ROWS; show(); });
      body.push(sumRow('others', more, rest, values, total));
    }
    if (others.length > 0) {
      body.push(sumRow('others', `${plural(others.length, 'site', 'sites')} without a match`,
          others, values, total));
    }
    if (pruned.length > 0) {
      body.push(sumRow('others pruned', 'smaller places, which the page does not list', pruned,
          values, total));
    }
    container.replaceChildren(element('table', {className: 'sites'},
        element('thead', {}, headings(sort)), element('tbody', {}, ...body),
        element('tfoot', {}, sumRow('total', 'total', [...sites, ...pruned], values, total))));
    const matches = shareOfMatches(capture, figures, {...view, system: 'show'}, view.search);
    toolbar.showMatches(matches && {...matches, count: found.length}, total, 'site', 'listed');
  }

  return {
    update(now, changed) {
      if (view !== null && (changed.has('search') || changed.has('sort'))) limit = ROWS;
      view = now;
      container.hidden = now.view !== 'sites';
      if (container.hidden) container.replaceChildren();
      else if (!(changed.size === 1 && changed.has('theme'))) show();
    },
  };
}
