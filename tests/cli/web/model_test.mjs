// The page's modules that need no browser: figures, trees, search, numbers.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {buildTree, forEachNode, stackOf} from '../../../cli/web/src/call_tree.js';
import {buildCallerTree} from '../../../cli/web/src/caller_tree.js';
import {parseCapture, verify} from '../../../cli/web/src/capture.js';
import {createFigures} from '../../../cli/web/src/figures.js';
import {bytes, bytesWithError, duration, exact, measureWithError, share} from '../../../cli/web/src/format.js';
import {signed, stackText} from '../../../cli/web/src/frame_text.js';
import {Heap} from '../../../cli/web/src/heap.js';
import {markMatches} from '../../../cli/web/src/search.js';
import {filterSites, listSites, sortSites, stackOfSite} from '../../../cli/web/src/sites.js';
import {viewOf} from '../../../cli/web/src/view.js';

const SYSTEM = 1, ROW = 2;

// A capture of nodes [parent, function, kind, own peak bytes, own leaked bytes]; node 0 is added.
function capture(nodes, change = {}) {
  const own = nodes.map(([, , , peak = 0, leaked = 0]) => [peak, leaked]);
  const sum = (i) => own.reduce((total, row) => total + row[i], 0);
  const column = (i) => [0, ...own.map((row) => row[i])];
  const names = [...new Set(nodes.map(([, name, kind]) => `${kind}${name}`))];
  return parseCapture(JSON.stringify({
    program: {program: 'demo'},
    totals: {peak: [sum(0), 0], leaked: [sum(1), 0], total: [0, 0]},
    strings: ['', ...names.map((name) => name.slice(1))],
    frames: {function: names.map((_, i) => i + 1), file: names.map(() => 0),
      module: names.map(() => 0), lines: names.map(() => 0),
      kind: names.map((name) => Number(name[0])), inlined: names.map(() => 0)},
    nodes: {parent: [0, ...nodes.map(([parent]) => parent)],
      frame: [0, ...nodes.map(([, name, kind]) => names.indexOf(`${kind}${name}`))]},
    own: {node: column(0).map((_, i) => i), peak_bytes: column(0), peak_allocations: column(2).map(() => 0),
      leaked_bytes: column(1), leaked_allocations: column(1).map(() => 0),
      total_bytes: column(1).map(() => 0), total_allocations: column(1).map(() => 0)},
    ...change,
  }));
}

const shape = (node) => `${node.name}=${node.value}` +
    (node.children.length > 0 ? `(${node.children.map(shape).join(' ')})` : '');
const PEAK = {mode: 'peak', by: 'bytes', system: 'show', thread: null, range: null};
const HIDDEN = {...PEAK, system: 'hide'};
const treeOf = (data, view) => buildTree(data, createFigures(data), view);
const callersOf = (data, view, limit) => buildCallerTree(data, createFigures(data), view, limit);

//   main ─ std::sort ─ compare 5
//        └ compare 7 ─ malloc 1
//   start_thread 2 ─ malloc 4
const SMALL = [
  [0, 'main', 0], [1, 'std::sort', SYSTEM], [2, 'compare', 0, 5, 5], [1, 'compare', 0, 7],
  [4, 'malloc', SYSTEM, 1], [0, 'start_thread', SYSTEM, 2], [6, 'malloc', SYSTEM, 4],
];

test('the tree has every figure, the largest first', () => {
  assert.equal(shape(treeOf(capture(SMALL), PEAK).root),
      'demo=19(main=13(compare=8(malloc=1) std::sort=5(compare=5)) start_thread=6(malloc=4))');
});

test('a mode draws only what has a figure in it', () => {
  assert.equal(shape(treeOf(capture(SMALL), {...PEAK, mode: 'leaked'}).root),
      'demo=5(main=5(std::sort=5(compare=5)))');
});

test('errors are roots of summed variances; exact captures have none', () => {
  const zero = SMALL.map(() => 0).concat(0);
  const variances = Object.fromEntries(['peak', 'leaked', 'total'].flatMap((mode) =>
      ['bytes', 'allocations'].map((by) => [`${mode}_${by}`, zero])));
  const data = capture(SMALL, {sampled: {variances: {...variances,
    peak_bytes: [0, 0, 0, 9, 16, 0, 0, 144]}}});  // compare, compare, the last malloc
  const figures = createFigures(data);
  const errors = (view) => {
    const found = {};
    forEachNode(treeOf(data, view).root, (node) => {
      found[`${node.name}=${node.value}`] = figures.errorOfDrawn(PEAK, node);
    });
    return found;
  };
  assert.deepEqual(errors(PEAK), {'demo=19': 13, 'main=13': 5, 'std::sort=5': 3, 'compare=5': 3,
    'compare=8': 4, 'malloc=1': 0, 'start_thread=6': 12, 'malloc=4': 12});
  assert.deepEqual(errors(HIDDEN), {'demo=19': 13, 'main=13': 5, 'compare=13': 5,
    '[system frames]=6': 12});
  assert.equal(createFigures(capture(SMALL)).error(PEAK, [0]), 0);
  assert.equal(bytesWithError(12900000, 943718), '12.3 ± 0.9 MiB');
  assert.equal(bytesWithError(500, 20), '500 ± 20 B');
  assert.equal(bytesWithError(500, 0), '500 B');
  assert.equal(measureWithError(12345, 1234, 'allocations'), '12,345 ± 1,234');
});

