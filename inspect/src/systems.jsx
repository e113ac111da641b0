import { useRef, useState } from 'preact/hooks';
import { control, get } from './api.js';
import { Graph, TimeLanes } from './graph.jsx';
import { Chart, bytes, count, micros, shownOf, tickOf, useAnswer } from './parts.jsx';

// Times of the last minutes, which the page collects while it is open.
export function useTimes(stats) {
  const kept = useRef({ frames: [], total: [], flush: [], systems: {} });
  const all = kept.current;
  if (stats && stats.frame !== all.frames.at(-1)) {
    if (stats.frame < (all.frames.at(-1) ?? 0)) (all.frames.length = all.total.length = all.flush.length = 0), (all.systems = {});
    all.frames.push(stats.frame);
    all.total.push(stats.time_ns / 1e3);
    all.flush.push(stats.flush_ns / 1e3);
    for (const system of stats.systems ?? []) {
      const list = (all.systems[system.name] ??= Array(all.frames.length - 1).fill(null));
      while (list.length < all.frames.length - 1) list.push(null);
      list.push(system.time_ns / 1e3);
    }
    if (all.frames.length > 600) for (const list of [all.frames, all.total, all.flush, ...Object.values(all.systems)]) list.shift();
  }
  return all;
}

export function Systems({ source, status, stats, times }) {
  const [problem, setProblem] = useState('');
  const [open, setOpen] = useState(null);
  const [mode, setMode] = useState('table');
  const locked = status.read_only || !status.connected || !status.live;
  const ask = (request, name) => control(source, request, name).then(() => setProblem(''), (error) => setProblem(error.message));
  if (!stats?.systems) return <p class="pad quiet">{status.program || status.recording ? 'The program has not sent any systems yet.' : 'A file has no systems.'}</p>;
  const most = Math.max(1, ...stats.systems.map((system) => system.time_ns));
  const phases = [...new Set(stats.systems.map((system) => system.phase))];
  return (
    <div class="page">
      <header class="bar"><h2>Systems</h2>
        <div role="tablist" aria-label="Show systems as" class="tabs">{['table', 'graph', 'time line'].map((name) => <button key={name} role="tab" aria-selected={mode === name} onClick={() => setMode(name)}>{name}</button>)}</div><span class="quiet">frame {micros(stats.time_ns)}, flush {micros(stats.flush_ns)}, {stats.workers} {stats.workers === 1 ? 'worker' : 'workers'}</span></header>
      {problem && <p class="problem" role="alert">{problem}</p>}
      {mode === 'graph' && <Graph systems={stats.systems} />}
      {mode === 'time line' && <TimeLanes {...{ source, status, locked }} />}
      {mode === 'table' && <Chart title="Microseconds per frame" x={times.frames} series={[{ label: 'frame', values: times.total }, { label: 'flush', values: times.flush }]} />}
      {mode === 'table' && <div class="scroller">
        {phases.map((phase) => (
          <section key={phase} aria-label={`Phase ${phase}`}>
            <h3 class="phase">{phase}</h3>
            <table class="grid">
              <thead><tr><th scope="col">on</th><th scope="col">system</th><th scope="col" class="wide">last frame</th><th scope="col">average</th><th scope="col">rows</th><th scope="col">threads</th><th scope="col">accesses</th><th scope="col">action</th></tr></thead>
              <tbody>
                {stats.systems.filter((system) => system.phase === phase).map((system) => (
                  <>
                    <tr key={system.name} class={system.enabled ? '' : 'off'}>
                      <td><input type="checkbox" aria-label={`${system.name} is enabled`} checked={system.enabled} disabled={locked || system.handlers} onChange={(event) => ask(event.currentTarget.checked ? 'system on' : 'system off', system.name)} /></td>
                      <td><button class="link" aria-expanded={open === system.name} onClick={() => setOpen(open === system.name ? null : system.name)}>{system.name}</button></td>
                      <td><div class="meter"><span style={{ width: `${(100 * system.time_ns) / most}%` }} /><b>{micros(system.time_ns)}</b></div></td>
                      <td class="value">{system.runs ? micros(system.total_ns / system.runs) : '–'}</td>
                      <td class="value">{system.entities}</td>
                      <td class="value">{system.workers}{system.fused > 1 ? `, fused ${system.fused}` : ''}</td>
                      <td>{system.accesses.map((access, i) => <span key={i} class={`chip ${access.write ? 'write' : ''}`} title={`${access.write ? 'writes' : 'reads'} ${access.own ? 'its rows' : 'any row'}`}>{access.name}</span>)}</td>
                      <td><button class="small" disabled={locked} onClick={() => ask('system run', system.name)}>run</button></td>
                    </tr>
                    {open === system.name && (
                      <tr key={`${system.name} more`}><td /><td colSpan={7} class="quiet">
                        {system.file}:{system.line}{system.exclusive ? ' · exclusive' : ''}{system.one_thread ? ' · one thread' : ''}{system.flush_first ? ' · after a flush' : ''}
                        {system.waits.length > 0 ? <> · waits for {system.waits.map((wait) => `${wait.on} (${wait.reason})`).join(', ')}</> : ' · waits for no system'}
                        {times.systems[system.name] && <Chart title={`Microseconds of ${system.name} per frame`} height={90} x={times.frames} series={[{ label: system.name, values: times.systems[system.name] }]} />}
                      </td></tr>
                    )}
                  </>
                ))}
              </tbody>
            </table>
          </section>
        ))}
      </div>}
    </div>
  );
}

