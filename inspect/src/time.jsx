import { useState } from 'preact/hooks';
import { get } from './api.js';
import { Chart, brief, canBranch, count, useAnswer } from './parts.jsx';

// The parts of two values that differ, with their paths.
function parts(before, after, path = '') {
  if (before && after && typeof before === 'object' && typeof after === 'object' && !Array.isArray(before))
    return Object.keys(after).flatMap((name) => parts(before[name], after[name], path ? `${path}.${name}` : name));
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

export function Time({ source, status, stats, history, show, branch, select, goto }) {
  const [range, setRange] = useState({ from: '', to: '' });
  const [difference, setDifference] = useState(null);
  const [problem, setProblem] = useState('');
  const from = range.from || status.first, to = range.to || status.frame;
  const compare = () => get('diff', { source, from, to }).then((value) => (setDifference(value), setProblem('')), (error) => setProblem(error.message));
  return (
    <div class="page">
      <header class="bar"><h2>Time</h2><span class="quiet">{count(status.moments)} frames, {status.first} to {status.last}{history ? `, ${(history.bytes / (1 << 20)).toFixed(1)} MiB` : ''}</span><span class="grow" />
        {(status.program || status.recording) && !status.live && <button class="primary" disabled={!canBranch(status, stats)} onClick={() => branch(status.frame)}>Continue the program from frame {status.frame}</button>}
        {status.branched && <button onClick={() => branch(null)}>Back to the recording</button>}
        {status.program && stats?.past && <span class="quiet">{stats.past.count ? `it can continue from frame ${stats.past.first} on` : 'it keeps no past frames'}</span>}</header>
      <Chart title="Entities per frame; a click shows the frame" height={160} x={history?.frames ?? []} series={[{ label: 'entities', values: history?.entities ?? [] }]} onPick={(frame) => show(frame)} mark={status.live ? null : status.frame} />
      <header class="bar">
        <h3>Compare</h3>
        <label>from <input class="number" type="number" aria-label="First frame" value={range.from} placeholder={status.first} onInput={(event) => setRange({ ...range, from: event.currentTarget.value })} /></label>
        <label>to <input class="number" type="number" aria-label="Second frame" value={range.to} placeholder={status.frame} onInput={(event) => setRange({ ...range, to: event.currentTarget.value })} /></label>
        <button class="primary" onClick={compare}>Compare</button>
        {difference && <span class="quiet">frame {difference.from} and {difference.to}: {count(difference.changed)} changed, {count(difference.created)} created, {count(difference.destroyed)} destroyed</span>}
      </header>
      {problem && <p class="problem" role="alert">{problem}</p>}
      {difference && (
        <div class="scroller"><table class="grid"><thead><tr><th scope="col">entity</th><th scope="col">what</th><th scope="col">field</th><th scope="col">before</th><th scope="col">after</th></tr></thead>
          <tbody>{difference.differences.slice(0, 300).flatMap((one, i) => (one.kind === 'changed' ? parts(one.before, one.after) : [{ path: '', before: one.before, after: one.after }]).map((part, j) => (
            <tr key={`${i} ${j}`}><td><button class="link" onClick={() => (select(one.entity), goto('entities'))}>{one.name || `#${BigInt(one.entity) & 0xffffffffn}`}</button></td><td><span class={`tag ${one.kind}`}>{one.kind}</span></td>
              <td>{one.component}{part.path && `.${part.path}`}</td><td class="value">{brief(part.before)}</td><td class="value">{brief(part.after)}</td></tr>)))}</tbody></table></div>
      )}
      {!difference && <p class="quiet">Pause, drag the time line below, and compare two frames down to the field.</p>}
    </div>
  );
}

export const useHistory = (source, status) => useAnswer(() => get('history', { source, points: 400 }), [source, status?.live], { tick: Math.floor((status?.last ?? 0) / 6), minimum: 300 }).value;