test('hidden frames give their figures to their callers, or to a row with a name', () => {
  const data = capture(SMALL);
  const {root} = treeOf(data, HIDDEN);
  assert.equal(shape(root), 'demo=19(main=13(compare=13) [system frames]=6)');
  const figures = createFigures(data);
  forEachNode(root, (node) => assert.equal(figures.ofDrawn(HIDDEN, node), node.value));
});

test('a folded tree has no more below a frame than in it', () => {
  const random = (() => { let s = 7; return (n) => (s = s * 48271 % 2147483647) % n; })();
  const nodes = Array.from({length: 3000}, (_, i) =>
    [random(i + 1), `f${random(40)}`, random(3) === 0 ? SYSTEM : 0, random(100), random(9)]);
  const data = capture(nodes), figures = createFigures(data);
  for (const view of [PEAK, HIDDEN, {...HIDDEN, mode: 'leaked'}]) {
    const {root} = treeOf(data, view);
    assert.equal(root.value, data.total(view.mode, 'bytes'));
    forEachNode(root, (node) => {
      const below = node.children.reduce((sum, child) => sum + child.value, 0);
      assert.ok(below <= node.value, `${node.name}: ${below} > ${node.value}`);
      assert.equal(figures.ofDrawn(view, node), node.value);
      for (const child of node.children) assert.equal(child.parent, node);
    });
    // With the row for the hidden ones nothing of the root is without a name.
    assert.equal(root.children.reduce((sum, child) => sum + child.value, 0), root.value);
  }
});

test('a node that is not drawn is stood for by its nearest caller', () => {
  const data = capture(SMALL);
  assert.equal(treeOf(data, {...PEAK, mode: 'leaked'}).at('4').name, 'main');
  assert.equal(treeOf(data, HIDDEN).at('2').name, 'main');
  assert.equal(treeOf(data, HIDDEN).at('6').name, '[system frames]');
  assert.equal(treeOf(data, PEAK).at('123456').name, 'demo');
});

test('a row is never hidden', () => {
  const data = capture([[0, '[truncated]', ROW], [1, 'malloc', SYSTEM, 3]]);
  assert.equal(shape(treeOf(data, HIDDEN).root), 'demo=3([truncated]=3)');
});

test('rows that do not sum to the total are told', () => {
  assert.deepEqual(verify(capture(SMALL)), []);
  const wrong = capture(SMALL, {totals: {peak: [20, 0], leaked: [5, 0], total: [0, 0]}});
  assert.deepEqual(verify(wrong), ['The rows of peak bytes sum to 19, the capture says 20.']);
});

test('a search counts nested matches once and never the root', () => {
  const {root} = treeOf(capture(SMALL), PEAK);
  assert.deepEqual(markMatches(root, 'COMPARE'), {count: 2, value: 13});
  assert.deepEqual(markMatches(root, '/^(main|std::)/'), {count: 2, value: 13});
  assert.deepEqual(markMatches(root, 'demo'), {count: 0, value: 0});
  assert.deepEqual(markMatches(root, '.'), {count: 0, value: 0});
  assert.deepEqual(markMatches(root, '/(/'), {count: 0, value: 0});
  assert.equal(markMatches(root, '  '), null);
});

test('upside down, what allocated comes first and its callers below', () => {
  const data = capture(SMALL);
  assert.equal(shape(callersOf(data, PEAK).root),
      'demo=19(compare=12(main=7 std::sort=5(main=5)) malloc=5(start_thread=4 ' +
      'compare=1(main=1)) start_thread=2)');
  assert.equal(shape(callersOf(data, HIDDEN).root),
      'demo=19(compare=13(main=13) [system frames]=6)');
  assert.equal(shape(callersOf(data, {...PEAK, mode: 'leaked'}).root),
      'demo=5(compare=5(std::sort=5(main=5)))');
});

test('upside down, the functions are told alone if no callers are asked for', () => {
  assert.equal(shape(callersOf(capture(SMALL), PEAK, 0).root),
      'demo=19(compare=12 malloc=5 start_thread=2)');
});

