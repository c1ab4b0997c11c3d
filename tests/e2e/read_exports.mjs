// Exported files as other tools' own pages read them, as JSON on stdout:
//
//   node read_exports.mjs --modules DIR --speedscope FILE --dhat FILE --dhat-viewer dh_view.html
//
// speedscope's importer is asked by its page from the npm package, which then saves what it has
// imported; DHAT's viewer is valgrind's page, and its sums are those of its root.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {parseArgs} from 'node:util';

import {launchChromium, urlOf} from '../cli/web/browser.mjs';

const {values: options} = parseArgs({options: {
  modules: {type: 'string'},
  speedscope: {type: 'string'},
  dhat: {type: 'string'},
  'dhat-viewer': {type: 'string'},
}});
const modules = resolve(options.modules);

const complaints = [];

async function withPage(browser, use) {
  const context = await browser.newContext({acceptDownloads: true});
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  try {
    return await use(page);
  } finally {
    await context.close();
  }
}

// As the package's own command hands a file to its page.
const readSpeedscope = (browser) => withPage(browser, async (page) => {
  const script = `${resolve(options.speedscope)}.js`;
  const text = readFileSync(options.speedscope).toString('base64');
  writeFileSync(script, `speedscope.loadFileFromBase64("x.speedscope.json", "${text}")`);
  const viewer = join(modules, 'speedscope/dist/release/index.html');
  await page.goto(`${urlOf(viewer)}#localProfilePath=${script}`);
  const shown = page.getByText('Export', {exact: false}).first();
  await shown.waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), shown.click()]);
  const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
  return {text: await page.locator('body').innerText(), saved};
});

const readDhat = (browser) => withPage(browser, async (page) => {
  await page.goto(urlOf(options['dhat-viewer']));
  await page.locator('input[type=file]').setInputFiles(options.dhat);
  await page.getByText('PP 1').first().waitFor();
  // A name that the viewer declared at the top of its script.
  return page.evaluate(() => ({
    total: {bytes: gRoot._totalBytes, allocations: gRoot._totalBlocks},
    peak: {bytes: gRoot._atTGmaxBytes, allocations: gRoot._atTGmaxBlocks},
    leaked: {bytes: gRoot._atTEndBytes, allocations: gRoot._atTEndBlocks},
    text: document.body.innerText,
  }));
});

const browser = await launchChromium(modules, ['--allow-file-access-from-files']);
try {
  const read = {speedscope: await readSpeedscope(browser), dhat: await readDhat(browser)};
  assert.deepEqual(complaints, []);
  console.log(JSON.stringify(read));
} finally {
  await browser.close();
}