// Memory of the program while the page is open.
function useGrowth(stats) {
  const kept = useRef({ frames: [], all: [], chunks: [] }), all = kept.current;
  if (stats?.world && stats.frame !== all.frames.at(-1)) {
    if (stats.frame < (all.frames.at(-1) ?? 0)) all.frames.length = all.all.length = all.chunks.length = 0;
    all.frames.push(stats.frame);
    all.all.push(stats.world.bytes / (1 << 20));
    all.chunks.push(stats.world.chunk_bytes / (1 << 20));
    for (const list of Object.values(all)) if (list.length > 600) list.shift();
  }
  return all;
}

export function Memory({ source, status, stats, components }) {
  const growth = useGrowth(stats);
  const { value } = useAnswer(() => get('memory', { source }), [source, shownOf(status)], { tick: tickOf(status), minimum: 500 });
  return <MemoryTables {...{ value, stats, status, growth, components }} />;
}


function MemoryTables({ value, stats, status, growth, components }) {
  const opaque = components.filter((one) => one.bytes && !one.type.fields.length && one.storage !== 'tag');
  const archetypes = [...(value?.archetypes ?? [])].sort((a, b) => b.bytes - a.bytes);
  const most = Math.max(1, ...archetypes.map((one) => one.bytes));
  const used = archetypes.reduce((sum, one) => sum + one.bytes, 0);
  const world = stats?.world;
  const cards = [
    ['entities', count(status.entities)],
    ['archetypes', count(archetypes.length)],
    ['rows in chunks', bytes(used)],
    ...(world ? [['chunks', bytes(world.chunk_bytes)], ['unused in chunks', world.chunk_bytes > used ? `${((100 * (world.chunk_bytes - used)) / world.chunk_bytes).toFixed(0)} %` : '–'], ['program, all', bytes(world.bytes)]] : []),
    ['history here', bytes(value?.history_bytes ?? 0)],
  ];
  return (
    <div class="page">
      <header class="bar"><h2>Memory</h2></header>
      <dl class="cards">{cards.map(([name, text]) => <div key={name}><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
      {stats?.world && <Chart title="Memory of the program in MiB, and of its chunks" height={90} x={growth.frames} series={[{ label: 'all', values: growth.all }, { label: 'chunks', values: growth.chunks }]} />}
      <div class="scroller">
        <h3 class="phase">archetypes</h3>
        <table class="grid"><thead><tr><th scope="col">components</th><th scope="col">rows</th><th scope="col">bytes per row</th><th scope="col">chunks</th><th scope="col" class="wide">bytes</th></tr></thead>
          <tbody>{archetypes.map((one) => <tr key={one.components.join()}><td>{one.components.map((name) => <span class="chip" key={name}>{name}</span>)}{one.components.length === 0 && <span class="quiet">none</span>}</td><td class="value">{count(one.rows)}</td><td class="value">{one.row_bytes}</td><td class="value">{one.chunks}</td>
            <td><div class="meter"><span style={{ width: `${(100 * one.bytes) / most}%` }} /><b>{bytes(one.bytes)}</b></div></td></tr>)}</tbody></table>
        {opaque.length > 0 && status.program && <p class="quiet">Not shown, since no field is described: {opaque.map((one) => <span class="chip" key={one.name}>{one.name}, {bytes(one.bytes)}</span>)}</p>}
        {stats?.pools?.length > 0 && <>
          <h3 class="phase">pools and relations</h3>
          <table class="grid"><thead><tr><th scope="col">component</th><th scope="col">rows</th><th scope="col">capacity</th><th scope="col">bytes</th></tr></thead>
            <tbody>{stats.pools.map((pool) => <tr key={pool.name}><td><span class="chip">{pool.name}</span>{pool.relation && <span class="quiet"> relation</span>}</td><td class="value">{count(pool.rows)}</td><td class="value">{count(pool.capacity)}</td><td class="value">{bytes(pool.bytes)}</td></tr>)}</tbody></table></>}
      </div>
    </div>
  );
}