test('upside down, a figure is the same in every mode, and callers have no more than their callee', () => {
  const random = (() => { let s = 11; return (n) => (s = s * 48271 % 2147483647) % n; })();
  const nodes = Array.from({length: 3000}, (_, i) =>
    [random(i + 1), `f${random(40)}`, random(3) === 0 ? SYSTEM : 0, random(100), random(9)]);
  const data = capture(nodes), figures = createFigures(data);
  for (const view of [PEAK, HIDDEN, {...HIDDEN, mode: 'leaked'}]) {
    for (const limit of [50, 1e6]) {
      const {root, at} = callersOf(data, view, limit);
      assert.equal(root.value, data.total(view.mode, 'bytes'));
      let pruned = 0;
      forEachNode(root, (node) => {
        const below = node.children.reduce((sum, child) => sum + child.value, 0);
        assert.ok(below <= node.value, `${node.name}: ${below} > ${node.value}`);
        assert.equal(figures.ofDrawn(view, node), node.value);
        if (node.name === '[pruned]') ++pruned;
        else assert.equal(at(node.zoom), node, `${node.name} ${node.zoom}`);
      });
      assert.equal(root.children.reduce((sum, child) => sum + child.value, 0), root.value);
      assert.equal(pruned > 0, limit === 50);
    }
  }
});

test('upside down, a link to a stack that is not drawn shows what is', () => {
  const data = capture(SMALL);
  assert.equal(callersOf(data, PEAK).at('3-1').name, 'main');
  assert.equal(callersOf(data, {...PEAK, mode: 'leaked'}).at('5-4').name, 'demo');
  assert.equal(callersOf(data, HIDDEN).at('7-6').name, '[system frames]');
  for (const link of ['', '4', '99-1', '0-0', '3-99']) callersOf(data, PEAK).at(link);
});

test('upside down, what is kept by design stays under its row and reason', () => {
  const data = capture([[0, 'main', 0], [1, 'load', 0, 10, 1], [0, '[runtime, kept by design]', ROW],
    [3, 'emergency pool', ROW], [4, 'pool', SYSTEM, 72], [3, 'stdio buffer', ROW], [6, 'load', 0, 4]]);
  assert.equal(shape(callersOf(data, PEAK).root), 'demo=86([runtime, kept by design]=76(' +
      'emergency pool=72 stdio buffer=4) load=10(main=10))');
  assert.equal(callersOf(data, PEAK).at('7-6').name, 'stdio buffer');
});

test('a heap gives what comes first', () => {
  const heap = new Heap((a, b) => a > b);
  const values = Array.from({length: 200}, (_, i) => i * 7919 % 211);
  for (const value of values) heap.push(value);
  const popped = [];
  while (heap.size > 0) popped.push(heap.pop());
  assert.deepEqual(popped, values.sort((a, b) => b - a));
});

// Rows [node, thread, bytes at the peak] of SMALL's nodes.
function threaded() {
  const rows = [[3, 0, 5], [4, 0, 3], [4, 1, 4], [5, 1, 1], [6, 0, 2], [7, 1, 4]];
  const column = rows.map(([, , value]) => value), zero = rows.map(() => 0);
  return capture(SMALL, {threads: ['main', 'worker'], own: {node: rows.map(([node]) => node),
    thread: rows.map(([, thread]) => thread), peak_bytes: column, peak_allocations: zero,
    leaked_bytes: zero, leaked_allocations: zero, total_bytes: zero, total_allocations: zero}});
}

test('a thread has its own part of every figure', () => {
  const data = threaded();
  assert.equal(shape(treeOf(data, {...PEAK, thread: 1}).root),
      'demo=9(main=5(compare=5(malloc=1)) start_thread=4(malloc=4))');
  const [all, main, worker] = [null, 0, 1].map((thread) =>
      createFigures(data).total({...PEAK, thread}));
  assert.deepEqual([all, main, worker], [19, 10, 9]);
});

// SMALL with what was live at moments 10, 20 and 30 ms: compare (3) 5 9 2, malloc (7) 0 1 8.
const withHistory = (change = {}) => capture(SMALL, {
  moments: {interval_ms: 10, time_ms: [10, 20, 30], heap_bytes: [5, 10, 10], inexact: [0, 0, 0]},
  history: {node: [3, 7], changes: [3, 2], moment: [0, 1, 2, 1, 2], bytes: [5, 4, -7, 1, 7],
    allocations: [1, 0, 0, 1, 1], ...change}});

