// A page of a capture with everything that one may have: temporaries, threads, a timeline and what
// was live at moments. Made of the page `known`, whose nodes the history is given to.
import {readFileSync, writeFileSync} from 'node:fs';

const ELEMENT = /(<script type="application\/json" id="capture">)([^]*?)(<\/script>)/;

// Writes a page that has another page's data, changed.
export function writeChanged(from, to, change) {
  const page = readFileSync(from, 'utf8');
  const data = JSON.parse(ELEMENT.exec(page)[2]);
  change(data);
  const text = JSON.stringify(data).replaceAll('<', '\\u003c');
  writeFileSync(to, page.replace(ELEMENT, (_, open, __, close) => open + text + close));
}

// Live bytes of two places at moments 1 s, 2 s, … 8 s; both leave what `known` says is leaked.
//   Parse(char const*)          0 100,000 300,000 700,000 700,000 600,000 200,000 4,000
//   Session::Session(int)  50,000  50,000 170,000 170,000  20,000  20,000       0     0
export const HISTORY = {
  'Parse(char const*)': [0, 100000, 300000, 700000, 700000, 600000, 200000, 4000],
  'Session::Session(int)': [50000, 50000, 170000, 170000, 20000, 20000, 0, 0],
};

export function addHistory(data) {
  const nameOf = (node) => data.strings[data.frames.function[data.nodes.frame[node]]];
  const owner = (name) => data.own.node.find((node) => node > 0 &&
      [node, data.nodes.parent[node]].some((n) => n > 0 && nameOf(n) === name));
  const history = {node: [], changes: [], moment: [], bytes: [], allocations: []};
  const heap = new Array(8).fill(0);
  for (const [name, live] of Object.entries(HISTORY)) {
    history.node.push(owner(name));
    let before = 0, changes = 0;
    live.forEach((bytes, moment) => {
      heap[moment] += bytes;
      if (bytes === before) return;
      history.moment.push(moment);
      history.bytes.push(bytes - before);
      history.allocations.push(Math.sign(bytes - before));
      before = bytes;
      ++changes;
    });
    history.changes.push(changes);
  }
  const seconds = [1, 2, 3, 4, 5, 6, 7, 8];
  data.moments = {interval_ms: 1000, time_ms: seconds.map((s) => 1000 * s),
    inexact: [0, 0, 0, 0, 0, 1, 0, 0], heap_bytes: heap, allocations: heap.map(() => 1)};
  data.history = history;
  data.program.peak_time_ms = 3500;
  addMemory(data);
  data.program.duration_ms = 8200;
  addTimeline(data, heap);
}

export function addMemory(data) {
  data.mapped = {peak: [5 << 20, 20], end: [1 << 20, 4]};
  const parts = {live: [1 << 20, 'live requested bytes'],
    not_resident: [-(1 << 18), 'of the above, never touched or given back'],
    mapped: [5 << 20, 'mapped by the program'], files: [1 << 20, 'the program and its libraries'],
    stacks: [1 << 18, 'stacks'], tracker: [1 << 20, "memprof's own"]};
  data.rss = {time_ms: 3200, bytes: 8 << 20,
    parts: Object.entries(parts).map(([name, [bytes, meaning]]) => ({name, meaning, bytes}))};
}

export function addTimeline(data, heap) {
  const points = Array.from({length: 83}, (_, i) => i * 100);
  const at = (ms) => heap[Math.min(7, Math.floor(ms / 1000))] * (0.9 + 0.1 * Math.abs(Math.sin(ms / 90)));
  data.timeline = {interval_ms: 100, time_ms: points, heap_bytes: points.map((ms) => Math.round(at(ms))),
    rss_bytes: points.map((ms) => ms > 8000 ? null : 2500000 + Math.round(300 * ms * 0.5))};
}

export function addTemporaries(data) {
  const half = (name) => data.own[name].map((value) => Math.floor(value / 2));
  data.own.temporary_bytes = half('total_bytes');
  data.own.temporary_allocations = half('total_allocations');
  for (const table of ['self', 'located', 'inclusive'].map((name) => data.functions[name])) {
    for (const by of ['bytes', 'allocations']) {
      table[`temporary_${by}`] = table[`total_${by}`].map((value) => Math.floor(value / 2));
    }
  }
  data.temporary_threshold = 1;
  const sum = (column) => column.reduce((all, value) => all + value, 0);
  data.totals.temporary = [sum(data.own.temporary_bytes), sum(data.own.temporary_allocations)];
}
