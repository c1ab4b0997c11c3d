// The page's modules that need no browser: figures, trees, search, numbers.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {bandAt, nearestMoment, stackOf as bandsOf} from '../../../cli/web/src/model/bands.js';
import {buildTree, forEachNode, stackOf} from '../../../cli/web/src/model/call_tree.js';
import {carriedOver} from '../../../cli/web/src/model/carry_over.js';
import {buildCallerTree} from '../../../cli/web/src/model/caller_tree.js';
import {parseCapture, verify} from '../../../cli/web/src/model/capture.js';
import {createFigures} from '../../../cli/web/src/model/figures.js';
import {bytes, bytesWithError, duration, exact, measureWithError, share} from '../../../cli/web/src/model/format.js';
import {signed, stackText} from '../../../cli/web/src/model/frame_text.js';
import {Heap} from '../../../cli/web/src/model/heap.js';
import {ITSELF, NOBODY, NOT_DRAWN, sandwichOf} from '../../../cli/web/src/model/sandwich.js';
import {markMatches, shareOfMatches} from '../../../cli/web/src/model/search.js';
import {isApart, processRows} from '../../../cli/web/src/model/processes.js';
import {createRestriction} from '../../../cli/web/src/model/restriction.js';
import {giveWide} from '../../../cli/web/src/model/wide_nodes.js';
import {segmentsOf} from '../../../cli/web/src/rss_strip.js';
import {filterSites, listSites, prunedNodes, sortSites, stackOfSite} from '../../../cli/web/src/model/sites.js';
import {chartColumns, drawsRss, peakOnCurve} from '../../../cli/web/src/model/timeline.js';
import {viewOf} from '../../../cli/web/src/model/view.js';
import {naiveFunctions} from './naive_functions.mjs';

const SYSTEM = 1, ROW = 2, INTERPRETER = 3;

// A capture of nodes [parent, function, kind, own peak bytes, own leaked bytes]; node 0 is added.
const capture = (nodes, change = {}) => parseCapture(JSON.stringify(dataOf(nodes, change)));

