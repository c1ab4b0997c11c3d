// The page in headless Chromium: node page_test.mjs --modules DIR --pages DIR
//
// `pages` holds what write_test_pages wrote; DIR/node_modules has playwright-core. Screenshots go
// beside the pages. Times are printed, not asserted.
import assert from 'node:assert/strict';
import {existsSync, statSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {parseArgs} from 'node:util';

const {values: options} = parseArgs({options: {
  modules: {type: 'string'},
  pages: {type: 'string'},
}});
const {chromium} = createRequire(join(resolve(options.modules), 'package.json'))('playwright-core');
const CHROMIUM = '/usr/bin/chromium';
const pages = resolve(options.pages);
const urlOf = (name) => pathToFileURL(join(pages, `${name}.html`)).href;

let browser;
before(async () => {
  assert.ok(existsSync(CHROMIUM), `${CHROMIUM} is missing: apt-get install chromium`);
  browser = await chromium.launch({executablePath: CHROMIUM, headless: true,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']});
});
after(async () => { await browser?.close(); });

// Opens a page, and at the end asserts that it asked for nothing and complained about nothing.
async function withPage(name, use, context = {}) {
  const own = await browser.newContext({viewport: {width: 1280, height: 800}, ...context});
  try {
    const page = await own.newPage();
    const requests = [], complaints = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(urlOf(name));
    await settle(page);
    await use(page);
    // The file itself, once a load; its icon is inside the file.
    assert.deepEqual(requests.filter((url) => !url.startsWith('data:') &&
        url.split('#')[0] !== urlOf(name)), []);
    assert.deepEqual(complaints, []);
  } finally {
    await own.close();
  }
}

const text = (page, selector) => page.locator(selector).innerText();
const names = (page) => page.$$eval('g.frame', (all) => all.map((g) => g.getAttribute('name')));
const frame = (page, name) => page.locator(`g.frame[name="${name}"] rect`);
const widthOf = async (page, name) => (await frame(page, name).boundingBox())?.width ?? 0;
const state = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
// Frames grow to their width and slide to their place: the next assertion is about where they end.
// (The page's policy forbids what waitForFunction needs.)
async function settle(page) {
  let before, now;
  for (let tries = 0; tries < 60; ++tries) {
    before = now;
    now = await page.$$eval('g.frame', (all) => all.map((g) => [g.getAttribute('name').slice(0, 40),
      g.getAttribute('transform'), Number(g.getAttribute('width')),
      Number(g.querySelector('rect').getAttribute('width') ?? -1)]));
    const there = now.every(([, , width, shown]) => Math.abs(width - shown) < 0.01);
    if (now.length > 0 && there && JSON.stringify(now) === JSON.stringify(before)) return;
    await page.waitForTimeout(80);
  }
  assert.fail(`the graph keeps moving: ${JSON.stringify(now)}`);
}
const card = (page, mode) => page.locator(`.card[data-mode="${mode}"]`);

test('estimates have their standard error everywhere', () => withPage('sampled', async (page) => {
  assert.match(await text(page, '#trust'),
      /^Sampled: one block per 512\.0 KiB on average; figures are estimates ± one standard error\.$/m);
  assert.doesNotMatch(await text(page, '#trust'), /Exact/);
  // The root of six places' variances: 122,474 bytes and 7 blocks.
  assert.match(await card(page, 'peak').innerText(),
      /≈ 2\.9 ± 0\.1 MiB\s+≈ 5,098 ± 7 allocations/);
  assert.match(await card(page, 'leaked').innerText(), /≈ 4\.0 KiB\s+≈ 2 allocations/);
  await frame(page, 'Server::Run()').hover();
  assert.match(await text(page, '#tooltip'), /At peak\s+263\.7 ± 69\.1 KiB\s+9\.0%\s+83 ± 4/);
  await frame(page, 'Server::Run()').click();
  await settle(page);
  assert.match(await text(page, '#focus'), /263\.7 ± 69\.1 KiB/);
  await page.screenshot({path: join(pages, 'sampled.png')});
}));

test('the header shows the totals, exactly on demand', () => withPage('known', async (page) => {
  assert.equal(await text(page, '#program'), 'demo');
  assert.match(await text(page, '#command'), /^\/opt\/demo\/bin\/demo --config \/etc\/demo\.toml$/);
  assert.match(await text(page, '#run'), /pid 4711 · 2025-10-09 08:53:20 UTC · 1 min 23 s, exited with 0/);
  assert.match(await card(page, 'peak').innerText(), /Peak\s+2\.9 MiB\s+5,098 allocations · after 1 min 1 s/);
  assert.equal(await card(page, 'peak').getAttribute('title'), '3,000,000 bytes');
  assert.match(await card(page, 'leaked').innerText(), /4\.0 KiB\s+2 allocations/);
  assert.match(await card(page, 'total').innerText(), /14\.0 MiB/);
  assert.match(await text(page, '#figures'), /Peak RSS\s+9\.0 MiB\s+tracker 1\.0 MiB of it/);
  assert.match(await text(page, '#trust'), /Exact: every allocation was counted/);
  assert.match(await text(page, '#trust'), /Symbols: 1 note/);
  await page.screenshot({path: join(pages, 'known-light.png')});
}));

test('the root holds the whole width and callees lie below their callers', () =>
  withPage('known', async (page) => {
    assert.ok(await widthOf(page, 'demo') > 1100);
    const share = await widthOf(page, 'Config::Load(std::string const&)') / await widthOf(page, 'demo');
    assert.ok(Math.abs(share - 2_700_000 / 3_000_000) < 0.01, `share ${share}`);
    const top = async (name) => (await frame(page, name).boundingBox()).y;
    assert.ok(await top('main') < await top('Server::Run()'));
    await page.click('#layout [data-value=flame]');
    await settle(page);
    assert.ok(await top('main') > await top('Server::Run()'));
    assert.deepEqual(await state(page), {layout: 'flame'});
  }));

test('each mode and measure draws its own figures', () => withPage('known', async (page) => {
  await card(page, 'leaked').click();
  await settle(page);
  let shown = await names(page);
  assert.ok(shown.includes('Parse(char const*)') && !shown.includes('Server::Run()'));
  assert.ok(Math.abs(await widthOf(page, 'Parse(char const*)') / await widthOf(page, 'demo') -
      4000 / 4096) < 0.01);
  await page.click('#by [data-value=allocations]');
  await settle(page);
  assert.ok(Math.abs(await widthOf(page, 'Parse(char const*)') / await widthOf(page, 'demo') - 0.5) < 0.01);
  await card(page, 'total').click();
  await settle(page);
  shown = await names(page);
  assert.ok(shown.includes('Server::Run()'));
  assert.deepEqual(await state(page), {mode: 'total', by: 'allocations'});
}));

test('the tooltip tells function, place, module, exact and human figures', () =>
  withPage('known', async (page) => {
    await frame(page, 'Parse(char const*)').hover();
    const tip = await text(page, '#tooltip');
    for (const part of ['Parse(char const*)', 'src/parse.cc:17', '/opt/demo/bin/demo', '683.6 KiB',
      '700,000 bytes', '23.3%', '3.9 KiB', '4,000 bytes', '97.7%']) {
      assert.ok(tip.includes(part), `${part} is missing in: ${tip}`);
    }
    await page.screenshot({path: join(pages, 'tooltip-light.png')});
    await page.mouse.move(5, 5);
    assert.ok(await page.locator('#tooltip').isHidden());
  }));

test('a search tells the share of what matched, once for nested matches', () =>
  withPage('known', async (page) => {
    await page.keyboard.press('/');
    await page.keyboard.type('XML');
    // xmlStrdup below xmlParseDocument: 500,000 of 3,000,000.
    assert.equal(await text(page, '#matches'), '16.7% in 2 frames');
    await page.screenshot({path: join(pages, 'search-light.png')});
    await page.fill('#search', '/^server::|^parse/');
    assert.match(await text(page, '#matches'), /^32\.3% in 2 frames$/);
    await page.fill('#search', 'src/config.cc');
    assert.equal(await text(page, '#matches'), '90.0% in 1 frame');
    await page.fill('#search', '/[/');
    assert.equal(await text(page, '#matches'), 'no match');
    await page.keyboard.press('Escape');
    assert.equal(await text(page, '#matches'), '');
    assert.deepEqual(await state(page), {});
  }));

test('a zoom survives a reload, a change of mode and the way back', () =>
  withPage('known', async (page) => {
    await frame(page, 'Server::Run()').click();
    await settle(page);
    const wide = await widthOf(page, 'Server::Run()');
    assert.ok(wide > 1100, `width ${wide}`);
    assert.match(await text(page, '#focus'), /Server::Run\(\)\s+src\/server\.cc:201/);
    assert.match(await text(page, '#focus'), /263\.7 KiB\s*9\.0%/);
    await page.fill('#search', 'session');
    await page.click('#layout [data-value=flame]');
    const before = await state(page);
    assert.ok(Number(before.zoom) > 0);
    await page.reload();
    await settle(page);
    assert.deepEqual(await state(page), before);
    assert.ok(await widthOf(page, 'Server::Run()') > 1100);
    assert.equal(await page.inputValue('#search'), 'session');
    assert.equal(await text(page, '#matches'), '5.7% in 1 frame');
    await card(page, 'total').click();
    await settle(page);
    assert.ok(await widthOf(page, 'Server::Run()') > 1100);
    await page.screenshot({path: join(pages, 'zoom-light.png')});
    await page.goBack();
    await page.goBack();
    await settle(page);
    assert.equal((await state(page)).layout, undefined);
    await page.keyboard.press('Escape');  // the search
    await page.keyboard.press('Escape');  // the zoom
    await settle(page);
    assert.deepEqual(await state(page), {});
    assert.ok(await widthOf(page, 'Server::Run()') < 200);
  }));

test('a zoom to what a mode has not shows its nearest caller', () =>
  withPage('known', async (page) => {
    await frame(page, 'Server::Run()').click();
    await card(page, 'leaked').click();
    await settle(page);
    assert.match(await text(page, '#focus'), /main\s+src\/main\.cc:42/);
  }));

test('hiding system frames keeps every byte', () => withPage('known', async (page) => {
  const whole = await widthOf(page, 'Config::Load(std::string const&)') / await widthOf(page, 'demo');
  await page.check('#system');
  await settle(page);
  const shown = await names(page);
  for (const hidden of ['_start', '__libc_start_main', 'operator new(unsigned long)']) {
    assert.ok(!shown.includes(hidden), hidden);
  }
  assert.ok(shown.includes('main') && shown.includes('[truncated]'));
  const now = await widthOf(page, 'Config::Load(std::string const&)') / await widthOf(page, 'demo');
  assert.ok(Math.abs(whole - now) < 0.001);
  await page.screenshot({path: join(pages, 'hidden-light.png')});
}));

test('no leak is said in words', () => withPage('tidy', async (page) => {
  await card(page, 'leaked').click();
  assert.match(await text(page, '#chart'), /Nothing was left: no leak\./);
  await card(page, 'peak').click();
  await settle(page);
  assert.ok((await names(page)).includes('main'));
}));

test('hostile names are shown as text and never run', () => withPage('hostile', async (page) => {
  const attack = '<img src=x onerror="window.hit=1"></script><script>window.hit=2</script>';
  assert.equal(await text(page, '#program'), attack);
  assert.ok((await names(page)).includes(attack));
  await page.locator('g.frame rect').nth(1).hover();
  assert.ok((await text(page, '#tooltip')).includes(attack));
  await page.locator('g.frame rect').nth(1).click();
  await settle(page);
  const long = (await names(page)).find((name) => name.startsWith('ns::Longest<'));
  assert.ok(long.length > 10_000);
  assert.ok((await names(page)).some((name) => name.includes('bytes \ufffd\ufffd\ufffd(')));
  await page.locator('g.frame[name^="ns::Longest"] rect').hover();
  assert.match(await text(page, '#tooltip'), /characters\)/);
  await page.screenshot({path: join(pages, 'hostile-light.png')});
  await page.locator('g.frame[name^="ns::Longest"] rect').click();
  await settle(page);
  assert.ok((await text(page, '#focus')).includes(long));
  await page.fill('#search', '<script>');
  assert.match(await text(page, '#matches'), /^100\.0% in 1 frame$/);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.equal(await page.locator('img').count(), 0);
  assert.match(await text(page, '#trust'), /2 things to know about these figures/);
  assert.match(await text(page, '#trust'), /12 events were <b>dropped<\/b>/);
  assert.ok((await page.locator('#command').textContent()).endsWith(" 'nul\u0000byte'"));
  assert.match(await text(page, '#run'), /was ended by SIGKILL \(9\)/);
  // The browser's own: a fragment may hold anything.
  await page.goto(`${urlOf('hostile')}#zoom=99999999&mode=evil&search=%3Cb%3E&theme=1`);
  await page.reload();
  assert.equal(await card(page, 'peak').getAttribute('aria-pressed'), 'true');
  assert.ok((await names(page)).length > 3);
}));

test('dark follows the system and can be chosen', () => withPage('known', async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const fill = () => page.locator('g.frame[name=main] rect').getAttribute('fill');
  const dark = await ground(), darkFill = await fill();
  await page.screenshot({path: join(pages, 'known-dark.png')});
  await frame(page, 'Parse(char const*)').hover();
  await page.screenshot({path: join(pages, 'tooltip-dark.png')});
  await page.click('#theme');
  assert.notEqual(await ground(), dark);
  assert.notEqual(await fill(), darkFill);
  assert.equal((await state(page)).theme, 'light');
  await page.reload();
  assert.notEqual(await ground(), dark);
}, {colorScheme: 'dark'}));

test('licences of the bundled packages can be read in the page', () =>
  withPage('known', async (page) => {
    await page.click('#licences-open');
    const licences = await text(page, '#licences');
    assert.match(licences, /d3-flame-graph 5\.0\.0 \(Apache-2\.0\)/);
    assert.match(licences, /Apache License/);
    await page.keyboard.press('Escape');
    assert.ok(await page.locator('#licences').isHidden());
  }));

test('it fits a narrow window', () => withPage('known', async (page) => {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${wider} px too wide`);
  await page.screenshot({path: join(pages, 'narrow.png')});
}, {viewport: {width: 420, height: 800}}));

for (const name of ['large', 'huge']) {
  test(`${name}: drawn, pruned with a name, and quick to change`, (t) =>
    withPage(name, async (page) => {
      const nodes = await page.evaluate(() =>
          JSON.parse(document.getElementById('capture').textContent).nodes.parent.length);
      const [open, mode, search] = await page.evaluate(async () => {
        const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        const time = async (act) => {
          const start = performance.now();
          act();
          await frame();
          return Math.round(performance.now() - start);
        };
        const navigation = performance.getEntriesByType('navigation')[0];
        const box = document.getElementById('search');
        return [Math.round(navigation.domContentLoadedEventEnd),
          await time(() => document.querySelector('.card[data-mode=total]').click()),
          await time(() => { box.value = 'class7'; box.dispatchEvent(new Event('input')); })];
      });
      const drawn = (await names(page)).length;
      t.diagnostic(`${name}: ${nodes} nodes, ${statSync(join(pages, `${name}.html`)).size} bytes, ` +
          `${drawn} drawn; open ${open} ms, change mode ${mode} ms, search ${search} ms`);
      assert.ok(drawn > 100);
      assert.ok(nodes <= 50_000);
      assert.doesNotMatch(await text(page, '#trust'), /the capture says/);
      if (name === 'huge') {
        assert.match(await text(page, '#trust'), /smallest frames are folded into rows \[pruned\]/);
        assert.ok(statSync(join(pages, 'huge.html')).size < 10 * 1024 * 1024);
      }
      await page.screenshot({path: join(pages, `${name}.png`), fullPage: false});
    }));
}
