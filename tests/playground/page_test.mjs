// The playground in a real browser: every program runs, obeys its sliders, rewinds, and has the hashes of the native program.
//   node page_test.mjs SITE NATIVE_PROGRAM [FOLDER FOR SCREENSHOTS]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';

const [site, native, folder] = process.argv.slice(2);
const ofInspector = createRequire(new URL('../../inspect/package.json', import.meta.url));
const { chromium } = ofInspector('playwright-core');
const axe = readFileSync(ofInspector.resolve('axe-core/axe.min.js'), 'utf8');
// A slider of each program that does not restart it, and a value for it.
const PROGRAMS = { battle: [1, 120], flock: [1, 7.5], epidemic: [1, 20], orbits: [2, -2.5] };
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
let passed = 0, failed = 0;

async function test(name, body) {
  try {
    await body();
    ++passed;
    console.log(`passed  ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

function expect(condition, what) {
  if (!condition) throw new Error(`expected ${what}`);
}

// A server that knows nothing of WebAssembly, and sends no special headers.
function serve() {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://localhost').pathname).replace(/\/$/, '/index.html');
    try {
      const body = readFileSync(join(site, path));
      response.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

// The hash of a frame. A change is [frame, parameter, value].
function nativeHash(program, frame, ...changes) {
  const text = execFileSync(native, [program, String(frame), ...changes.map((change) => change.join(':'))], { encoding: 'utf8' });
  return /world hash ([0-9a-f]{16})/.exec(text)[1];
}

const server = await serve();
const address = `http://127.0.0.1:${server.address().port}/`;
const profile = mkdtempSync(join(tmpdir(), 'mica-playground-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', viewport: { width: 1280, height: 800 }, colorScheme: 'light',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const page = await context.newPage();
page.setDefaultTimeout(30000);
const complaints = [], requests = [];
page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
page.on('crash', () => complaints.push('the page crashed'));
page.on('pageerror', (error) => complaints.push(error.message));
page.on('request', (request) => requests.push(request.url()));

const shoot = async (name) => folder && page.screenshot({ path: join(folder, `playground_${name}.png`) });
const read = () => page.evaluate(() => ({ frame: Number(document.getElementById('frame').textContent), hash: document.getElementById('hash').textContent }));
const reach = (frame) => page.waitForFunction((least) => Number(document.getElementById('frame').textContent) >= least, frame);
const pause = () => page.click('[aria-label="Pause"]');
const setSlider = (id, value) => page.locator(`#${id}`).fill(String(value));

async function open(program) {
  await page.goto(`${address}#${program}`);
  await page.reload();
  await page.waitForSelector(`nav a[aria-current]:has-text("${program}")`);
}

// Steps forward, and returns the hash of each frame.
async function stepTo(frame) {
  const hashes = new Map();
  for (let state = await read(); state.frame < frame; hashes.set(state.frame, state.hash)) {
    await page.click('[aria-label="One frame forward"]');
    state = await read();
  }
  return hashes;
}

for (const [program, [parameter, value]] of Object.entries(PROGRAMS)) {
  await test(`${program}: the hash of a frame is that of the native program`, async () => {
    await open(program);
    await reach(25);
    await pause();
    const { frame, hash } = await read();
    expect(hash === nativeHash(program, frame), `the native hash of frame ${frame}, not ${hash}`);
    expect(complaints.length === 0, `no complaints, not ${complaints}`);
  });

  await test(`${program}: a rewound frame has the hash that it had, and its future repeats`, async () => {
    const { frame } = await read();
    const seen = await stepTo(frame + 12);
    await setSlider('time', frame + 3);
    let state = await read();
    expect(state.frame === frame + 3 && state.hash === seen.get(frame + 3), `frame ${frame + 3} again`);
    await setSlider('time', frame + 9); // what comes later is still there
    state = await read();
    expect(state.frame === frame + 9 && state.hash === seen.get(frame + 9), `frame ${frame + 9} again`);
    await setSlider('time', frame + 3);
    for (const [at, hash] of await stepTo(frame + 12)) expect(hash === seen.get(at), `the same hash of frame ${at}`);
  });

  await test(`${program}: a slider changes the future, as in the native program`, async () => {
    const { frame } = await read();
    await setSlider(`parameter-${parameter}`, value);
    expect((await page.textContent(`#value-${parameter}`)) === String(value), `the slider at ${value}`);
    const hash = [...(await stepTo(frame + 10)).values()].pop();
    expect(hash === nativeHash(program, frame + 10, [frame, parameter, value]), `the native hash of frame ${frame + 10}`);
    expect(hash !== nativeHash(program, frame + 10), 'another world than without the change');
  });

  await test(`${program}: it plays on, and its picture changes`, async () => {
    await page.click('text=Usual values');
    const before = await page.locator('#picture').screenshot();
    await page.click('[aria-label="Play"]');
    await reach(60);
    await shoot(program);
    await pause();
    expect(!before.equals(await page.locator('#picture').screenshot()), 'another picture');
    const { frame, hash } = await read();
    expect(hash === nativeHash(program, frame), `the native hash of frame ${frame}`);
  });

  await test(`${program}: its C source is shown`, async () => {
    for (const button of await page.locator('#files button').all()) {
      await button.click();
      const name = await button.textContent();
      await page.waitForFunction((text) => document.getElementById('code').textContent === text, readFileSync(join(site, 'source', name), 'utf8'));
    }
  });
}

await test('a slider that restarts starts again with frame 0', async () => {
  await open('battle');
  await pause();
  await setSlider('parameter-0', 1000);
  expect((await read()).frame === 0, 'frame 0');
  expect((await stepTo(5)).get(5) === nativeHash('battle', 5, [0, 0, 1000]), 'the native hash of frame 5');
});

await test('more frames than are stored: the oldest ones are dropped', async () => {
  await page.evaluate(() => { for (let i = 0; i < 330; ++i) document.getElementById('step').click(); });
  const { frame, hash } = await read();
  expect(frame === 335, 'frame 335');
  await setSlider('time', 40);
  expect((await read()).frame === 40 && (await page.getAttribute('#time', 'min')) === '36', 'frames from 36 on');
  expect((await read()).hash === nativeHash('battle', 40, [0, 0, 1000]), 'the native hash of frame 40');
  await setSlider('time', 335);
  expect((await read()).hash === hash, 'the hash of frame 335');
});

await test('everything can be done with the keyboard', async () => {
  await open('flock');
  await page.keyboard.press('Space');
  await page.waitForSelector('[aria-label="Play"]');
  const { frame } = await read();
  await page.keyboard.press('.');
  expect((await read()).frame === frame + 1, 'a frame forward');
  await page.keyboard.press(',');
  expect((await read()).frame === frame, 'a frame back');
  await page.focus('#time');
  await page.keyboard.press('ArrowLeft');
  expect((await read()).frame === Math.max(frame - 1, 0), 'the time line follows the arrow keys');
  const reached = new Set();
  await page.focus('#theme');
  await page.focus('nav a');
  for (let i = 0; i < 24; ++i) {
    reached.add(await page.evaluate(() => document.activeElement.id));
    await page.keyboard.press('Tab');
  }
  for (const id of ['theme', 'play', 'back', 'step', 'time', 'parameter-0', 'parameter-3', 'restart', 'reset']) expect(reached.has(id), `${id} to be reached with Tab`);
});

await test('controls have names, and colours have contrast, in both themes', async () => {
  for (const theme of ['light', 'dark']) {
    if ((await page.getAttribute('html', 'data-theme')) !== theme) await page.click('#theme');
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    expect(violations.length === 0, `no violations, not ${JSON.stringify(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))}`);
    await shoot(theme);
  }
});

await test('it fits on a small screen', async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'no scrolling to the side');
  await shoot('small');
});

await test('nothing complained, and nothing was loaded from elsewhere', async () => {
  expect(complaints.length === 0, `no complaints, not ${complaints.join('; ')}`);
  const elsewhere = requests.filter((url) => !url.startsWith(address) && !url.startsWith('data:'));
  expect(elsewhere.length === 0, `no requests to ${elsewhere}`);
});

await test('a module that can not be loaded is reported', async () => {
  await page.route('**/playground.wasm', (route) => route.abort());
  await page.reload();
  await page.waitForSelector('[role=alert]:has-text("can\'t be loaded")');
});

await context.close();
server.close();
rmSync(profile, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
