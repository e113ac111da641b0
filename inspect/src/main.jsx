import { render } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import { control, get, listen, post } from './api.js';
import { Entities } from './entities.jsx';
import { Events } from './events.jsx';
import { Icon, canBranch, count, useAnswer } from './parts.jsx';
import { Plane } from './plane.jsx';
import { Query } from './query.jsx';
import './style.css';
import { Memory, Systems, useTimes } from './systems.jsx';
import { Time, useHistory } from './time.jsx';
import { Watch } from './watch.jsx';

const views = [['entities', 'Entities'], ['query', 'Query'], ['systems', 'Systems'], ['memory', 'Memory'], ['events', 'Events'], ['time', 'Time'], ['watch', 'Watch'], ['plane', '2D']];

// The class and the text of what a source does.
function stateOf(status) {
  if (status.recording && !status.branched) return status.last < status.ticks && !status.problem ? ['good', `replaying, ${count(status.last)} of ${count(status.ticks)} ticks`] : ['file', 'recording'];
  if (status.recording) return status.paused ? ['paused', 'branch, paused'] : ['good', 'branch, running'];
  if (!status.program) return ['file', 'file'];
  return !status.connected ? ['bad', 'disconnected'] : status.paused ? ['paused', 'paused'] : ['good', 'running'];
}

function useTheme() {
  const [theme, setTheme] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  useEffect(() => void (document.documentElement.dataset.theme = theme), [theme]);
  return [theme, () => setTheme(theme === 'dark' ? 'light' : 'dark')];
}

function TimeLine({ status, stats, history, show, branch }) {
  const frames = history?.frames ?? [];
  const wanted = useRef(null), busy = useRef(false);
  const seek = async (frame) => {
    wanted.current = frame;
    if (busy.current) return;
    busy.current = true;
    while (wanted.current !== null) {
      const next = wanted.current;
      wanted.current = null;
      await show(next);
    }
    busy.current = false;
  };
  return (
    <footer class="timeline">
      <span class="quiet">{status.first}</span>
      <input type="range" aria-label="Frame" min={status.first} max={Math.max(status.last, status.first + 1)} value={status.live ? status.last : status.frame} disabled={frames.length < 2}
        onKeyDown={(event) => ['ArrowLeft', 'ArrowRight'].includes(event.key) && (event.preventDefault(), show(status.frame, event.key === 'ArrowLeft' ? -1 : 1))}
        onInput={(event) => seek(Number(event.currentTarget.value))} />
      <span class="quiet">{status.last}</span>
      {(status.program || status.recording) && !status.live && <button disabled={!canBranch(status, stats)} title="The program goes on from the frame that is shown" onClick={() => branch(status.frame)}><Icon name="branch" />branch here</button>}
      {status.branched && <button title="Ends the branch" onClick={() => branch(null)}><Icon name="history" />back to the recording</button>}
      <button class={status.live ? 'live on' : 'live'} aria-pressed={status.live} disabled={status.live} onClick={() => show(null)}><Icon name="live" />{status.live ? 'present' : 'to the present'}</button>
    </footer>
  );
}

