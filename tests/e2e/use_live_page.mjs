// The live page in headless Chromium: node use_live_page.mjs MODULES URL
//
// Prints a word for what the test is to do with the program, and goes on when a line comes back.
import assert from 'node:assert/strict';
import {createInterface} from 'node:readline';

import {launchChromium} from '../cli/web/browser.mjs';

const [modules, url] = process.argv.slice(2);
const lines = createInterface({input: process.stdin})[Symbol.asyncIterator]();
const ask = async (word) => {
  console.log(word);
  await lines.next();
};
const TIMEOUT = 90_000;

const browser = await launchChromium(modules);
try {
  const page = await browser.newPage({viewport: {width: 1280, height: 800}});
  page.setDefaultTimeout(TIMEOUT);
  const complaints = [], asked = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => asked.push(request.url()));
  const until = async (what, probe) => {
    const end = Date.now() + TIMEOUT;
    for (;;) {
      const now = await probe();
      if (now === true) return;
      assert.ok(Date.now() < end, `${what}: ${now}`);
      await page.waitForTimeout(100);
    }
  };
  const state = () => page.locator('#live').getAttribute('data-state');
  const isState = (wanted) => until(wanted, async () => {
    const now = await state();
    return now === wanted || now;
  });
  const live = () => page.locator('#figures [data-mode="leaked"] .figure').innerText();

  await page.goto(url);
  await isState('live');
  const first = await live();
  await page.locator('g.frame[name="grow"] rect').click();  // zooms
  await until('zoom', async () => /zoom=/.test(page.url()) || page.url());

  // New figures come by themselves; the reader's choices stay.
  await ask('grow');
  await until('more', async () => (await live()) !== first || first);
  assert.match(page.url(), /zoom=/);
  assert.match(await page.locator('#focus').innerText(), /grow/);

  // Paused: nothing changes. Then it goes on.
  await page.locator('#live-pause').click();
  await isState('paused');
  await page.waitForTimeout(500);
  const paused = await live();
  await page.waitForTimeout(4000);
  assert.equal(await live(), paused);
  await page.locator('#live-pause').click();
  await isState('live');

  // Keys act once, however many looks there were.
  const layout = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('layout'));
  await page.keyboard.press('i');
  assert.equal(await layout(), 'flame');

  await ask('end');
  await isState('ended');
  await ask('restart');
  await isState('live');
  await ask('stop');
  await isState('lost');
  assert.match(await page.locator('#live-state').innerText(), /Connection lost/);

  assert.deepEqual(complaints, []);
  assert.deepEqual(asked.filter((each) => !each.startsWith(url) && !each.startsWith('data:')), []);
} finally {
  await browser.close();
  process.stdin.destroy();
}
