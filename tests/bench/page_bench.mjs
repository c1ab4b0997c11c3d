// How quickly a page can be used, in headless Chromium: milliseconds until it has drawn its graph and
// takes input, and until it has answered each control; beside it the CPU time of the page's thread,
// which other load of the machine changes little. Medians of several runs.
//
//   page_bench.mjs --modules DIR [-n RUNS] PAGE…
import {statSync} from 'node:fs';
import {basename} from 'node:path';
import {parseArgs} from 'node:util';

import {launchChromium, urlOf} from '../cli/web/browser.mjs';

const {values: options, positionals: files} = parseArgs({allowPositionals: true, options: {
  modules: {type: 'string'},
  runs: {type: 'string', short: 'n', default: '5'},
}});

const CONTROLS = {
  'open': null,
  'total': () => document.querySelector('.card[data-mode=total]').click(),
  'leaked': () => document.querySelector('.card[data-mode=leaked]').click(),
  'allocations': () => document.querySelector('#by [data-value=allocations]').click(),
  'system frames': () => document.getElementById('system').click(),
  'search': () => {
    const box = document.getElementById('search');
    box.value = '/7/';
    box.dispatchEvent(new Event('input'));
  },
  'zoom': () => document.querySelectorAll('g.frame')[30].dispatchEvent(new MouseEvent('click')),
  'bottom-up': () => document.querySelector('#direction [data-value=callers]').click(),
  'sites': () => document.querySelector('#view [data-value=sites]').click(),
  'functions': () => document.querySelector('#view [data-value=functions]').click(),
  'a function': () => document.querySelector('#functions .site')?.click(),
  'by file': () => document.querySelector('#group [data-value=file]').click(),
  'statistics': () => document.querySelector('#view [data-value=statistics]').click(),
  'graph': () => document.querySelector('#view [data-value=graph]').click(),
  'top-down': () => document.querySelector('#direction [data-value=callees]').click(),
  'range': () => {
    const box = document.getElementById('range-to');
    if (!box.max) return;  // no history
    box.value = String(Math.round(Number(box.max) / 2));
    box.dispatchEvent(new Event('input'));
  },
};

// When the page has drawn and the main thread is free again.
const watchOpening = () => {
  window.whenReady = new Promise((done) => addEventListener('DOMContentLoaded', () =>
    requestAnimationFrame(() => setTimeout(() => done(performance.now())))));
};

async function measure(browser, file) {
  const context = await browser.newContext({viewport: {width: 1400, height: 900}});
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', {timeDomain: 'threadTicks'});
  const cpu = async () => 1000 * (await session.send('Performance.getMetrics')).metrics
      .find(({name}) => name === 'ThreadTime').value;
  await page.addInitScript(watchOpening);
  await page.goto(urlOf(file));
  const times = {open: [await page.evaluate(() => window.whenReady), await cpu()]};
  for (const [name, act] of Object.entries(CONTROLS)) {
    if (act === null) continue;
    const before = await cpu();
    const wall = await page.evaluate(`(async () => {
      const start = performance.now();
      (${act})();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return performance.now() - start;
    })()`);
    times[name] = [wall, await cpu() - before];
  }
  const nodes = await page.evaluate(() =>
    JSON.parse(document.getElementById('capture').textContent).nodes.parent.length);
  await context.close();
  return {times, nodes};
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const cells = (name, values) => `${name.padEnd(18)}${values.map((v) => String(v).padStart(16)).join('')}`;

const browser = await launchChromium(options.modules);
try {
  const results = [];
  for (const file of files) {
    const runs = [];
    for (let i = 0; i < Number(options.runs); ++i) runs.push(await measure(browser, file));
    results.push({file, nodes: runs[0].nodes, times: runs.map((run) => run.times)});
  }
  console.log(cells('ms, wall / CPU', results.map(({file}) => basename(file))));
  console.log(cells('nodes', results.map(({nodes}) => nodes)));
  console.log(cells('kB', results.map(({file}) => Math.round(statSync(file).size / 1000))));
  for (const name of Object.keys(CONTROLS)) {
    console.log(cells(name, results.map(({times}) => [0, 1].map((i) =>
      Math.round(median(times.map((t) => t[name][i])))).join(' / '))));
  }
} finally {
  await browser.close();
}
