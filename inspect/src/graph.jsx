import { useEffect, useState } from 'preact/hooks';
import { control, get } from './api.js';
import { micros, useAnswer } from './parts.jsx';

const WIDE = 156, HIGH = 40, GAP_X = 74, GAP_Y = 16;

// Systems of a phase in columns: each is right of all that it waits for.
function place(systems) {
  const depth = {}, rows = [];
  const placed = {};
  for (const system of systems) {
    depth[system.name] = Math.max(0, ...system.waits.filter((wait) => wait.on in depth).map((wait) => depth[wait.on] + 1));
    const column = depth[system.name];
    rows[column] = (rows[column] ?? 0) + 1;
    placed[system.name] = { system, x: 14 + column * (WIDE + GAP_X), y: 14 + (rows[column] - 1) * (HIGH + GAP_Y) };
  }
  return { placed, width: 28 + rows.length * (WIDE + GAP_X) - GAP_X, height: 28 + Math.max(0, ...rows.map((one) => one ?? 0)) * (HIGH + GAP_Y) - GAP_Y };
}

export function Graph({ systems }) {
  const [chosen, setChosen] = useState(null);
  const phases = [...new Set(systems.map((system) => system.phase))];
  const waits = systems.flatMap((system) => system.waits.map((wait) => ({ ...wait, name: system.name })));
  const about = waits.filter((wait) => wait.name === chosen || wait.on === chosen);
  return (
    <div class="scroller graph" tabIndex={0} role="region" aria-label="Graph of systems">
      <p class="quiet">{chosen ? (about.length ? about.map((wait) => `${wait.name} waits for ${wait.on}: ${wait.reason === '(order)' ? 'their declared order' : `both use ${wait.reason}`}`).join('; ') : `${chosen} waits for nothing, and nothing waits for it`) : 'A line means that the right system waits for the left one, because of what is written at it. Choose a system to read its reasons.'}</p>
      {phases.map((phase) => {
        const { placed, width, height } = place(systems.filter((system) => system.phase === phase));
        const lines = Object.values(placed).flatMap(({ system, x, y }) => {
          const by = {};
          for (const wait of system.waits) if (placed[wait.on]) (by[wait.on] ??= []).push(wait.reason);
          return Object.entries(by).map(([on, reasons]) => ({ from: placed[on], to: { x, y }, name: system.name, on, text: [...new Set(reasons)].join(', ') }));
        });
        return (
          <section key={phase} aria-label={`Phase ${phase}`}>
            <h3 class="phase">{phase}</h3>
            <svg width={width} height={height} role="img" aria-label={`Systems of ${phase} and what they wait for`}>
              {lines.map((line, i) => {
                const x0 = line.from.x + WIDE, y0 = line.from.y + HIGH / 2, x1 = line.to.x, y1 = line.to.y + HIGH / 2, strong = chosen === line.name || chosen === line.on;
                const far = x1 - x0 > GAP_X + 1, bend = far ? HIGH / 2 + 6 : 0; // passes below the systems between
                return (
                  <g key={i} class={strong ? 'edge strong' : 'edge'}>
                    <path d={far ? `M${x0} ${y0}C${x0 + 40} ${y0} ${x0 + 20} ${y0 + bend} ${x0 + 70} ${y0 + bend}L${x1 - 70} ${y1 + bend}C${x1 - 20} ${y1 + bend} ${x1 - 40} ${y1} ${x1} ${y1}` : `M${x0} ${y0}C${x0 + 36} ${y0} ${x1 - 36} ${y1} ${x1} ${y1}`} /><path class="tip" d={`M${x1} ${y1}l-7 -4v8z`} />
                    {(strong || (lines.length < 30 && !far)) && <text x={x1 - 9} y={far ? y1 + 17 : y1 - 6} text-anchor="end">{line.text.length > 14 ? `${line.text.slice(0, 13)}…` : line.text}</text>}
                    <title>{line.name} waits for {line.on}: {line.text}</title>
                  </g>
                );
              })}
              {Object.values(placed).map(({ system, x, y }) => (
                <g key={system.name} class={`node ${system.enabled ? '' : 'off'} ${chosen === system.name ? 'strong' : ''}`} transform={`translate(${x} ${y})`} onClick={() => setChosen(chosen === system.name ? null : system.name)}>
                  <rect width={WIDE} height={HIGH} rx={7} /><text x={10} y={17}>{system.name.length > 20 ? `${system.name.slice(0, 19)}…` : system.name}</text>
                  <text class="small" x={10} y={32}>{micros(system.time_ns)}{system.workers > 1 ? ` · ${system.workers} threads` : ''}{system.exclusive ? ' · exclusive' : ''}</text><title>{system.file}:{system.line}</title>
                </g>
              ))}
            </svg>
          </section>
        );
      })}
    </div>
  );
}

const hue = (name) => [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7);

// One frame: a lane for each worker. The program traces a frame now and then while this is open.
export function TimeLanes({ source, status, locked }) {
  const [held, setHeld] = useState(null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    if (locked) return undefined;
    control(source, 'timeline on').catch((error) => setProblem(error.message));
    return () => control(source, 'timeline off').catch(() => {});
  }, [source, locked]);
  const { value } = useAnswer(() => get('timeline', { source }), [source], { tick: status.change, minimum: 400 });
  const trace = held ?? value;
  const events = (trace?.traceEvents ?? []).filter((event) => event.ph === 'X');
  const frame = events.find((event) => event.cat === 'frame');
  const lanes = [...new Set(events.filter((event) => event.cat !== 'frame').map((event) => event.tid))].sort((a, b) => a - b);
  if (!frame) return <p class="quiet pad">{problem || 'Waiting for a traced frame.'}</p>;
  const left = (event) => `${Math.max(0, (100 * (event.ts - frame.ts)) / frame.dur)}%`, width = (event) => `${Math.max(0.15, (100 * event.dur) / frame.dur)}%`;
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label="Time line per worker">
      <div class="bar"><h3>{frame.name}</h3><span class="quiet">{micros(frame.dur * 1000)}</span><span class="grow" /><button aria-pressed={!!held} onClick={() => setHeld(held ? null : value)}>{held ? 'Follow' : 'Hold'}</button></div>
      {lanes.map((lane) => (
        <div class="lane" key={lane}><span class="quiet">worker {lane}</span>
          <div class="jobs">{events.filter((event) => event.tid === lane && event.cat !== 'frame').slice(0, 600).map((event, i) => (
            <span key={i} class={event.cat} style={{ left: left(event), width: width(event), background: event.cat === 'flush' ? undefined : `hsl(${hue(event.name)} 55% 42%)` }} title={`${event.name}: ${micros(event.dur * 1000)}${event.args ? `, ${event.args.rows} rows` : ''}`}>{event.dur / frame.dur > 0.06 ? event.name : ''}</span>))}</div></div>
      ))}
      <div class="lane"><span /><div class="ticks">{[0, 0.25, 0.5, 0.75, 1].map((part) => <span key={part} style={{ left: `${part * 100}%` }}>{micros(frame.dur * 1000 * part)}</span>)}</div></div>
    </div>
  );
}