function dataOf(nodes, change = {}) {
  const own = nodes.map(([, , , peak = 0, leaked = 0]) => [peak, leaked]);
  const sum = (i) => own.reduce((total, row) => total + row[i], 0);
  const column = (i) => [0, ...own.map((row) => row[i])];
  const names = [...new Set(nodes.map(([, name, kind]) => `${kind}${name}`))];
  const data = {
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
  };
  data.functions ??= naiveFunctions(data);
  return data;
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

//   eval ─ leak ─ eval ─ build 3 ─ new_keys 4         eval, where no Python function stands for it, 2
const PYTHON = [[0, 'eval', INTERPRETER], [1, 'leak', 0], [2, 'eval', INTERPRETER], [3, 'build', 0, 3],
  [4, 'new_keys', INTERPRETER, 4], [0, 'eval', 0, 2]];

test('the interpreter is hidden where Python functions stand for it, and shown on request', () => {
  const data = capture(PYTHON), shown = {...HIDDEN, interpreter: 'show'};
  assert.deepEqual(verify(data), []);
  assert.equal(shape(treeOf(data, {...HIDDEN, interpreter: 'hide'}).root),
      'demo=9(leak=7(build=7) eval=2)');
  assert.equal(shape(treeOf(data, shown).root),
      'demo=9(eval=7(leak=7(eval=7(build=7(new_keys=4)))) eval=2)');
  // With the system's frames all are shown.
  assert.equal(shape(treeOf(data, PEAK).root), shape(treeOf(data, shown).root));
  const [site] = listSites(data).filter(({node}) => node === 5);
  assert.deepEqual([site.name, site.callers], ['build', '← leak']);
  const names = (view) => stackOfSite(data, site, view).map(({name}) => name);
  assert.deepEqual(names({...HIDDEN, interpreter: 'hide'}), ['build', 'leak']);
  assert.deepEqual(names(shown), ['new_keys', 'build', 'eval', 'leak', 'eval']);
  assert.equal(shareOfMatches(data, createFigures(data), {...HIDDEN, interpreter: 'hide'}, 'eval').value, 2);
  const located = createFigures(data).functions({...HIDDEN, interpreter: 'hide'}).self;
  assert.deepEqual(data.functions.frame.flatMap(({function: name, kind}, fn) =>
    located[fn] > 0 ? [[name, kind, located[fn]]] : []), [['build', 0, 7], ['eval', 0, 2]]);
});

//   main ─ walk 1 ─ visit ─ walk 2                main ─ walk ×3
//               └ walk ─ walk 4 ─ copy 8      ─►         │   ├ visit ─ walk
//                    └ copy 16                           └   └ copy 24
test('a function that calls itself is one frame, and keeps every byte', () => {
  const data = capture([[0, 'main', 0], [1, 'walk', 0, 1], [2, 'visit', 0], [3, 'walk', 0, 2],
    [2, 'walk', 0], [5, 'walk', 0, 4], [6, 'copy', 0, 8], [5, 'copy', 0, 16]]);
  const folded = {...PEAK, recursion: 'fold'}, figures = createFigures(data);
  const {root, at} = treeOf(data, folded);
  assert.equal(shape(root), 'demo=31(main=31(walk ×3=31(copy=24 visit=2(walk=2))))');
  forEachNode(root, (node) => assert.equal(figures.ofDrawn(folded, node), node.value));
  assert.equal(at('6').name, 'walk ×3');
  assert.equal(shape(callersOf(data, folded).root),
      'demo=31(copy=24(walk ×3=24(main=24)) walk ×3=7(main=5 visit=2(walk=2(main=2))))');
  assert.match(shape(treeOf(data, PEAK).root), /walk=31\(walk=28\(copy=16 walk=12\(copy=8\)\) visit/);
  // A hidden frame between two of them doesn't part them.
  const sorted = capture([[0, 'walk', 0, 1], [1, 'std::sort', SYSTEM], [2, 'walk', 0, 2]]);
  assert.equal(shape(treeOf(sorted, {...folded, system: 'hide'}).root), 'demo=3(walk ×2=3)');
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
  assert.deepEqual(verify(wrong), ['The rows of peak bytes sum to 19, the capture says 20.',
    'The functions of peak bytes sum to 19, the capture says 20.',
    'The functions with hidden system frames of peak bytes sum to 19, the capture says 20.']);
});

// main ─ std::sort ─ compare 5, main ─ compare 7 ─ malloc 1, start_thread 2 ─ malloc 4
test('only the stacks with a match are drawn, whichever way', () => {
  const data = capture(SMALL), restriction = createRestriction(data, createFigures(data));
  const drawn = (change, build = buildTree) => {
    const view = {...PEAK, ...change};
    return shape(build(data, restriction.figures(view), view).root);
  };
  assert.equal(drawn({only: 'SORT'}), 'demo=5(main=5(std::sort=5(compare=5)))');
  assert.equal(drawn({only: '/malloc$/'}),
      'demo=5(start_thread=4(malloc=4) main=1(compare=1(malloc=1)))');
  assert.equal(drawn({only: '/malloc$/', system: 'hide'}), 'demo=5([system frames]=4 main=1(compare=1))');
  assert.equal(drawn({only: 'sort'}, buildCallerTree), 'demo=5(compare=5(std::sort=5(main=5)))');
  assert.equal(drawn({only: 'nowhere'}), 'demo=0');
  assert.equal(drawn({only: '/(/'}), 'demo=0');
  assert.equal(drawn({only: '  '}), drawn({}));
  assert.equal(restriction.figures({...PEAK, only: 'sort', merge: 'x'}).total(PEAK), 5);
  // The rest, and both together.
  assert.equal(drawn({without: 'SORT'}),
      'demo=14(main=8(compare=8(malloc=1)) start_thread=6(malloc=4))');
  assert.equal(drawn({without: 'sort'}, buildCallerTree),
      'demo=14(compare=7(main=7) malloc=5(start_thread=4 compare=1(main=1)) start_thread=2)');
  assert.equal(drawn({only: 'main', without: '/malloc|sort/'}), 'demo=7(main=7(compare=7))');
  assert.equal(drawn({without: '/main|thread/'}), 'demo=0');
  assert.equal(drawn({without: '/(/'}), drawn({}));
});

test('what is merged gives its figures to its callers, and the sum stays', () => {
  const data = capture(SMALL), restriction = createRestriction(data, createFigures(data));
  const drawn = (change, build = buildTree) => {
    const view = {...PEAK, ...change}, figures = restriction.figures(view);
    const {root} = build(data, figures, view);
    forEachNode(root, (node) => assert.equal(figures.ofDrawn(view, node), node.value));
    return shape(root);
  };
  assert.equal(drawn({merge: 'compare'}),
      'demo=19(main=13(std::sort=5 malloc=1) start_thread=6(malloc=4))');
  assert.equal(drawn({merge: '/^(main|compare)$/'}),
      'demo=19([merged frames]=7 start_thread=6(malloc=4) std::sort=5 malloc=1)');
  assert.equal(drawn({merge: 'malloc'}, buildCallerTree),
      'demo=19(compare=13(main=8 std::sort=5(main=5)) start_thread=6)');
  assert.equal(drawn({merge: 'compare', only: 'sort'}), 'demo=5(main=5(std::sort=5))');
  assert.equal(drawn({merge: '/(/'}), drawn({}));
});

test('a search counts nested matches once and never the root', () => {
  const data = capture(SMALL), {root} = treeOf(data, PEAK);
  const search = (term) => {
    const found = shareOfMatches(data, createFigures(data), PEAK, term);
    assert.equal(found.value, found.upTo);  // nothing is pruned
    return {count: markMatches(root, term), value: found.value};
  };
  assert.deepEqual(search('COMPARE'), {count: 2, value: 13});
  assert.deepEqual(search('/^(main|std::)/'), {count: 2, value: 13});
  assert.deepEqual(search('demo'), {count: 0, value: 0});
  assert.deepEqual(search('.'), {count: 0, value: 0});
  assert.deepEqual(search('/(/'), {count: 0, value: 0});
  assert.equal(markMatches(root, '  '), null);
  assert.equal(shareOfMatches(data, createFigures(data), PEAK, '  '), null);
});

// What the executable writes of this if only some nodes may stay. `node` has 17 in all.
//   main ─ load ─ node 6                 main ─ load ─ node 6
//        ├ read ─ node 5        ─►            └ [pruned] 11
//        └ node 4 ─ copy 2
const WHOLE = [[0, 'main', 0], [1, 'load', 0], [2, 'node', 0, 6, 3], [1, 'read', 0],
  [4, 'node', 0, 5], [1, 'node', 0, 4], [6, 'copy', 0, 2]];
function prunedCapture() {
  const data = dataOf(WHOLE);
  data.strings.push('[pruned]');
  const columns = {function: data.strings.length - 1, kind: ROW};
  for (const [name, column] of Object.entries(data.frames)) column.push(columns[name] ?? 0);
  const frameOf = (name) => data.frames.function.findIndex((index) => data.strings[index] === name);
  data.nodes = {parent: [0, 0, 1, 2, 1], frame: [0, ...['main', 'load', 'node', '[pruned]'].map(frameOf)]};
  for (const name of Object.keys(data.own)) data.own[name] = [0, 0];
  Object.assign(data.own, {node: [3, 4], peak_bytes: [6, 11], leaked_bytes: [3, 0]});
  return parseCapture(JSON.stringify(data));
}

test('functions have their whole figures, whatever is pruned', () => {
  const data = prunedCapture(), figures = createFigures(data);
  assert.deepEqual(verify(data), []);
  const {root} = buildCallerTree(data, figures, PEAK);
  // 9 of node's 15 bytes come from frames that aren't drawn; no holder is called [pruned].
  assert.equal(shape(root),
      'demo=17(node=15([pruned]=9 load=6(main=6)) copy=2([pruned]=2))');
  forEachNode(root, (node) => assert.equal(figures.ofDrawn(PEAK, node), node.value));
  const leaked = root.children.map((node) => figures.ofDrawn({...PEAK, mode: 'leaked'}, node));
  assert.deepEqual(leaked, [3, 0]);
  const {at} = buildCallerTree(data, figures, PEAK);
  for (const node of root.children) assert.equal(at(node.zoom).name, node.name);
  assert.equal(shape(buildCallerTree(data, figures, PEAK, 0).root), 'demo=17(node=15 copy=2)');
});

test('functions that the page does not tell apart are one row', () => {
  const data = prunedCapture();
  // As if only main and copy had fitted.
  const {functions} = data, node = functions.frame.findIndex(({function: name}) => name === 'node');
  functions.frame[node] = {...functions.frame[node], function: '[other functions]', kind: ROW};
  for (const [key, fn] of [...functions.index]) if (fn === node) functions.index.delete(key);
  Object.assign(functions, {otherFunctions: node, others: 1});
  const {root} = callersOf(data, PEAK);
  assert.equal(shape(root), 'demo=17([other functions]=15([pruned]=9 node=6(load=6(main=6)))' +
      ' copy=2([pruned]=2))');
  forEachNode(root, (drawn) => {
    assert.equal(createFigures(data).ofDrawn(PEAK, drawn), drawn.value, drawn.name);
  });
  const {value, upTo} = shareOfMatches(data, createFigures(data), PEAK, 'node');
  assert.deepEqual([value, upTo], [6, 17]);
});

test('a search is exact for a function, and says what it is over otherwise', () => {
  const data = prunedCapture(), figures = createFigures(data);
  const search = (term) => {
    const {value, upTo} = shareOfMatches(data, figures, PEAK, term);
    return [value, upTo];
  };
  assert.deepEqual(search('node'), [17, 17]);  // 6 of it are drawn
  assert.deepEqual(search('copy'), [2, 2]);    // nothing of it is
  assert.deepEqual(search('main'), [17, 17]);
  assert.deepEqual(search('/read|load/'), [6, 11]);  // 11: whether both are in one stack isn't known
  assert.deepEqual(search('nowhere'), [0, 0]);
});

// "load 6, itself 5" of a function's callers or callees.
function neighbours(data, view, name, side) {
  const fn = data.functions.frame.findIndex(({function: text}) => text === name);
  const found = sandwichOf(data, createFigures(data), view, fn);
  assert.equal(found[side].reduce((sum, {value}) => sum + value, 0), found.inclusive);
  const words = {[ITSELF]: 'itself', [NOBODY]: 'nobody', [NOT_DRAWN]: 'not drawn'};
  return found[side].map((one) => `${one.frame?.function ?? words[one.fn]} ${one.value}`).join(', ');
}

test('a function stands between its callers and what it calls', () => {
  const whole = capture(WHOLE), of = (name, side) => neighbours(whole, PEAK, name, side);
  assert.equal(of('node', 'callers'), 'load 6, main 6, read 5');
  assert.equal(of('node', 'callees'), 'itself 15, copy 2');
  assert.equal(of('main', 'callers'), 'nobody 17');
  assert.equal(of('main', 'callees'), 'load 6, node 6, read 5');
  const pruned = prunedCapture();
  assert.equal(neighbours(pruned, PEAK, 'node', 'callers'), 'load 6, not drawn 11');
  assert.equal(neighbours(pruned, PEAK, 'node', 'callees'), 'itself 15, not drawn 2');
  assert.equal(neighbours(pruned, PEAK, 'main', 'callees'), 'load 6, not drawn 11');
  // Recursion counts once: the caller of the outermost frame, the callee of the innermost one.
  const deep = capture([[0, 'main', 0], [1, 'walk', 0, 1], [2, 'visit', 0], [3, 'walk', 0, 4],
    [4, 'copy', 0, 8], [5, 'malloc', SYSTEM, 16]]);
  assert.equal(neighbours(deep, PEAK, 'walk', 'callers'), 'main 29');
  assert.equal(neighbours(deep, PEAK, 'walk', 'callees'), 'copy 24, itself 5');
  assert.equal(neighbours(deep, HIDDEN, 'copy', 'callees'), 'itself 24');
  assert.equal(neighbours(deep, PEAK, 'copy', 'callees'), 'malloc 16, itself 8');
});

test('what was pruned is no site', () => {
  const data = prunedCapture();
  assert.deepEqual(listSites(data).map(({name}) => name), ['node']);
  assert.deepEqual(prunedNodes(data), [4]);
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

test('what is not resident has no room in the strip of RSS', () => {
  const widths = (...sizes) => segmentsOf(sizes.map((bytes) => ({bytes}))).map(([, width]) => width);
  assert.deepEqual(widths(60, 20, 20), [0.6, 0.2, 0.2]);
  assert.deepEqual(widths(60, -10, 50), [0.5, 0.5]);
  assert.deepEqual(widths(60, 10, -30, 40, 20), [0.4, 0.4, 0.2]);
  assert.deepEqual(widths(10, -30, 40), [1]);
  assert.deepEqual(widths(), []);
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

test('the peak is marked where the curve is highest within the bound of its time', () => {
  const timeline = {time_ms: [0, 100, 200, 300, 400], heap_bytes: [0, 70, 90, 80, 95]};
  assert.equal(peakOnCurve(timeline, 250, 60), 200);
  assert.equal(peakOnCurve(timeline, 400, 200), 400);
  assert.equal(peakOnCurve(timeline, 250, 10), 250);  // no point within the bound
});

// compare 5 9 2 and malloc 0 1 8 at moments 10, 20 and 30 ms, as withHistory; `names` have bands.
function withBands(names, change = {}) {
  const live = {compare: [5, 9, 2], malloc: [0, 1, 8]}, blocks = {compare: [1, 1, 1], malloc: [0, 100, 200]};
  const history = {moments: {interval_ms: 10, time_ms: [10, 20, 30], heap_bytes: [5, 10, 10],
    allocations: [1, 101, 201], inexact: [0, 0, 0]},
  history: {node: [3, 7], changes: [3, 2], moment: [0, 1, 2, 1, 2], bytes: [5, 4, -7, 1, 7],
    allocations: [1, 0, 0, 100, 100]}};
  const data = dataOf(SMALL, history);
  const index = (name) => data.strings.indexOf(name);
  const others = (of) => [0, 1, 2].map((i) => Object.keys(of).filter((name) => !names.includes(name))
      .reduce((sum, name) => sum + of[name][i], 0));
  data.bands = {time_ms: [10, 20, 30], functions: names.map((name) => ({function: index(name), file: 0,
    module: 0, kind: 0, bytes: live[name], allocations: blocks[name]})),
  others: {bytes: others(live), allocations: others(blocks)}, ...change};
  return parseCapture(JSON.stringify(data));
}

test('the stack of the timeline sums to the curve at every moment, in both measures', () => {
  const data = withBands(['compare', 'malloc']);
  const stack = (by, most) => bandsOf(data.bands, by, most);
  const text = ({bands, others}) => [...bands.map(({name, live}) => `${name} ${live}`), `others ${others}`];
  assert.deepEqual(text(stack('bytes')), ['compare 5,9,2', 'malloc 0,1,8', 'others 0,0,0']);
  // By allocations another function holds most.
  assert.deepEqual(text(stack('allocations')), ['malloc 0,100,200', 'compare 1,1,1', 'others 0,0,0']);
  assert.deepEqual(text(stack('bytes', 1)), ['compare 5,9,2', 'others 0,1,8']);
  const {fn} = stack('bytes').bands[0];
  assert.equal(data.functions.frame[fn].function, 'compare');
  for (const by of ['bytes', 'allocations']) {
    for (const most of [0, 1, 8]) {
      const {bands, others, total} = stack(by, most);
      total.forEach((sum, i) => {
        assert.equal(bands.reduce((all, {live}) => all + live[i], others[i]), sum);
        assert.equal(sum, data.moments[by === 'bytes' ? 'heap_bytes' : 'allocations'][i]);
      });
    }
  }
  assert.deepEqual(verify({...data, modes: []}), []);
  const wrong = withBands(['compare'], {others: {bytes: [0, 2, 8], allocations: [0, 100, 200]}});
  assert.deepEqual(verify({...wrong, modes: []}),
      ['The bands of bytes at 20 ms sum to 11, the capture says 10.']);
  assert.equal(capture(SMALL).bands, null);
});

test('the chart has the moments in its curve, and the timeline between them', () => {
  const data = withBands(['compare', 'malloc']);
  data.timeline = {time_ms: [0, 15, 20, 40], heap_bytes: [0, 7, 9, 3], rss_bytes: [100, 200, null, 300]};
  const {time, curve, rss, tops, stack} = chartColumns(data, 'bytes');
  assert.deepEqual(time, [0, 10, 15, 20, 30, 40]);
  assert.deepEqual(curve, [0, 5, 7, 10, 10, 3]);
  assert.deepEqual(rss, [100, undefined, 200, null, undefined, 300]);
  assert.deepEqual(tops.at(-1), [undefined, 5, undefined, 10, 10, undefined]);
  assert.equal(tops.length, 3);
  time.forEach((ms, i) => { if (stack.times.includes(ms)) assert.equal(tops.at(-1)[i], curve[i]); });
  // In a merge the moments may be those of some captures only.
  const some = {timeline: data.timeline, bands: {...data.bands, sourcesWithout: 1}};
  assert.deepEqual(chartColumns(some, 'bytes').curve, [0, undefined, 7, 9, undefined, 3]);
  const blocks = chartColumns(data, 'allocations');
  assert.deepEqual([blocks.time, blocks.curve, blocks.rss], [[10, 20, 30], [1, 101, 201], null]);
  const alone = chartColumns({timeline: data.timeline, bands: null}, 'bytes');
  assert.deepEqual([alone.time, alone.stack, alone.tops], [data.timeline.time_ms, null, []]);
});

test('an RSS of more than twice the heap is drawn if the reader asks for it', () => {
  const {bands} = withBands(['compare']);
  const draws = (rss, wanted = 'auto', stacked = bands) => drawsRss(
      {timeline: {heap_bytes: [1, 10, 3], rss_bytes: [null, rss, 2]}, bands: stacked}, wanted);
  assert.deepEqual([draws(20), draws(21), draws(21, 'show'), draws(20, 'hide')], [true, false, true, false]);
  assert.equal(draws(21, 'auto', null), true);  // nothing to see but two lines
});

test('the pointer is at the band that is drawn there', () => {
  const stack = bandsOf(withBands(['compare', 'malloc']).bands, 'bytes', 1);  // compare 5 9 2, others 0 1 8
  assert.equal(bandAt(stack, 10, 4), 0);
  assert.equal(bandAt(stack, 10, 6), -1);
  assert.equal(bandAt(stack, 15, 6.9), 0);  // compare is at 7 there
  assert.equal(bandAt(stack, 15, 7.2), 1);
  assert.equal(bandAt(stack, 30, 9), 1);
  assert.equal(bandAt(stack, 30, 1), 0);
  assert.equal(bandAt(stack, 5, 1), -1);
  assert.equal(bandAt(stack, 31, 1), -1);
  assert.deepEqual([0, 14, 16, 99].map((ms) => nearestMoment(stack.times, ms)), [0, 0, 1, 2]);
});

// SMALL as a merge of three processes: the first two are kept apart.
function merge() {
  const data = dataOf(SMALL);
  const zero = (rows) => Object.fromEntries(['peak', 'leaked', 'total'].flatMap((mode) =>
      ['bytes', 'allocations'].map((by) => [`${mode}_${by}`, rows.map(() => 0)])));
  const process = (pid, own) => {
    const rows = {node: own.map(([node]) => node), ...zero(own), peak_bytes: own.map(([, value]) => value)};
    const sum = own.reduce((all, [, value]) => all + value, 0);
    // The whole's functions, in its numbers.
    const functions = naiveFunctions({...data, own: rows});
    const number = (fn) => data.functions.function.indexOf(functions.function[fn]);
    for (const table of ['self', 'located', 'inclusive']) functions[table].of = functions[table].of.map(number);
    return {program: `p${pid}`, pid, command: [], own_peak: [sum, 0], own: rows, functions,
      totals: {peak: [sum, 0], leaked: [0, 0], total: [0, 0]}};
  };
  data.processes = {count: 3, listed: [process(1, [[3, 5], [4, 2]]), process(2, [[4, 5], [7, 4]]),
    {program: 'p3', pid: 3, command: [], own_peak: [3, 0]}],
  together: {count: 1, totals: {peak: [3, 0], leaked: [5, 0], total: [0, 0]}}};
  return parseCapture(JSON.stringify(data));
}

test('a process of a merge has its own part of every figure', () => {
  const data = merge(), figures = createFigures(data);
  assert.deepEqual(verify(data), []);
  const of = (process) => shape(treeOf(data, {...PEAK, process}).root);
  assert.equal(of(0), 'p1=7(main=7(std::sort=5(compare=5) compare=2))');
  assert.equal(of(1), 'p2=9(main=5(compare=5) start_thread=4(malloc=4))');
  assert.equal(of(null), shape(treeOf(data, PEAK).root));
  assert.equal(shape(callersOf(data, {...PEAK, process: 1}).root),
      'p2=9(compare=5(main=5) malloc=4(start_thread=4))');
  assert.deepEqual([null, 0, 1].map((process) => figures.total({...PEAK, process})), [19, 7, 9]);
  const compare = data.functions.frame.findIndex(({function: name}) => name === 'compare');
  assert.equal(sandwichOf(data, figures, {...PEAK, process: 0}, compare).inclusive, 7);
});

test('only a process that is kept apart can be chosen, and not in a range', () => {
  const data = merge();
  const chosen = (process, mode = 'peak') => viewOf(data, {mode, range: '', thread: '', process}).process;
  assert.deepEqual(['', '0', '1', '2', '3', '99'].map((process) => chosen(process)),
      [null, 0, 1, null, null, null]);
  assert.equal(viewOf(capture(SMALL), {mode: 'peak', range: '', thread: '', process: '0'}).process, null);
  const ranged = withHistory();
  ranged.processes = data.processes;
  const view = (mode) => viewOf(ranged, {mode, range: '0-30', thread: '', process: '0'});
  assert.deepEqual([view('grew').process, view('grew').range], [null, [-1, 2]]);
  assert.deepEqual([view('peak').process, view('peak').range], [0, null]);
});

test('the table of processes has what the merge knows, and sums to the whole', () => {
  const data = merge();
  const {rows, together, unlisted} = processRows(data.processes, PEAK);
  assert.deepEqual(rows.map(({process}) => process.pid), [2, 1, 3]);
  assert.equal(unlisted, 0);
  assert.deepEqual(rows[2].figures, {peak: [3, 0]});  // nothing else is known of it alone
  for (const mode of ['peak', 'leaked', 'total']) {
    const sum = rows.filter(({process}) => isApart(process))
        .reduce((all, {figures}) => all + figures[mode][0], together.totals[mode][0]);
    assert.equal(sum, data.totals[mode][0]);
  }
});

test('a page that lacks a part shows the graph in its place', () => {
  const view = (data, wanted) => viewOf(data, {mode: 'peak', range: '', thread: '', view: wanted}).view;
  assert.equal(view(capture(SMALL), 'processes'), 'graph');
  assert.equal(view(capture(SMALL), 'statistics'), 'graph');
  assert.equal(view(capture(SMALL), 'held'), 'graph');
  assert.equal(view(merge(), 'processes'), 'processes');
  assert.equal(view(capture(SMALL, {statistics: {facts: []}}), 'statistics'), 'statistics');
});

test('only what is wide enough is given to the drawing, and all of what is zoomed to', () => {
  // main with a hundred functions of 1, 2, … 100, each with a callee.
  const nodes = [[0, 'main', 0]];
  for (let i = 1; i <= 100; ++i) nodes.push([1, `f${i}`, 0], [2 * i, `g${i}`, 0, i]);
  const {root, at} = treeOf(capture(nodes), PEAK);
  const main = root.children[0];
  const {nodes: given, left} = giveWide(root, root, 673);  // two fifteenths of a pixel a byte
  assert.equal(left, 0);
  assert.equal(given.length, 2 + 2 * main.c.length);
  assert.deepEqual(main.c.map(({value}) => value), Array.from({length: 85}, (_, i) => 100 - i));
  assert.equal(main.children.length, 100);
  const small = at('2');  // f1
  assert.deepEqual(giveWide(root, small, 673).nodes.map(({name}) => name), ['demo', 'main', 'f1', 'g1']);
  assert.deepEqual([root.fade, main.fade, small.fade], [true, true, false]);
  // The widest of too many: the root, main, and of the functions with their callees 100 to 98.
  const some = giveWide(root, root, 673, 7);
  assert.deepEqual(some.nodes.map(({name}) => name), ['demo', 'main', 'f100', 'g100', 'f99', 'g99', 'f98']);
  assert.equal(some.left, given.length - 7);
  assert.deepEqual(main.c.map(({name}) => name), ['f100', 'f99', 'f98']);
  assert.deepEqual(main.c[2].c, []);
});

test('what is zoomed to is found in another look, whatever its number there', () => {
  const before = capture([[0, 'main', 0], [1, 'grow', 0, 5], [1, 'other', 0, 1]]);
  const after = capture([[0, 'start', 0, 1], [0, 'main', 0], [2, 'first', 0, 2], [2, 'grow', 0, 9]]);
  const state = {zoom: '2', thread: '', process: '', fn: ''};
  assert.equal(carriedOver(state, before, after).zoom, '4');
  assert.equal(carriedOver({...state, zoom: '2-1'}, before, after).zoom, '4-1');
  assert.equal(carriedOver({...state, zoom: '3'}, before, after).zoom, '');
  assert.equal(carriedOver({...state, zoom: '99999'}, before, after).zoom, '');
  const at = (look, name) => look.functions.frame.findIndex((frame) => frame.function === name);
  const fn = String(at(before, 'grow'));
  assert.equal(carriedOver({...state, fn}, before, after).fn, String(at(after, 'grow')));
  assert.equal(carriedOver({...state, zoom: `f${fn}`}, before, after).zoom, `f${at(after, 'grow')}`);
  assert.equal(carriedOver({...state, fn: String(at(before, 'other'))}, before, after).fn, '');
});
