// Bundles src/ into two HTML files with everything inside: script, style, licences, and the marker
// for the executable's data. One is the flame graph page, the other the page of a difference.
//
//   node build.mjs --modules DIR --out FILE --diff-out FILE --notices FILE [--write-notices]
//
// DIR is a node_modules made by `npm ci` from this folder's package-lock.json. The third-party
// notices are derived from the modules that the bundler really used; the committed file must have
// the same.
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

const MARKER = '@MEMPROF_PAGE_DATA@';
const MAX_BYTES = 300 * 1024;

const {values: options} = parseArgs({options: {
  modules: {type: 'string'},
  out: {type: 'string'},
  'diff-out': {type: 'string'},
  notices: {type: 'string'},
  'write-notices': {type: 'boolean', default: false},
}});
const source = join(dirname(fileURLToPath(import.meta.url)), 'src');
const modules = resolve(options.modules);
const esbuild = createRequire(join(modules, 'package.json'))('esbuild');

function fail(message) {
  console.error(`page: ${message}`);
  process.exit(1);
}

async function bundle(entry, loader) {
  const result = await esbuild.build({
    entryPoints: [join(source, entry)],
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    charset: 'utf8',
    format: 'iife',
    target: ['chrome100', 'firefox100', 'safari15'],
    legalComments: 'inline',
    nodePaths: [modules],
    loader,
    logLevel: 'warning',
  });
  return {text: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs)};
}

function packagesOf(inputs) {
  const names = new Set();
  for (const input of inputs) {
    const found = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) names.add(found[1]);
  }
  return [...names].sort();
}

function notices(packages) {
  const parts = packages.map((name) => {
    const folder = join(modules, name);
    const {version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt'].map((f) => join(folder, f))
        .find((f) => existsSync(f));
    if (!file) fail(`${name} has no licence file`);
    const notice = ['NOTICE', 'NOTICE.md', 'NOTICE.txt'].map((f) => join(folder, f))
        .find((f) => existsSync(f));
    return {title: `${name} ${version} (${license})`, text: [file, notice].filter(Boolean)
        .map((f) => readFileSync(f, 'utf8').trim()).join('\n\n')};
  });
  // Packages with the same text are listed together: most of them have the same author.
  const byText = new Map();
  for (const {title, text} of parts) byText.set(text, [...(byText.get(text) ?? []), title]);
  return [...byText].map(([text, titles]) => ({titles, text}));
}

function noticesPage(groups) {
  const head = '# Third-party notices\n\nThe page that `memprof flamegraph` writes contains code ' +
      'of these packages. Their licences are in every page too (below, "Licences").\n';
  return head + groups.map(({titles, text}) =>
      `\n## ${titles.join(', ')}\n\n\`\`\`text\n${text}\n\`\`\`\n`).join('');
}

const escapeHtml = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

// The packages' own style sheets are replaced by page.css, which knows about light and dark.
const pages = await Promise.all([
  {name: 'page', script: 'main.js', style: 'page.css', html: 'index.html', out: options.out},
  {name: 'diff page', script: 'diff.js', style: 'diff.css', html: 'diff.html',
    out: options['diff-out']},
].map(async (page) => ({...page, script: await bundle(page.script, {'.css': 'empty'}),
  style: (await bundle(page.style, {})).text})));

const expected = noticesPage(notices(packagesOf(pages.flatMap(({script}) => script.inputs))));
// The text below these notices is kept: it is about the executable's libraries, which the bundler
// doesn't know.
const committed = existsSync(options.notices) ? readFileSync(options.notices, 'utf8') : '';
const libraries = committed.indexOf('\n# Libraries in the executable\n');
const kept = libraries < 0 ? '' : committed.slice(libraries);
if (options['write-notices']) {
  writeFileSync(options.notices, expected + kept);
} else if (committed !== expected + kept) {
  fail(`${options.notices} doesn't match the bundled packages: run build.mjs with --write-notices`);
}

for (const {name, script, style, html, out} of pages) {
  const fill = {
    '{{style}}': style,
    '{{script}}': script.text,
    '{{licences}}': escapeHtml(notices(packagesOf(script.inputs))
        .map(({titles, text}) => `${titles.join('\n')}\n\n${text}`).join('\n\n\n')),
    '{{data}}': MARKER,
  };
  const page = readFileSync(join(source, html), 'utf8')
      .replace(/\{\{\w+\}\}/g, (field) => fill[field] ?? fail(`${html} has an unknown ${field}`));
  if (page.split(MARKER).length !== 2) fail('the data marker must occur exactly once');
  if (/<\/(script|style)/i.test(script.text + style)) fail('a bundled text ends its element');
  const bytes = Buffer.byteLength(page);
  if (bytes > MAX_BYTES) fail(`the ${name} has ${bytes} bytes, more than ${MAX_BYTES}`);
  writeFileSync(out, page);
  console.log(`${name}: ${bytes} bytes before data`);
}
