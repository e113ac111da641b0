// The page in a real browser: opens every view on a running battle, edits, rewinds, and looks for errors and bad names of controls.
//   node page_test.mjs MICA INSPECTED [FOLDER FOR SCREENSHOTS]
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const [tool, program, folder] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let passed = 0, failed = 0;
const children = [];

function start(command, ...words) {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/.exec(text);
      if (found) resolve(found[0]);
    });
    child.on('exit', (status) => reject(new Error(`${command} ended with ${status}`)));
  });
}

async function test(name, body) {
  if (failed > 2) return void ++failed; // the rest would only wait
  try {
    await body();
    ++passed;
    console.log(`passed  ${name}`);
  } catch (error) {
    if (!passed) throw error; // the page does not open at all
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

function expect(condition, what) {
  if (!condition) throw new Error(`expected ${what}`);
}

const profile = mkdtempSync(join(tmpdir(), 'mica-inspect-'));
const program_url = await start(program, '--units', '5000');
const url = await start(tool, 'inspect', program_url);
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', viewport: { width: 1280, height: 720 }, colorScheme: 'dark', bypassCSP: false,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const page = await context.newPage();
page.setDefaultTimeout(20000);
const complaints = [], requests = [];
page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
page.on('crash', () => complaints.push('the page crashed'));
page.on('pageerror', (error) => complaints.push(error.message));
page.on('request', (request) => requests.push(request.url()));
const shoot = async (name) => folder && page.screenshot({ path: join(folder, `inspect_${name}.png`) });
const open = (name) => page.click(`nav[aria-label="Views"] button:has-text("${name}")`);
const frame = async () => Number((await page.textContent('.numbers dd')).replace(/\D/g, ''));

await test('the page shows a running program', async () => {
  await page.goto(url);
  await page.waitForSelector('.state.good:has-text("running")');
  const before = await frame();
  await page.waitForFunction((least) => Number(document.querySelector('.numbers dd').textContent.replace(/\D/g, '')) > least, before + 5);
});

await test('entities are filtered by a query, and mistakes are marked', async () => {
  await page.fill('#filter', 'Place, Soldiers');
  await page.waitForSelector('[role=alert]:has-text("Soldier")');
  await page.fill('#filter', 'Place, Soldier');
  await page.waitForSelector('th:has-text("Soldier")');
  await page.waitForSelector('.fill tbody tr td.value:has-text("health")');
  await shoot('table');
  await page.fill('#filter', 'Camp, Banner');
  await page.waitForSelector('td.value .patch'); // a colour, and a unit
  await page.waitForSelector('td.value:has-text("height 12 m")');
  await page.fill('#filter', 'Captain');
  await page.click('tr:has(button.plain:text-is("captain")) >> nth=0 >> td.value button.link'); // a reference
  await page.waitForSelector('.entity article[aria-label="Captain"]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.entity', { state: 'detached' });
  await page.fill('#filter', 'Place, Soldier');
  await page.waitForSelector('th:has-text("Soldier")');
});

await test('a long table is scrolled to its end', async () => {
  await page.evaluate(() => { const box = document.querySelector('.fill .scroller'); box.scrollTop = box.scrollHeight; });
  await page.waitForFunction(() => document.querySelectorAll('.fill tbody tr:not(.space) button').length > 5);
  await page.fill('#filter', '');
});

await test('an entity of the tree is selected and edited', async () => {
  await page.waitForSelector('[role=tree] button:has-text("red camp")');
  if (!(await page.$('[role=tree] button.plain:has-text("captain")'))) await page.click('[aria-label="Open red camp"]');
  await page.click('[role=tree] li:has-text("red camp") button.plain:has-text("captain")');
  await page.waitForSelector('article[aria-label="Captain"]');
  await page.selectOption('article[aria-label="Captain"] select', 'HOLD');
  await page.fill('article[aria-label="Captain"] [aria-label="motto"]', '<img src=x onerror=alert(1)>');
  await page.press('article[aria-label="Captain"] [aria-label="motto"]', 'Enter');
  await page.fill('article[aria-label="Captain"] [aria-label="courage"]', '42');
  await page.press('article[aria-label="Captain"] [aria-label="courage"]', 'Enter');
  await page.waitForTimeout(500);
  const value = await page.evaluate(() => ['order', 'motto', 'courage'].map((name) => document.querySelector(`article[aria-label="Captain"] [aria-label="${name}"]`).value));
  expect(JSON.stringify(value) === JSON.stringify(['HOLD', '<img src=x onerror=alert(1)>', '42']), `edited values, not ${value}`);
  await page.fill('article[aria-label="Captain"] [aria-label="courage"]', '1000');
  await page.press('article[aria-label="Captain"] [aria-label="courage"]', 'Enter');
  await page.waitForSelector('.entity [role=alert]:has-text("100")');
  await page.fill('article[aria-label="Captain"] [aria-label="motto"]', 'Forward, and never mind the rain');
  await page.press('article[aria-label="Captain"] [aria-label="motto"]', 'Enter');
  await page.selectOption('[aria-label="Add a component"]', 'Fortified');
  await page.waitForSelector('article[aria-label="Fortified"]');
  await page.click('[aria-label="Remove Fortified"]');
  await page.waitForSelector('article[aria-label="Fortified"]', { state: 'detached' });
  await page.click('[aria-label^="Open blue camp"]');
  await page.waitForSelector('.entity button.link:has-text("blue camp")');
  await shoot('entity');
});

await test('the changes of a field and the systems that may write it are shown', async () => {
  await page.waitForFunction(() => Number(document.querySelector('.numbers dd').textContent.replace(/\D/g, '')) > 200);
  await page.click('[aria-label="Pause"]'); // or the soldier may die
  await page.waitForSelector('.state.paused');
  await page.fill('#filter', 'Soldier, Place');
  await page.waitForSelector('th:has-text("Place")');
  await page.click('.fill tbody tr:not(.space) td button');
  await page.click('article[aria-label="Place"] button.name:has-text("x")');
  await page.waitForSelector('[role=dialog] li:has-text("battle.c")');
  await page.waitForSelector('[role=dialog] tbody tr');
  await page.waitForSelector('[role=dialog] .who b:has-text("advance"), [role=dialog] .who b'); // the program ran the frame again
  await shoot('wrote');
  await page.click('[role=dialog] button:has-text("Plot")');
  await page.waitForSelector('section.watched[aria-label*="Place.x"]');
  await open('Entities');
  await page.click('[aria-label="Continue"]');
  await page.fill('#filter', '');
});

await test('numbers are plotted, and a query pauses the program', async () => {
  await open('Watch');
  await page.fill('[aria-label="Query to count"]', 'Spark');
  await page.click('button:has-text("Plot the number")');
  await page.waitForSelector('section.watched[aria-label="Spark"]');
  await page.fill('[aria-label="Pause when this query finds something"]', 'Captain, Fortified');
  await page.click('button:has-text("Set")');
  await page.waitForSelector('text=The program runs until it finds something.');
  await page.waitForTimeout(1200);
  await shoot('watch');
  await open('Entities');
  await page.fill('#filter', 'Captain');
  await page.waitForSelector('th:has-text("Captain")');
  await page.click('.fill tbody tr:not(.space) td button');
  await page.selectOption('[aria-label="Add a component"]', 'Fortified');
  await page.waitForSelector('.state.paused');
  await open('Watch');
  await page.waitForSelector('text=It paused the program in frame');
  await page.click('header:has-text("Break") button:has-text("Remove")');
  await page.click('[aria-label="Continue"]');
  await page.waitForSelector('.state.good');
  await open('Entities');
  await page.click('[aria-label="Remove Fortified"]');
  await page.waitForSelector('article[aria-label="Fortified"]', { state: 'detached' });
  await page.fill('#filter', '');
});

await test('events are listed as they happen', async () => {
  await open('Events');
  await page.waitForSelector('td .tag.added');
  await page.waitForSelector('td .tag.destroyed');
  await page.click('label:has-text("destroyed") input');
  await page.waitForSelector('td .tag.destroyed', { state: 'detached' });
  for (const kind of ['added', 'removed', 'enabled', 'disabled']) await page.click(`label:has-text("${kind}") input`);
  for (const kind of ['stream', 'message', 'request', 'event', 'observer']) await page.waitForSelector(`td .tag.${kind}`);
  await page.fill('[aria-label^="Filter events"]', 'shout');
  await page.waitForSelector('tbody tr:has-text("Forward, and never mind")');
  await page.waitForSelector('td .tag.observer', { state: 'detached' });
  await page.fill('[aria-label^="Filter events"]', '');
  await page.waitForSelector('td .tag.observer');
  await shoot('events');
});

await test('entities are shown as points, and chosen with a brush', async () => {
  await open('2D');
  await page.selectOption('[aria-label="x"]', 'Place.x');
  await page.selectOption('[aria-label="y"]', 'Place.y');
  await page.selectOption('[aria-label="color"]', 'Soldier.health');
  await page.waitForSelector('text=/\\d+ of .* entities/');
  const area = await (await page.waitForSelector('canvas')).boundingBox();
  await page.mouse.move(area.x + 60, area.y + 20);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width / 2, area.y + area.height - 40, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector('.chosen li');
  await shoot('plane');
});

await test('queries and SQL are run', async () => {
  await open('Query');
  await page.fill('textarea', 'Captain');
  await page.press('textarea', 'Control+Enter');
  await page.waitForSelector('text=2 entities');
  await page.click('[role=tab]:has-text("SQL")');
  await page.fill('textarea', 'select army, count(*) as soldiers, round(avg(health), 2) as health\nfrom Soldier group by army');
  await page.press('textarea', 'Control+Enter');
  await page.waitForSelector('th:has-text("soldiers")');
  expect((await page.$$('tbody tr')).length === 2, 'a row for each army');
  await shoot('query');
  await page.fill('textarea', 'selec');
  await page.press('textarea', 'Control+Enter');
  await page.waitForSelector('[role=alert]:has-text("syntax")');
});

await test('systems are shown and switched', async () => {
  await open('Systems');
  await page.click('button:has-text("steer")');
  await page.waitForSelector('text=battle.c');
  await page.click('[aria-label="fade is enabled"]');
  await page.waitForSelector('tr.off:has-text("fade")');
  await page.click('[aria-label="fade is enabled"]');
  await page.waitForSelector('tr.off:has-text("fade")', { state: 'detached' });
  await page.waitForTimeout(1500);
  await shoot('systems');
  await page.click('[role=tab]:has-text("graph")');
  await page.waitForSelector('.graph .node:has-text("steer")');
  await page.click('.graph .node:has-text("steer")');
  await page.waitForSelector('.graph p:has-text("waits for")');
  await shoot('graph');
  await page.click('[role=tab]:has-text("time line")');
  await page.waitForSelector('.lane:has-text("worker 0") .system');
  await shoot('lanes');
});

await test('memory lists archetypes and pools', async () => {
  await open('Memory');
  await page.waitForSelector('td:has-text("Soldier")');
  await page.waitForSelector('text=Opposes');
  await shoot('memory');
});

await test('a paused program is stepped, rewound and compared', async () => {
  await open('Time');
  await page.click('[aria-label="Pause"]');
  await page.waitForSelector('.state.paused');
  const before = await frame();
  await page.click('[aria-label="Run one frame"]');
  await page.waitForFunction((least) => Number(document.querySelector('.numbers dd').textContent.replace(/\D/g, '')) > least, before);
  const line = await page.$('[aria-label="Frame"]');
  const first = Number(await line.getAttribute('min'));
  await line.fill(String(first + 20));
  await page.waitForFunction((most) => Number(document.querySelector('.numbers dd').textContent.replace(/\D/g, '')) <= most, first + 20);
  await page.waitForSelector('button:has-text("to the present")');
  expect(await page.isDisabled('[aria-label="Run one frame"]'), 'that the past is not stepped');
  await page.fill('[aria-label="First frame"]', String(first + 1));
  await page.click('main button:has-text("Compare")');
  await page.waitForSelector('td:has-text("Place.x")');
  await shoot('time');
  const last = Number(await line.getAttribute('max'));
  await line.fill(String(last - 10));
  await page.waitForFunction((most) => Number(document.querySelector('.numbers dd').textContent.replace(/\D/g, '')) <= most, last - 10);
  await page.click('.timeline button:has-text("branch here")');
  await page.waitForSelector('.live.on');
  await page.waitForFunction((most) => Number(document.querySelector('[aria-label="Frame"]').max) < most, last); // the program went back
  await page.click('[aria-label="Continue"]');
  await page.waitForSelector('.state.good');
});

await test('the keyboard is enough', async () => {
  await page.click('h1');
  await page.keyboard.press('1');
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement?.id === 'filter');
  await page.keyboard.type('Camp');
  await page.waitForSelector('th:has-text("Camp")');
  await page.keyboard.press('Tab');
  await page.waitForTimeout(400);
  await page.focus('.fill .scroller');
  await page.keyboard.press('ArrowDown');
  await page.waitForSelector('article[aria-label="Camp"]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('article[aria-label="Camp"]', { state: 'detached' });
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('.timeline button:has-text("to the present")');
  const past = await frame();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction((most) => Number(document.querySelector('.numbers dd').textContent.replace(/\D/g, '')) < most, past);
  await page.click('.timeline button:has-text("to the present")');
  await page.waitForSelector('.live.on');
});

await test('both themes have no serious problem of accessibility', async () => {
  for (const theme of ['dark', 'light']) {
    for (const name of ['Entities', 'Query', 'Systems', 'Memory', 'Events', 'Time', 'Watch', '2D']) {
      await open(name);
      await page.waitForTimeout(200);
      await page.evaluate(axe).catch(() => {});
      const found = await page.evaluate(() => window.axe?.run(document, { resultTypes: ['violations'] }));
      const serious = (found?.violations ?? []).filter((one) => ['serious', 'critical'].includes(one.impact));
      expect(found, 'axe-core to run');
      expect(!serious.length, `no findings in ${name} (${theme}): ${serious.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)} ${one.nodes[0].any[0]?.message ?? ''}`).join('; ')}`);
    }
    if (theme === 'light') {
      await open('Systems');
      await page.waitForTimeout(500);
      await shoot('light');
    } else await page.click('[aria-label="Use the light theme"]');
  }
});

await test('a recording is replayed, rewound, branched, and put back', async () => {
  const build = dirname(tool), at = (name) => join(profile, name), run = (...words) => execFileSync(tool, words);
  const module = join(build, 'examples/modules/gravity.so'), source = join(dirname(fileURLToPath(import.meta.url)), '../examples/modules/level.json');
  run('compile', '-q', source, '-o', at('level.mica'));
  run('run', '-q', '-u', '-m', module, '--frames', '600', '-R', at('run.micarec'), at('level.mica'));
  const saved = page.url();
  await page.goto(await start(tool, 'inspect', '-u', '-m', module, at('run.micarec'), at('level.mica')));
  await page.waitForSelector('.state:has-text("recording")');
  await page.waitForFunction(() => document.querySelector('[aria-label="Frame"]')?.max === '600');
  await page.fill('[aria-label="Frame"]', '123');
  await page.waitForFunction(() => document.querySelector('.numbers dd').textContent === '123');
  await page.click('[role=tree] button:has-text("apple")');
  await page.waitForSelector('article[aria-label="Height"]');
  expect(await page.isDisabled('article[aria-label="Height"] input'), 'that a recording is not edited');
  await page.click('article[aria-label="Height"] button.name:has-text("value")');
  await page.waitForSelector('[role=dialog] .who b:has-text("move"), [role=dialog] b:has-text("move")');
  await shoot('recording');
  await page.click('.timeline button:has-text("branch here")');
  await page.waitForSelector('.state.paused:has-text("branch")');
  await page.click('[aria-label="Run one frame"]');
  await page.waitForFunction(() => document.querySelector('.numbers dd').textContent === '124');
  await page.click('[aria-label="Continue"]');
  await page.waitForSelector('.state.good:has-text("branch, running")');
  await page.click('.timeline button:has-text("back to the recording")');
  await page.waitForFunction(() => document.querySelector('[aria-label="Frame"]').max === '600');
  await page.goto(saved);
});

await test('a million entities are shown, scrolled and rewound without waiting', async () => {
  const saved = page.url(), load = await start(join(dirname(tool), 'bench/inspect_load'), '1000000', '60', '--serve', 'programprogram0123');
  const address = await start(tool, 'inspect', load), begin = performance.now();
  await page.goto(address);
  await page.waitForSelector('.fill tbody tr:not(.space) button');
  const first = performance.now() - begin;
  await page.fill('#filter', 'Place, Moving');
  await page.waitForSelector('.fill tbody tr:not(.space) td.value');
  await page.waitForTimeout(2500);
  const [near, far] = await page.evaluate(async () => {
    const box = document.querySelector('.fill .scroller'), next = () => new Promise((done) => requestAnimationFrame(done));
    const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
    const scroll = async (to) => {
      const begin = performance.now();
      box.scrollTop = to;
      for (await next(), await next(); document.querySelector('.fill tbody td.quiet') && performance.now() < begin + 5000;) await next();
      return performance.now() - begin;
    };
    const near = [], far = [];
    for (let i = 1; i < 30; ++i) near.push(await scroll(i * 30 * 28));
    for (let i = 1; i < 12; ++i) far.push(await scroll((box.scrollHeight * i) / 12));
    await scroll(0);
    return [median(near), median(far)];
  });
  await page.click('[aria-label="Pause"]');
  await page.waitForSelector('.state.paused');
  await page.waitForTimeout(600); // the last frames arrive
  const moments = await page.evaluate(() => fetch(`/api/status${location.search}`).then((answer) => answer.json()).then((status) => status.moments));
  expect(moments > 11, `frames to go back to, not ${moments}`);
  const [number, rows] = await page.evaluate(async () => {
    const text = () => [document.querySelector('.numbers dd').textContent, document.querySelector('.fill tbody td.value').textContent];
    const median = (list) => list.sort((a, b) => a - b)[list.length >> 1], number = [], rows = [];
    for (let i = 0; i < 10; ++i) {
      const before = text(), begin = performance.now(), wait = () => new Promise((done) => setTimeout(done, 1));
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
      while (text()[0] === before[0] && performance.now() < begin + 5000) await wait();
      number.push(performance.now() - begin);
      while (text()[1] === before[1] && performance.now() < begin + 5000) await wait();
      rows.push(performance.now() - begin);
    }
    return [median(number), median(rows)];
  });
  console.log(`        first rows after ${first.toFixed(0)} ms; scrolled rows after ${near.toFixed(0)} and ${far.toFixed(0)} ms; a past frame after ${number.toFixed(0)} ms, its rows after ${rows.toFixed(0)} ms`);
  // Two and three times the targets: the machine may be busy. tools/inspect_cost.py limits the processor time of the first rows to 2 s.
  expect(first < 6000, `the first rows within 6 s, not ${first} ms`);
  expect(near < 150 && far < 150, `scrolled rows within 150 ms, not ${near} and ${far} ms`);
  expect(rows < 100, `past frames within 100 ms, not ${rows} ms`);
  await page.goto(saved);
});

await test('several programs and files are tabs', async () => {
  const saved = page.url();
  await page.goto(await start(tool, 'inspect', join(profile, 'level.mica'), program_url));
  await page.waitForSelector('[role=tab][aria-selected=true]:has-text("level.mica")');
  await page.keyboard.press(']');
  await page.waitForSelector('[role=tab][aria-selected=true]:has-text("battle")');
  await page.waitForSelector('.state.good:has-text("running")');
  await page.click('[role=tab]:has-text("level.mica")');
  await page.waitForSelector('.state:has-text("file")');
  await page.goto(saved);
});

await test('nothing was reported to the console, and nothing was loaded from elsewhere', async () => {
  const known = complaints.filter((text) => !/status of 4(00|09)/.test(text)); // refused edits and wrong queries, asked for above
  expect(!known.length, `silence, not ${known.join('; ')}`);
  const strange = requests.filter((one) => new URL(one).hostname !== '127.0.0.1' && !one.startsWith('data:'));
  expect(!strange.length, `no requests to ${strange[0]}`);
});

await context.close();
for (const child of children) child.removeAllListeners('exit') && child.kill();
rmSync(profile, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
