// Takes the README's pictures: node pictures.mjs --modules DIR --out DIR NAME=PAGE[#FRAGMENT]…
//
// Each page is opened in headless Chromium as a reader would and saved as NAME.png.
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {parseArgs} from 'node:util';

const {values: options, positionals: pictures} = parseArgs({allowPositionals: true, options: {
  modules: {type: 'string'},
  out: {type: 'string'},
}});
const {chromium} = createRequire(join(resolve(options.modules), 'package.json'))('playwright-core');

const browser = await chromium.launch({executablePath: '/usr/bin/chromium', headless: true,
  args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']});
try {
  for (const picture of pictures) {
    const [, name, file, fragment] = /^([\w-]+)=([^#]+)(#.*)?$/.exec(picture);
    const context = await browser.newContext({viewport: {width: 1200, height: 900},
      colorScheme: name.endsWith('-dark') ? 'dark' : 'light', reducedMotion: 'reduce'});
    const page = await context.newPage();
    await page.goto(pathToFileURL(resolve(file)).href + (fragment ?? ''));
    await page.locator('g.frame, .site-row').first().waitFor();
    // As high as what there is, up to a screen.
    const height = await page.evaluate(() => document.body.scrollHeight);
    await page.setViewportSize({width: 1200, height: Math.min(900, height)});
    await page.waitForTimeout(500);
    await page.screenshot({path: join(options.out, `${name}.png`)});
    await context.close();
  }
} finally {
  await browser.close();
}