function App() {
  const [statuses, setStatuses] = useState([]);
  const [source, setSource] = useState(0);
  const [view, setView] = useState('entities');
  const [selected, setSelected] = useState(null);
  const [isOnline, setOnline] = useState(true);
  const [problem, setProblem] = useState('');
  const [theme, switchTheme] = useTheme();
  const status = statuses[source];
  useEffect(() => {
    get('sources').then(setStatuses, (error) => setProblem(error.message));
    return listen(update, setOnline);
  }, []);
  const componentKey = status?.ready ? `${source} ${status.name} ${Math.floor(status.change / 200)}` : '';
  const components = useAnswer(() => (status?.ready ? get('components', { source }) : Promise.resolve({ components: [] })), [componentKey]).value?.components ?? [];
  const stats = useAnswer(() => (status?.program || status?.recording ? get('stats', { source }) : Promise.resolve(null)), [source], { tick: status?.change ?? 0, minimum: 250 }).value;
  const times = useTimes(stats);
  const history = useHistory(source, status);
  const ask = useCallback((request) => control(source, request).then(() => setProblem(''), (error) => setProblem(error.message)), [source]);
  const update = (message) => setStatuses((before) => Object.assign([...before], { [message.source]: message.status }));
  const show = useCallback((frame, by) => post('show', { source, frame, by }).then((answer) => (update({ source, status: answer.status }), setProblem('')), (error) => setProblem(error.message)), [source]);
  const branch = useCallback((frame) => post('branch', frame === null ? { source, back: 1 } : { source, frame }).then(() => setProblem(''), (error) => setProblem(error.message)), [source]);
  const goTo = (number) => (setSource(number), setSelected(null));
  const locked = !status || status.read_only || !status.connected || !status.live;
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(input|textarea|select)$/i.test(event.target.tagName)) return;
      const number = Number(event.key);
      if (number >= 1 && number <= views.length) setView(views[number - 1][0]);
      else if (event.key === '[' || event.key === ']') goTo((source + (event.key === ']' ? 1 : statuses.length - 1)) % statuses.length);
      else if (event.key === '/') (setView('entities'), setTimeout(() => document.getElementById('filter')?.focus()), event.preventDefault());
      else if (event.key === ' ' && event.target.tagName !== 'BUTTON' && !locked) (ask(status.paused ? 'pause off' : 'pause on'), event.preventDefault());
      else if (event.key === '.' && !locked) ask('step');
      else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
        if (status?.moments > 1 && !event.shiftKey) (show(status.frame, event.key === 'ArrowLeft' ? -1 : 1), event.preventDefault());
      } else if (event.key === 'Escape') setSelected(null);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [status, statuses.length, source, locked, ask, show]);
  if (!status) return <p class="pad" role="status">{problem || 'Connecting to mica inspect…'}</p>;
  const state = isOnline ? stateOf(status) : ['bad', 'mica inspect has ended'];
  return (
    <div class="app">
      <nav class="rail" aria-label="Views">
        <div class="logo" aria-hidden="true">m</div>
        {views.map(([name, title], i) => (
          <button key={name} aria-current={view === name ? 'page' : undefined} title={`${title} (${i + 1})`} onClick={() => setView(name)}><Icon name={name} size={20} />{title}</button>
        ))}
        <span class="grow" />
        <button aria-label={`Use the ${theme === 'dark' ? 'light' : 'dark'} theme`} onClick={switchTheme}><Icon name="theme" size={18} /></button>
      </nav>
      <header class="top">
        {statuses.length > 1 ? (
          <div role="tablist" aria-label="Programs and files" class="tabs sources">{statuses.map((one, i) => <button key={i} role="tab" aria-selected={i === source} title={`${one.name}: ${stateOf(one)[1]}`} onClick={() => goTo(i)}><span class={`dot ${stateOf(one)[0]}`} aria-hidden="true" />{one.name}</button>)}</div>
        ) : <h1>{status.name}</h1>}
        <span class={`state ${state[0]}`} role="status">{state[1]}</span>
        {status.problem && <span class="quiet">{status.problem}</span>}
        {problem && <span class="problem inline" role="alert">{problem}</span>}
        <span class="grow" />
        <dl class="numbers"><div><dt>frame</dt><dd>{count(status.frame)}</dd></div><div><dt>time</dt><dd>{status.seconds.toFixed(2)} s</dd></div><div><dt>entities</dt><dd>{count(status.entities)}</dd></div></dl>
        {(status.program || status.branched) && <div class="transport">
          <button disabled={locked} aria-label={status.paused ? 'Continue' : 'Pause'} title="Space" onClick={() => ask(status.paused ? 'pause off' : 'pause on')}><Icon name={status.paused ? 'play' : 'pause'} /></button>
          <button disabled={locked} aria-label="Run one frame" title="Period" onClick={() => ask('step')}><Icon name="step" /></button>
        </div>}
      </header>
      <main>
        {!status.ready ? <p class="pad quiet">Waiting for the first frame of the program. {status.problem}</p>
          : view === 'entities' ? <Entities {...{ source, status, components, selected, select: setSelected, goto: setView }} />
          : view === 'query' ? <Query {...{ source, components, select: setSelected, show: setView }} key={components.length > 0} />
          : view === 'systems' ? <Systems {...{ source, status, stats, times }} key={theme} />
          : view === 'memory' ? <Memory {...{ source, status, stats, components }} />
          : view === 'events' ? <Events {...{ source, status, select: setSelected, goto: setView }} />
          : view === 'watch' ? <Watch {...{ source, status, stats, show }} key={theme} />
          : view === 'plane' ? <Plane {...{ source, status, components, select: setSelected, goto: setView }} key={theme} />
          : <Time {...{ source, status, stats, history, show, branch, select: setSelected, goto: setView }} key={theme} />}
      </main>
      {status.ready && status.moments > 1 && <TimeLine {...{ status, stats, history, show, branch }} />}
    </div>
  );
}

render(<App />, document.getElementById('app'));
