import { useState } from 'preact/hooks';
import { control, get, post } from './api.js';
import { Chart, brief, useAnswer } from './parts.jsx';

// Values over the last frames, and a query that pauses the program.
export function Watch({ source, status, stats, show }) {
  const [text, setText] = useState('');
  const [stop, setStop] = useState(null);
  const [problem, setProblem] = useState('');
  const [turn, setTurn] = useState(0);
  const { value } = useAnswer(() => get('watches', { source }), [source, turn], { tick: status.change, minimum: 250 });
  const ask = (promise) => promise.then(() => (setProblem(''), setTurn(turn + 1)), (error) => setProblem(`${error.position !== undefined ? `At ${error.position}: ` : ''}${error.message}`));
  const locked = status.read_only || !status.connected || !status.live;
  const active = stats?.break?.query ?? '';
  return (
    <div class="page">
      <header class="bar">
        <h2>Watch</h2>
        <form class="row" onSubmit={(event) => (event.preventDefault(), ask(post('watch', { source, do: 'add', query: text })), setText(''))}>
          <input type="text" list="component-names" spellcheck={false} aria-label="Query to count" placeholder="Count: Soldier, !Spark" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          <button class="primary" type="submit">Plot the number of entities</button>
        </form>
        <span class="quiet">Fields are plotted from the panel of an entity.</span>
      </header>
      {(status.program || status.branched) && (
        <header class="bar">
          <h3>Break</h3>
          <form class="row" onSubmit={(event) => (event.preventDefault(), ask(control(source, 'break', stop ?? active)), setStop(null))}>
            <input type="text" spellcheck={false} aria-label="Pause when this query finds something" placeholder="Pause when: Captain, !Fortified" disabled={locked} value={stop ?? active} onInput={(event) => setStop(event.currentTarget.value)} />
            <button type="submit" disabled={locked}>Set</button>
            {active && <button type="button" disabled={locked} onClick={() => (ask(control(source, 'break', '')), setStop(null))}>Remove</button>}
          </form>
          <span class="quiet">{!active ? 'The program is paused in the frame in which a query begins to find entities.' : stats.break.frame ? `It paused the program in frame ${stats.break.frame}.` : 'The program runs until it finds something.'}</span>
        </header>
      )}
      {problem && <p class="problem" role="alert">{problem}</p>}
      <div class="scroller watches">
        {value?.watches.map((one) => (
          <section key={one.id} class="watched" aria-label={one.label}>
            <header class="bar"><h3>{one.label}</h3><span class="value">{brief(one.values.at(-1))}</span><span class="grow" /><button class="small" onClick={() => ask(post('watch', { source, do: 'remove', id: one.id }))}>Remove</button></header>
            <Chart title={`${one.label} per frame`} height={130} x={one.frames} series={[{ label: one.label, values: one.values }]} onPick={show} mark={status.live ? null : status.frame} />
          </section>
        ))}
        {value && !value.watches.length && <p class="quiet pad">Nothing is plotted yet.</p>}
      </div>
    </div>
  );
}
