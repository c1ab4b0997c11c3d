// Takes the README's pictures: node pictures.mjs --modules DIR --out DIR NAME=PAGE[#FRAGMENT]…
//
// Each page is opened in headless Chromium as a reader would and saved as NAME.png.
import {join} from 'node:path';
import {parseArgs} from 'node:util';

import {launchChromium, urlOf} from './browser.mjs';

const {values: options, positionals: pictures} = parseArgs({allowPositionals: true, options: {
  modules: {type: 'string'},
  out: {type: 'string'},
}});

const browser = await launchChromium(options.modules);
try {
  for (const picture of pictures) {
    const [, name, file, fragment] = /^([\w-]+)=([^#]+)(#.*)?$/.exec(picture);
    const context = await browser.newContext({viewport: {width: 1200, height: 900},
      colorScheme: name.endsWith('-dark') ? 'dark' : 'light', reducedMotion: 'reduce'});
    const page = await context.newPage();
    await page.goto(urlOf(file) + (fragment ?? ''));
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
