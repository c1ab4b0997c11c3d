// Headless Chromium for tests, pictures and benchmarks, and what all tests of a page ask of it.
import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const CHROMIUM = '/usr/bin/chromium';

// `modules`: the node_modules, or its parent, that has playwright-core; `more`: flags of Chromium's.
export function launchChromium(modules, more = []) {
  assert.ok(existsSync(CHROMIUM), `${CHROMIUM} is missing: apt-get install chromium`);
  const {chromium} = createRequire(join(resolve(modules), 'package.json'))('playwright-core');
  return chromium.launch({executablePath: CHROMIUM, headless: true,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...more]});
}

export const urlOf = (file) => pathToFileURL(resolve(file)).href;

// Opens a file, and at the end asserts that it asked for nothing and complained about nothing.
// `context`: what differs from a window of 1280 by 800 (playwright's options).
export async function usePage(browser, file, use, context = {}) {
  const own = await browser.newContext({viewport: {width: 1280, height: 800}, ...context});
  try {
    const page = await own.newPage();
    const requests = [], complaints = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(urlOf(file));
    await use(page);
    // The file itself, once a load; its icon is inside the file.
    assert.deepEqual(requests.filter((url) => !url.startsWith('data:') &&
        url.split('#')[0] !== urlOf(file)), []);
    assert.deepEqual(complaints, []);
  } finally {
    await own.close();
  }
}

// For a page with a graph.
export const text = (page, selector) => page.locator(selector).innerText();
export const names = (page) =>
  page.$$eval('g.frame', (all) => all.map((g) => g.getAttribute('name')));
export const frame = (page, name) => page.locator(`g.frame[name="${name}"] rect`);
export const widthOf = async (page, name) => (await frame(page, name).boundingBox())?.width ?? 0;
