// The controls: they choose a program, set its parameters, and move through time.
import * as engine from './engine.js';
import { cssColor, drawChart, drawMarks } from './picture.js';
import { showSource } from './source.js';

const element = (name) => document.getElementById(name);
const past = new Map(); // frame: numbers of the chart
let programs = [], index = 0, values = [], isPlaying = true, isOver = false;
let milliseconds = 0, lastTime = 0, waiting = 0;

const program = () => programs[index];

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const format = (number) => Number(number).toLocaleString('en', { maximumFractionDigits: 2 });

function show() {
  const marks = engine.draw(), frames = engine.frames();
  past.set(frames.at, Array.from(marks.numbers.subarray(0, program().numbers.length)));
  drawMarks(element('picture'), program(), marks);
  drawChart(element('chart'), program(), past, frames, getComputedStyle(document.body).color);
  const time = element('time');
  time.min = frames.first;
  time.max = Math.max(frames.last, frames.first + 60); // as the chart
  time.value = frames.at;
  element('frame').textContent = frames.at;
  element('hash').textContent = engine.hash();
  element('marks').textContent = format(marks.count);
  element('cost').textContent = milliseconds ? `${milliseconds.toFixed(1)} ms` : '';
  element('history').textContent = `${frames.last - frames.first + 1}, ${(engine.historyBytes() / 1e6).toFixed(1)} MB`;
  program().numbers.forEach((_, which) => { element(`number-${which}`).textContent = format(Math.round(marks.numbers[which])); });
}

function step() {
  const { at, last } = engine.frames();
  for (let frame = at + 1; frame <= last; ++frame) past.delete(frame);
  const before = performance.now();
  engine.step();
  milliseconds = 0.9 * (milliseconds || performance.now() - before) + 0.1 * (performance.now() - before);
  past.delete(engine.frames().first - 1);
}

function setPlaying(shouldPlay) {
  isPlaying = shouldPlay;
  waiting = 0;
  element('play').setAttribute('aria-label', isPlaying ? 'Pause' : 'Play');
  element('play').textContent = isPlaying ? '❚❚' : '▶';
}

// After an error the program is over until it is started again.
function attempt(action) {
  if (isOver) return setPlaying(false);
  try {
    action();
    show();
  } catch (error) {
    isOver = true;
    setPlaying(false);
    element('problem').hidden = false;
    element('problem').textContent = error.message;
  }
}

function restart() {
  isOver = false;
  element('problem').hidden = true;
  past.clear();
  milliseconds = 0;
  attempt(() => {
    engine.setValues(values);
    engine.start(index);
  });
}

function run(time) {
  waiting = Math.min(waiting + time - lastTime, 2000 / program().rate); // a slow computer runs slowly
  lastTime = time;
  if (isPlaying && waiting >= 1000 / program().rate) {
    waiting -= 1000 / program().rate;
    attempt(step);
  }
  requestAnimationFrame(run);
}

function moveTo(frame) {
  setPlaying(false);
  attempt(() => engine.rewind(frame));
}

function setParameter(which, value) {
  values[which] = value;
  element(`value-${which}`).textContent = format(value);
  engine.setValues(values);
  if (program().parameters[which].restarts) restart();
}

function makeSlider(parameter, which) {
  const slider = make('input', { id: `parameter-${which}`, type: 'range', min: parameter.minimum, max: parameter.maximum, step: parameter.step });
  slider.value = values[which];
  slider.addEventListener('input', () => setParameter(which, slider.valueAsNumber));
  const label = make('label', { htmlFor: slider.id }, parameter.name);
  if (parameter.restarts) label.append(make('small', {}, 'restarts'));
  return make('div', { className: 'parameter' }, label, make('output', { id: `value-${which}`, htmlFor: slider.id }, format(values[which])), slider);
}

function makeNumber(number, which) {
  const dot = make('i', {});
  dot.style.background = cssColor(number.color);
  return make('div', {}, make('dt', {}, dot, number.name), make('dd', { id: `number-${which}` }));
}

async function openFile(name) {
  for (const button of element('files').children) button.setAttribute('aria-pressed', button.textContent === name);
  const response = await fetch(`source/${name}`);
  showSource(element('code'), await response.text());
}

function showFiles() {
  const files = program().sources.split(' ');
  element('files').replaceChildren(...files.map((name) => {
    const button = make('button', { type: 'button' }, name);
    button.addEventListener('click', () => openFile(name));
    return button;
  }));
  openFile(files[files.length > 1 ? 1 : 0]);
}

function resetValues() {
  values = program().parameters.map((parameter) => parameter.initial);
  element('parameters').replaceChildren(...program().parameters.map(makeSlider));
}

function choose(which) {
  index = which;
  for (const [number, button] of [...element('programs').children].entries())
    number === which ? button.setAttribute('aria-current', 'page') : button.removeAttribute('aria-current');
  element('shows').textContent = program().shows;
  element('picture').style.aspectRatio = `${program().width} / ${program().height}`;
  element('picture').setAttribute('aria-label', `The world of the program ${program().name}`);
  element('numbers').replaceChildren(...program().numbers.map(makeNumber));
  resetValues();
  showFiles();
  restart();
  setPlaying(!matchMedia('(prefers-reduced-motion: reduce)').matches);
}

function chooseByAddress() {
  const found = programs.findIndex(({ name }) => `#${name}` === location.hash);
  choose(Math.max(found, 0));
}

function setTheme(isDark) {
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  element('theme').setAttribute('aria-pressed', isDark);
}

const stepBy = {
  forward: () => { setPlaying(false); attempt(step); },
  back: () => moveTo(Math.max(engine.frames().at - 1, engine.frames().first)),
};

function handleKey(event) {
  const isControl = event.target.closest?.('button, input');
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === ' ' && !isControl) setPlaying(!isPlaying);
  else if (event.key === '.') stepBy.forward();
  else if (event.key === ',') stepBy.back();
  else return;
  event.preventDefault();
}

function connect() {
  element('play').addEventListener('click', () => setPlaying(!isPlaying));
  element('step').addEventListener('click', stepBy.forward);
  element('back').addEventListener('click', stepBy.back);
  element('time').addEventListener('input', () => moveTo(Math.min(element('time').valueAsNumber, engine.frames().last)));
  element('restart').addEventListener('click', restart);
  element('reset').addEventListener('click', () => { resetValues(); restart(); });
  element('parameters').addEventListener('submit', (event) => event.preventDefault());
  element('theme').addEventListener('click', () => { setTheme(document.documentElement.dataset.theme !== 'dark'); attempt(() => {}); });
  window.addEventListener('keydown', handleKey);
  window.addEventListener('resize', () => attempt(() => {}));
  window.addEventListener('hashchange', chooseByAddress);
}

async function main() {
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  try {
    programs = await engine.load('playground.wasm');
  } catch (error) {
    element('problem').hidden = false;
    element('problem').textContent = `The programs can't be loaded: ${error.message}`;
    return;
  }
  element('programs').append(...programs.map(({ name }) => make('a', { href: `#${name}` }, name)));
  connect();
  chooseByAddress();
  requestAnimationFrame((time) => { lastTime = time; run(time); });
}

main();
