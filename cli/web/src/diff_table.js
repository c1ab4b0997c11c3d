// The rows of a difference: by site, function or module; sorted by a click on a heading, filtered
// by the search. Rows that are not shown are summed in one row, so that the rows sum to the total
// below them.

import {changeOf, sideOf} from './model/diff_model.js';
import {element} from './element.js';
import {bytes, exact, plural} from './model/format.js';
import {makeMatcher} from './model/frame_matcher.js';

export const signed = (value, format) => (value > 0 ? '+' : value < 0 ? '−' : '') +
    format(Math.abs(value));
export const signClass = (value) => value > 0 ? 'more' : value < 0 ? 'less' : '';

const HEADINGS = [['change', 'Change'], ['allocations', 'Blocks'], ['before', 'Before'],
  ['after', 'After'], ['name', 'Function']];

const weightOf = {
  change: (figure) => Math.abs(changeOf(figure, 'bytes')),
  allocations: (figure) => Math.abs(changeOf(figure, 'allocations')),
  before: (figure) => sideOf(figure, 'bytes', 'before'),
  after: (figure) => sideOf(figure, 'bytes', 'after'),
  name: () => 0,
};

const sum = (rows, figure) => rows.reduce(
    (all, row) => all.map((value, i) => value + row[figure][i]), [0, 0, 0, 0]);

function line(figure, className, ...name) {
  const size = changeOf(figure, 'bytes'), blocks = changeOf(figure, 'allocations');
  const cell = (text, title, more = '') =>
      element('td', {className: `number ${more}`.trim(), title}, text);
  const side = (which) => cell(bytes(sideOf(figure, 'bytes', which)),
      `${plural(sideOf(figure, 'bytes', which), 'byte', 'bytes')} in ` +
      plural(sideOf(figure, 'allocations', which), 'allocation', 'allocations'));
  return element('tr', {className},
      cell(signed(size, bytes), plural(size, 'byte', 'bytes'), signClass(size)),
      cell(signed(blocks, exact), '', signClass(blocks)), side('before'), side('after'), ...name);
}

export function showTable(table, difference, {figure, by, sort, search}, onSort) {
  const rows = difference.tables[by];
  const isRest = (row) => row.rows !== undefined;
  const changed = rows.filter((row) => !isRest(row) && changedIn(row[figure]));
  const same = rows.filter((row) => !isRest(row) && !changedIn(row[figure]));
  const matches = makeMatcher(search);
  const found = (row) => !matches || matches(row.name) || matches(row.place) ||
      matches(row.module) || matches(row.callers);
  const shown = changed.filter(found), hidden = changed.filter((row) => !found(row));
  const weight = weightOf[sort];
  shown.sort((a, b) => weight(b[figure]) - weight(a[figure]) ||
      (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

  const body = shown.map((row) => line(row[figure], '',
      element('td', {title: row.module}, element('span', {className: 'name'}, row.name),
          row.callers ? element('span', {className: 'callers'}, `← ${row.callers}`) : null),
      element('td', {className: 'place'}, row.place)));
  const rest = (name, members, count) => {
    if (members.length === 0) return;
    body.push(line(sum(members, figure), 'rest',
        element('td', {colspan: '2'}, `${name} (${plural(count, 'row', 'rows')})`)));
  };
  const folded = (name) => rows.filter((row) => isRest(row) && row.name === name);
  const others = folded('others'), unchanged = [...same, ...folded('unchanged')];
  const count = (members) => members.reduce((all, row) => all + (row.rows ?? 1), 0);
  rest('not matching the search', hidden, hidden.length);
  rest('others', others, count(others));
  rest('unchanged', unchanged, count(unchanged));
  body.push(line(difference.totals[figure], 'whole', element('td', {colspan: '2'}, 'total')));

  const headings = HEADINGS.map(([key, label]) => {
    const button = element('button', {type: 'button'},
        (by === 'module' && key === 'name' ? 'Module' : label) + (key === sort ? ' ↓' : ''));
    button.addEventListener('click', () => onSort(key));
    return element('th', {scope: 'col', className: key === 'name' ? '' : 'number',
      'aria-sort': key === sort ? (key === 'name' ? 'ascending' : 'descending') : 'none'}, button);
  });
  table.replaceChildren(
      element('thead', {}, element('tr', {}, ...headings, element('th', {scope: 'col'}, 'Place'))),
      element('tbody', {}, ...body));
}

const changedIn = (figure) => figure[0] !== figure[2] || figure[1] !== figure[3];
