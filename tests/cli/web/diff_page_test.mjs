// The page of a difference in headless Chromium: node diff_page_test.mjs --modules DIR --pages DIR
//
// `pages` holds what write_test_pages wrote; screenshots go beside the pages.
import assert from 'node:assert/strict';
import {join, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {parseArgs} from 'node:util';

import {frame, launchChromium, names, text, usePage, widthOf} from './browser.mjs';

const {values: options} = parseArgs({options: {
  modules: {type: 'string'},
  pages: {type: 'string'},
}});
const pages = resolve(options.pages);

let browser;
before(async () => { browser = await launchChromium(options.modules); });
after(async () => { await browser?.close(); });

const withPage = (name, use, context) =>
  usePage(browser, join(pages, `${name}.html`), use, context);
const settle = (page) => page.waitForTimeout(500);  // frames move to where a click sends them
const hueOf = async (page, name) => /hsl\((\d+) (\d+)%/.exec(await frame(page, name)
    .getAttribute('fill')).slice(1).map(Number);
const rows = (page) => page.$$eval('#table tbody tr', (all) => all.map((row) =>
    [...row.cells].map((cell) => cell.innerText.trim().replace(/\s+/g, ' '))));

// write_test_pages' Before and After: Load −300,000; Serve +600,000; Fresh +200,000, the same.
test('the head has both captures, their figures and the change', () =>
  withPage('diff', async (page) => {
    assert.equal(await text(page, '#program'), 'demo');
    assert.match(await text(page, '#before'), /^old\.memprof · demo, pid 4711, .*exited with 0/);
    assert.match(await text(page, '#after'), /^new\.memprof · demo/);
    const card = page.locator('.card[data-figure=peak]');
    assert.match(await card.innerText(),
        /Peak\s+\+488\.3 KiB\s+976\.6 KiB → 1\.4 MiB \(\+50\.0%\) · \+5 blocks/);
    assert.equal(await card.getAttribute('title'), '1,000,000 bytes → 1,500,000 bytes');
    assert.equal(await page.locator('#trust .warnings').count(), 0);
    await page.screenshot({path: join(pages, 'diff-light.png'), fullPage: true});
  }));

test('more is red, less is blue, and what did not change is not in the way', () =>
  withPage('diff', async (page) => {
    const shown = await names(page);
    assert.ok(!shown.includes('Same()'), String(shown));
    const [more, less] = [await hueOf(page, 'Serve()'), await hueOf(page, 'Load()')];
    assert.ok(more[0] < 20 && more[1] > 20, String(more));
    assert.ok(less[0] > 190 && less[0] < 240 && less[1] > 20, String(less));
    // The share of 1,100,000 changed bytes.
    const share = await widthOf(page, 'Serve()') / await widthOf(page, 'demo');
    assert.ok(Math.abs(share - 6 / 11) < 0.01, `share ${share}`);
    await page.click('#width [data-value=after]');
    assert.ok((await names(page)).includes('Same()'));
    assert.equal((await hueOf(page, 'Same()'))[1], 0);
    assert.ok(Math.abs(await widthOf(page, 'Fresh()') / await widthOf(page, 'demo') - 2 / 15) < 0.01);
    await page.click('#width [data-value=before]');
    assert.ok(!(await names(page)).includes('Fresh()'));
    assert.match(page.url(), /width=before/);
  }));

test('the tooltip has both figures, exactly', () => withPage('diff', async (page) => {
  await frame(page, 'Serve()').hover();
  const tip = await text(page, '#tooltip');
  for (const part of ['Serve()', '400,000 bytes', '1,000,000 bytes', '+585.9 KiB', '+150.0%']) {
    assert.ok(tip.includes(part), `${part} is missing in: ${tip}`);
  }
}));

test('the rows of every table sum to the total, sorted and filtered', () =>
  withPage('diff', async (page) => {
    for (const by of ['site', 'function', 'module']) {
      await page.click(`#by [data-value=${by}]`);
      const table = await rows(page);
      assert.deepEqual(table.at(-1), ['+488.3 KiB', '+5', '976.6 KiB', '1.4 MiB', 'total']);
    }
    await page.click('#by [data-value=function]');
    let table = await rows(page);
    assert.deepEqual(table.slice(0, 3).map((row) => [row[0], row[4]]),
        [['+585.9 KiB', 'Serve()'], ['−293.0 KiB', 'Load()'], ['+195.3 KiB', 'Fresh()']]);
    assert.deepEqual(table[3].slice(4), ['unchanged (1 row)']);
    await page.click('#table th >> text=Function');
    table = await rows(page);
    assert.deepEqual(table.slice(0, 3).map((row) => row[4]), ['Fresh()', 'Load()', 'Serve()']);
    await page.fill('#search', 'serve');
    table = await rows(page);
    assert.deepEqual(table.map((row) => row.slice(0, 1).concat(row.slice(4, 5))),
        [['+585.9 KiB', 'Serve()'], ['−97.7 KiB', 'not matching the search (2 rows)'],
          ['0 B', 'unchanged (1 row)'], ['+488.3 KiB', 'total']]);
    assert.match(await text(page, '#matches'), /^54\.5% in 1 frame$/);
    await page.keyboard.press('Escape');
    assert.equal(await text(page, '#matches'), '');
    await page.click('#by [data-value=site]');
    assert.match((await rows(page))[0][4], /^Fresh\(\) ← main$/);
  }));

test('other figures and measures draw their own changes', () => withPage('diff', async (page) => {
  await page.click('.card[data-figure=leaked]');
  assert.match(await text(page, '#chart'), /Nothing changed\./);
  await page.click('#width [data-value=after]');
  assert.ok((await names(page)).includes('Same()'));
  await page.click('.card[data-figure=total]');
  await page.click('#measure [data-value=allocations]');
  assert.ok((await names(page)).includes('Serve()'));
  assert.match(page.url(), /figure=total&measure=allocations&width=after/);
}));

test('a zoom survives a reload and Escape leads back', () => withPage('diff', async (page) => {
  await frame(page, 'Serve()').click();
  await settle(page);
  assert.ok(await widthOf(page, 'Serve()') > 1100);
  assert.match(await text(page, '#focus'), /Serve\(\)/);
  await page.reload();
  await settle(page);
  assert.ok(await widthOf(page, 'Serve()') > 1100);
  await page.keyboard.press('Escape');
  await settle(page);
  assert.ok(await widthOf(page, 'Serve()') < 800);
  assert.ok(await page.locator('#focus').isHidden());
  await page.click('#layout [data-value=flame]');
  const top = async (name) => (await frame(page, name).boundingBox()).y;
  assert.ok(await top('main') > await top('Serve()'));
}));

test('hostile names are shown as text and never run', () =>
  withPage('diff_hostile', async (page) => {
    const attack = '<img src=x onerror="window.hit=1"></script><script>window.hit=2</script>';
    assert.ok((await names(page)).includes(attack));
    await frame(page, 'plain').hover();
    assert.ok((await text(page, '#table')).includes(attack));
    assert.ok((await page.locator('#trust').textContent()).includes(attack));
    await page.fill('#search', '<script>');
    assert.match(await text(page, '#matches'), /in 1 frame/);
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator('img').count(), 0);
  }));

test('dark follows the system', () => withPage('diff', async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.screenshot({path: join(pages, 'diff-dark.png'), fullPage: true});
  await page.click('#theme');
  assert.notEqual(await ground(), dark);
}, {colorScheme: 'dark'}));
