// The table of functions with their self and inclusive figures over the whole profile, and the
// chosen function between its callers and callees. Grouped by file or module it has self figures only:
// how inclusive ones overlap isn't known.

import {KIND_ROW, RANGE_MODES, hidesKind} from './model/capture.js';
import {byId, element} from './element.js';
import {baseName, exact, measure, measureExact, plural, share, shortened} from './model/format.js';
import {makeFrameMatcher} from './model/frame_matcher.js';
import {groupFunctions} from './model/functions.js';
import {showSandwich} from './sandwich_view.js';
import {sortSites} from './model/sites.js';
import {shortPlace, sortHeading} from './table.js';
import {modeLabel} from './model/view.js';

const ROWS = 100;
const NAME_LIMIT = 300;

export function createFunctionsView(capture, figures, state, toolbar) {
  const container = byId('functions');
  const {functions} = capture;
  let view = null, limit = ROWS;

  const chosen = () => view.fn !== '' && Number(view.fn) < functions.count ? Number(view.fn) : null;
  const choose = (fn) => state.set({fn: fn === chosen() ? '' : String(fn)});

  // The chosen figure's own and inclusive one, then the own ones of the other figures.
  function columns() {
    const of = (mode) => figures.functions({...view, mode});
    const here = of(view.mode);
    return [
      {key: 'self', label: `${modeLabel(capture, view.mode)}, self`, values: here.self, current: true,
        title: view.system === 'hide' ? 'By the innermost function that is no system code'
            : 'By the function that called the allocator'},
      {key: 'inclusive', label: 'Inclusive', values: here.inclusive, current: true,
        title: 'By every function in the stack; a stack counts once'},
      ...capture.modes.filter((mode) => mode !== view.mode).map((mode) => (
        {key: mode, label: `${modeLabel(capture, mode)}, self`, values: of(mode).self})),
    ].map((column) => ({...column, numeric: true}));
  }

  const figure = (value, {current} = {}) => element('td',
      {className: `number${current ? ' current' : ''}`, title: measureExact(value, view.by)},
      measure(value, view.by));

  function row(fn, shown, total) {
    const {function: name, file, module} = functions.frame[fn];
    const button = element('button', {type: 'button', className: 'site link',
      'aria-expanded': String(fn === chosen()), title: shortened(name, 2000)},
    shortened(name, NAME_LIMIT));
    const line = element('tr', {className: 'site-row', 'data-function': String(fn)},
        element('td', {}, button),
        element('td', {className: 'where', title: file || module},
            file ? shortened(shortPlace(file), 80) : baseName(module)),
        ...shown.flatMap((column) => column.current
            ? [figure(column.values[fn], column),
              element('td', {className: 'number'}, share(column.values[fn], total))]
            : [figure(column.values[fn])]));
    line.addEventListener('click', (event) => {
      if (getSelection().toString() === '' || event.target === button) choose(fn);
    });
    return line;
  }

  // Self figures only: inclusive ones overlap.
  function sumRow(className, label, some, shown, total) {
    const sum = (values) => some.reduce((all, fn) => all + values[fn], 0);
    return element('tr', {className}, element('td', {colspan: '2'}, label),
        ...shown.flatMap((column) => column.key === 'inclusive'
            ? [element('td', {className: 'number'}), element('td', {})]
            : column.current
            ? [figure(sum(column.values), column),
              element('td', {className: 'number'}, share(sum(column.values), total))]
            : [figure(sum(column.values))]));
  }

  function show() {
    if (RANGE_MODES.includes(view.mode)) {
      container.replaceChildren(element('p', {className: 'empty'},
          'A range of time is known by place, not by function: choose Sites or the graph, or a figure above.'));
      toolbar.showMatches(null);
      return;
    }
    if (view.group !== 'function') return showGroups();
    const shown = columns(), total = figures.total(view);
    const keys = ['function', 'place', ...shown.map(({key}) => key)];
    const sort = keys.includes(view.sort) ? view.sort : 'self';
    const isShown = (fn) => fn !== functions.otherFunctions &&
        !hidesKind(view, functions.frame[fn].kind) &&
        shown.some(({values}) => values[fn] > 0);
    const all = functions.frame.map((_, fn) => fn).filter(isShown);
    const test = makeFrameMatcher(view.search);
    const found = test ? all.filter((fn) => test(functions.frame[fn])) : all;
    const {values} = shown.find(({key}) => key === sort) ?? {};
    const valueOf = sort === 'function' ? ({node}) => functions.frame[node].function
        : sort === 'place' ? ({node}) => functions.frame[node].file || baseName(functions.frame[node].module)
        : ({node}) => values[node];
    const sorted = sortSites(found.map((node) => ({node})), valueOf, view.order).map(({node}) => node);
    const body = sorted.slice(0, limit).map((fn) => row(fn, shown, total));
    const rest = sorted.slice(limit);
    if (rest.length > 0) {
      const more = element('button', {type: 'button', className: 'link', id: 'more-functions'},
          `${plural(rest.length, 'more function', 'more functions')}: show ${Math.min(ROWS, rest.length)}`);
      more.addEventListener('click', () => { limit += ROWS; show(); });
      body.push(sumRow('others', more, rest, shown, total));
    }
    if (test) {
      const isFound = new Set(found), others = all.filter((fn) => !isFound.has(fn));
      body.push(sumRow('others', `${plural(others.length, 'function', 'functions')} without a match`,
          others, shown, total));
    }
    const {otherFunctions} = functions;
    if (otherFunctions >= 0) {
      body.push(sumRow('others', plural(functions.others, 'smaller function, which the page does not name',
          'smaller functions, which the page does not name'), [otherFunctions], shown, total));
    }
    const heads = [{key: 'function', label: 'Function', numeric: false},
      {key: 'place', label: 'File or module', numeric: false}, ...shown];
    container.replaceChildren(...(chosen() === null ? [] : 
        [showSandwich(capture, figures, view, chosen(), {choose, show: (change) => state.set(change)})]),
        element('table', {className: 'sites'},
            element('thead', {}, element('tr', {}, ...heads.flatMap((head) => [
              sortHeading(state, view, sort, head),
              ...(head.current ? [element('th', {scope: 'col', className: 'number'}, 'Share')] : [])]))),
            element('tbody', {}, ...body),
            element('tfoot', {}, sumRow('total', 'total',
                otherFunctions >= 0 ? [...all, otherFunctions] : all, shown, total))));
    if (!test) return toolbar.showMatches(null);
    const value = found.reduce((sum, fn) => sum + shown[0].values[fn], 0);
    toolbar.showMatches({value, upTo: value, count: found.length}, total, 'function');
  }

  function showGroups() {
    const shown = columns().filter(({key}) => key !== 'inclusive'), total = figures.total(view);
    const test = makeFrameMatcher(view.search);
    const matches = (fn) => !test || test(functions.frame[fn]);
    const sum = (members, values) => members.reduce((all, fn) => all + values[fn], 0);
    const groups = groupFunctions(functions, view.group)
        .map((group) => ({...group, members: group.members.filter(matches)}))
        .map((group) => ({...group, sums: shown.map(({values}) => sum(group.members, values))}))
        .filter(({sums}) => sums.some((value) => value > 0));
    const sort = Math.max(0, shown.findIndex(({key}) => key === view.sort));
    const byName = view.sort === 'function' || view.sort === 'place';
    const sign = view.order === 'up' ? -1 : 1;
    groups.sort((a, b) => sign * (byName ? (a.name < b.name ? -1 : 1) : b.sums[sort] - a.sums[sort]));
    const cells = (sums) => shown.flatMap((column, i) => column.current
        ? [figure(sums[i], column), element('td', {className: 'number'}, share(sums[i], total))]
        : [figure(sums[i])]);
    const row = ({name, path, members, sums}) => {
      const button = element('button', {type: 'button', className: 'link', title: path},
          shortened(name || `${view.group} not known`, NAME_LIMIT));
      // Its functions.
      button.disabled = name === '' || functions.frame[members[0]].kind === KIND_ROW;
      button.addEventListener('click', () => state.set({group: 'function', search: name}));
      return element('tr', {className: 'group-row'}, element('td', {}, button),
          element('td', {className: 'number'}, exact(members.length)), ...cells(sums));
    };
    const sums = shown.map((_, i) => groups.reduce((all, group) => all + group.sums[i], 0));
    const heads = [{key: 'function', label: view.group === 'file' ? 'File' : 'Module', numeric: false},
      null, ...shown];
    container.replaceChildren(element('table', {className: 'sites'},
        element('thead', {}, element('tr', {}, ...heads.flatMap((head) => head === null
            ? [element('th', {scope: 'col', className: 'number'}, 'Functions')]
            : [sortHeading(state, view, byName ? 'function' : shown[sort].key, head),
              ...(head.current ? [element('th', {scope: 'col', className: 'number'}, 'Share')] : [])]))),
        element('tbody', {}, ...groups.slice(0, limit).map(row), ...moreGroups(groups, cells, shown)),
        element('tfoot', {}, element('tr', {className: 'total'},
            element('td', {colspan: '2'}, test ? 'total of the matches' : 'total'), ...cells(sums)))));
    toolbar.showMatches(test ? {value: sums[0], upTo: sums[0], count: groups.length} : null, total,
        view.group);
  }

  function moreGroups(groups, cells, shown) {
    const rest = groups.slice(limit);
    if (rest.length === 0) return [];
    const more = element('button', {type: 'button', className: 'link'},
        `${plural(rest.length, 'more row', 'more rows')}: show ${Math.min(ROWS, rest.length)}`);
    more.addEventListener('click', () => { limit += ROWS; show(); });
    return [element('tr', {className: 'others'}, element('td', {colspan: '2'}, more),
        ...cells(shown.map((_, i) => rest.reduce((all, {sums}) => all + sums[i], 0))))];
  }

  return {
    update(now, changed) {
      if (view !== null && (changed.has('search') || changed.has('sort') || changed.has('group'))) limit = ROWS;
      view = now;
      container.hidden = now.view !== 'functions';
      if (container.hidden) {
        container.replaceChildren();
      } else if (!(changed.size === 1 && changed.has('theme'))) {
        show();
        if (changed.has('fn') && chosen() !== null) {
          byId('toolbar').scrollIntoView({block: 'start', behavior: 'smooth'});
        }
      }
    },
  };
}