test('a range shows live at its end minus live at its start', () => {
  const data = withHistory(), figures = createFigures(data);
  const tree = (mode, range) => shape(buildTree(data, figures, {...PEAK, mode, range}).root);
  assert.equal(tree('grew', [-1, 0]), 'demo=5(main=5(std::sort=5(compare=5)))');
  assert.equal(tree('grew', [0, 2]), 'demo=8(start_thread=8(malloc=8))');
  assert.equal(tree('shrank', [0, 2]), 'demo=3(main=3(std::sort=3(compare=3)))');
  assert.equal(tree('shrank', [-1, 2]), 'demo=0');
  assert.deepEqual(verify({...data, modes: []}), []);
  assert.deepEqual(verify({...withHistory({bytes: [5, 4, -6, 1, 7]}), modes: []}),
      ['The rows at 30 ms sum to 11, the capture says 10.']);
});

test('a range snaps to the nearest moments and needs two', () => {
  const data = withHistory();
  const range = (text) => viewOf(data, {mode: 'grew', range: text, thread: ''}).range;
  assert.deepEqual(range('0-30'), [-1, 2]);
  assert.deepEqual(range('14-26'), [0, 2]);
  assert.deepEqual(range('14-1000000'), [0, 2]);
  assert.equal(range('30-10'), null);
  assert.equal(range('11-12'), null);
  assert.equal(viewOf(data, {mode: 'grew', range: '', thread: ''}).mode, 'peak');
  assert.equal(viewOf(capture(SMALL), {mode: 'grew', range: '0-30', thread: ''}).mode, 'peak');
  assert.equal(viewOf(capture(SMALL), {mode: 'temporary', range: '', thread: '7'}).mode, 'peak');
});

test('sites are named by what is no plumbing, and filtered by their whole stack', () => {
  const data = capture(SMALL);
  const sites = listSites(data);
  assert.deepEqual(sites.map(({node, name}) => [node, name]), [[1, 'main'], [2, 'main'],
    [3, 'compare'], [4, 'compare'], [5, 'compare'], [6, 'start_thread'], [7, 'malloc']]);
  assert.equal(sites[4].callers, '← main');
  assert.deepEqual(filterSites(data, sites, 'sort').map(({node}) => node), [2, 3]);
  assert.deepEqual(filterSites(data, sites, ' ').length, 7);
  const own = createFigures(data).own(PEAK);
  const sorted = (valueOf, order) => sortSites(sites, valueOf, order).map(({node}) => node);
  assert.deepEqual(sorted(({node}) => own[node], 'down'), [4, 3, 7, 6, 5, 1, 2]);
  assert.deepEqual(sorted(({node}) => own[node], 'up'), [1, 2, 5, 6, 7, 3, 4]);
  assert.deepEqual(sorted(({name}) => name, 'down'), [3, 4, 5, 1, 2, 7, 6]);
  assert.deepEqual(stackOfSite(data, {node: 3}).map(({name}) => name), ['compare', 'std::sort', 'main']);
});

test('a stack is copied innermost first, whichever way it is drawn', () => {
  const data = capture(SMALL);
  const names = (node, direction) => stackOf(node, direction).map(({name}) => name);
  assert.deepEqual(names(treeOf(data, PEAK).at('5'), 'callees'), ['malloc', 'compare', 'main']);
  assert.deepEqual(names(callersOf(data, PEAK).at('5-1'), 'callers'), ['malloc', 'compare', 'main']);
  assert.equal(stackText([{name: 'f(int)', place: 'f.cc:3', module: '/bin/p'},
    {name: 'g', place: '', module: '/lib/l.so'}, {name: '[truncated]', place: '', module: ''}]),
  '#0 f(int) at f.cc:3\n#1 g in /lib/l.so\n#2 [truncated]');
});

test('signs are shown', () => {
  assert.deepEqual([1536, -12, 0].map((value) => signed(value, 'bytes')), ['+1.5 KiB', '−12 B', '±0 B']);
});

test('numbers are shown as people read them', () => {
  assert.deepEqual([0, 1, 1023, 1024, 10239, 1048575, 1048576, 5e9, 2 ** 60].map(bytes),
      ['0 B', '1 B', '1023 B', '1.0 KiB', '10.0 KiB', '1.0 MiB', '1.0 MiB', '4.7 GiB', '1.0 EiB']);
  assert.equal(exact(1234567), '1,234,567');
  assert.equal(exact(2 ** 60), '≈ 1,152,921,504,606,847,000');
  assert.deepEqual([share(1, 3), share(0, 3), share(3, 3), share(1, 1e6), share(999999, 1e6), share(0, 0)],
      ['33.3%', '0.0%', '100.0%', '< 0.1%', '> 99.9%', '-']);
  assert.deepEqual([5, 1500, 61210, 3600000, 90061000].map(duration),
      ['5 ms', '1.5 s', '1 min 1 s', '1 h 0 min', '1 d 1 h 1 min']);
});
