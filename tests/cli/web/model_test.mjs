// The page's modules that need no browser: figures, trees, search, numbers.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {buildTree, errorOf, figureOf, forEachNode} from '../../../cli/web/src/call_tree.js';
import {parseCapture, verify} from '../../../cli/web/src/capture.js';
import {bytes, bytesWithError, duration, exact, measureWithError, share} from '../../../cli/web/src/format.js';
import {markMatches} from '../../../cli/web/src/search.js';

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
const PEAK = {mode: 'peak', by: 'bytes', system: 'show'};
const HIDDEN = {...PEAK, system: 'hide'};

//   main ─ std::sort ─ compare 5
//        └ compare 7 ─ malloc 1
//   start_thread 2 ─ malloc 4
const SMALL = [
  [0, 'main', 0], [1, 'std::sort', SYSTEM], [2, 'compare', 0, 5, 5], [1, 'compare', 0, 7],
  [4, 'malloc', SYSTEM, 1], [0, 'start_thread', SYSTEM, 2], [6, 'malloc', SYSTEM, 4],
];

test('the tree has every figure, the largest first', () => {
  assert.equal(shape(buildTree(capture(SMALL), PEAK).root),
      'demo=19(main=13(compare=8(malloc=1) std::sort=5(compare=5)) start_thread=6(malloc=4))');
});

test('a mode draws only what has a figure in it', () => {
  assert.equal(shape(buildTree(capture(SMALL), {...PEAK, mode: 'leaked'}).root),
      'demo=5(main=5(std::sort=5(compare=5)))');
});

test('errors are roots of summed variances; exact captures have none', () => {
  const zero = SMALL.map(() => 0).concat(0);
  const variances = Object.fromEntries(['peak', 'leaked', 'total'].flatMap((mode) =>
      ['bytes', 'allocations'].map((by) => [`${mode}_${by}`, zero])));
  const data = capture(SMALL, {sampled: {variances: {...variances,
    peak_bytes: [0, 0, 0, 9, 16, 0, 0, 144]}}});  // compare, compare, the last malloc
  const errors = (view) => {
    const found = {};
    forEachNode(buildTree(data, view).root, (node) => {
      found[`${node.name}=${node.value}`] = errorOf(data, node, 'peak', 'bytes');
    });
    return found;
  };
  assert.deepEqual(errors(PEAK), {'demo=19': 13, 'main=13': 5, 'std::sort=5': 3, 'compare=5': 3,
    'compare=8': 4, 'malloc=1': 0, 'start_thread=6': 12, 'malloc=4': 12});
  assert.deepEqual(errors(HIDDEN), {'demo=19': 13, 'main=13': 5, 'compare=13': 5,
    '[system frames]=6': 12});
  assert.equal(capture(SMALL).error('peak', 'bytes', [0]), 0);
  assert.equal(bytesWithError(12900000, 943718), '12.3 ± 0.9 MiB');
  assert.equal(bytesWithError(500, 20), '500 ± 20 B');
  assert.equal(bytesWithError(500, 0), '500 B');
  assert.equal(measureWithError(12345, 1234, 'allocations'), '12,345 ± 1,234');
});

test('hidden frames give their figures to their callers, or to a row with a name', () => {
  const data = capture(SMALL);
  const {root} = buildTree(data, HIDDEN);
  assert.equal(shape(root), 'demo=19(main=13(compare=13) [system frames]=6)');
  forEachNode(root, (node) => assert.equal(figureOf(data, node, 'peak', 'bytes'), node.value));
});

test('a folded tree has no more below a frame than in it', () => {
  const random = (() => { let s = 7; return (n) => (s = s * 48271 % 2147483647) % n; })();
  const nodes = Array.from({length: 3000}, (_, i) =>
    [random(i + 1), `f${random(40)}`, random(3) === 0 ? SYSTEM : 0, random(100), random(9)]);
  const data = capture(nodes);
  for (const view of [PEAK, HIDDEN, {...HIDDEN, mode: 'leaked'}]) {
    const {root} = buildTree(data, view);
    assert.equal(root.value, data.total(view.mode, 'bytes'));
    forEachNode(root, (node) => {
      const below = node.children.reduce((sum, child) => sum + child.value, 0);
      assert.ok(below <= node.value, `${node.name}: ${below} > ${node.value}`);
      assert.equal(figureOf(data, node, view.mode, 'bytes'), node.value);
      for (const child of node.children) assert.equal(child.parent, node);
    });
    // With the row for the hidden ones nothing of the root is without a name.
    assert.equal(root.children.reduce((sum, child) => sum + child.value, 0), root.value);
  }
});

test('a node that is not drawn is stood for by its nearest caller', () => {
  const data = capture(SMALL);
  assert.equal(buildTree(data, {...PEAK, mode: 'leaked'}).at(4).name, 'main');
  assert.equal(buildTree(data, HIDDEN).at(2).name, 'main');
  assert.equal(buildTree(data, HIDDEN).at(6).name, '[system frames]');
  assert.equal(buildTree(data, PEAK).at(123456).name, 'demo');
});

test('a row is never hidden', () => {
  const data = capture([[0, '[truncated]', ROW], [1, 'malloc', SYSTEM, 3]]);
  assert.equal(shape(buildTree(data, HIDDEN).root), 'demo=3([truncated]=3)');
});

test('rows that do not sum to the total are told', () => {
  assert.deepEqual(verify(capture(SMALL)), []);
  const wrong = capture(SMALL, {totals: {peak: [20, 0], leaked: [5, 0], total: [0, 0]}});
  assert.deepEqual(verify(wrong), ['The rows of peak bytes sum to 19, the capture says 20.']);
});

test('a search counts nested matches once and never the root', () => {
  const {root} = buildTree(capture(SMALL), PEAK);
  assert.deepEqual(markMatches(root, 'COMPARE'), {frames: 2, value: 13});
  assert.deepEqual(markMatches(root, '/^(main|std::)/'), {frames: 2, value: 13});
  assert.deepEqual(markMatches(root, 'demo'), {frames: 0, value: 0});
  assert.deepEqual(markMatches(root, '.'), {frames: 0, value: 0});
  assert.deepEqual(markMatches(root, '/(/'), {frames: 0, value: 0});
  assert.equal(markMatches(root, '  '), null);
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
