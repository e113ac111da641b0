// Small parts that several views use.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';

const paths = {
  entities: 'M3 5h6v6H3zM3 15h6v4H3zM12 6h9M12 9h6M12 16h9M12 19h5',
  query: 'M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l6 6',
  systems: 'M4 5h5v4H4zM15 10h5v4h-5zM4 15h5v4H4zM9 7h3v10H9M12 12h3',
  memory: 'M4 7h16v10H4zM8 7V4M12 7V4M16 7V4M8 20v-3M12 20v-3M16 20v-3',
  time: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4l3 2',
  events: 'M13 3L5 14h6l-1 7 9-12h-6z',
  watch: 'M3 17l5-6 4 4 5-8 4 5M3 21h18',
  plane: 'M4 4v16h16M8 15h.01M11 10h.01M15 13h.01M18 6h.01M13 6h.01',
  branch: 'M6 4v16M6 12c8 0 10-2 10-7M13 7l3-3 3 3',
  play: 'M7 5l12 7-12 7z',
  pause: 'M7 5h3v14H7zM14 5h3v14h-3z',
  step: 'M5 5l9 7-9 7zM17 5h2v14h-2z',
  live: 'M5 5l7 7-7 7zM12 5l7 7-7 7z',
  theme: 'M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9',
  close: 'M6 6l12 12M18 6L6 18',
  chevron: 'M9 6l6 6-6 6',
  history: 'M4 12a8 8 0 1 0 3-6L4 8M4 4v4h4M12 8v4l3 2',
};

export const Icon = ({ name, size = 16 }) => (
  <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);

// Whether the world can continue from the frame that is shown: a program keeps some of its past, a recording runs again.
export const canBranch = (status, stats) =>
  status.recording || (!status.read_only && status.connected && status.frame >= (stats?.past?.first ?? Infinity));

export const count = (value) => (value ?? 0).toLocaleString('en-US').replaceAll(',', '\u2009');
export const bytes = (value) =>
  value >= 1 << 30 ? `${(value / (1 << 30)).toFixed(2)} GiB` : value >= 1 << 20 ? `${(value / (1 << 20)).toFixed(1)} MiB` : value >= 1024 ? `${(value / 1024).toFixed(1)} KiB` : `${value} B`;
export const micros = (ns) => (ns >= 1e6 ? `${(ns / 1e6).toFixed(2)} ms` : `${(ns / 1e3).toFixed(1)} µs`);
export const label = (row) => row.name ?? `#${BigInt(row.id) & 0xffffffffn}`;

// Text of a value as a table shows it.
export function brief(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toPrecision(6).replace(/\.?0+$/, '');
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.slice(0, 8).map(brief).join(', ')}${value.length > 8 ? ', …' : ''}]`;
  return Object.entries(value).map(([name, part]) => `${name} ${brief(part)}`).join('  ');
}

// Whether a number is a colour, 0xRRGGBB.
export const isColor = (field, value) => field.kind === 'u32' && /colou?r/i.test(field.name) && typeof value === 'number';
export const colorOf = (value) => `#${(value & 0xffffff).toString(16).padStart(6, '0')}`;

// The value of a component as a table shows it: references are links, colours have a patch.
export function Cell({ type, value, open }) {
  if (!type || value === null || typeof value !== 'object' || Array.isArray(value)) return brief(value);
  const short = (text) => (text.length > 28 ? `${text.slice(0, 26)}…` : text);
  return type.fields.map((field) => {
    const part = value[field.name], isLink = field.kind === 'entity' && field.count === 1 && part;
    return (
      <span class="part" key={field.name}><i>{field.name}</i> {isColor(field, part) && <span class="patch" style={{ background: colorOf(part) }} />}
        {isLink ? <button class="link" title={`Show ${part}`} onClick={(event) => (event.stopPropagation(), open(part))}>{part}</button> : short(brief(part))}{field.unit && part !== undefined ? ` ${field.unit}` : ''}</span>
    );
  });
}

// What is shown, as the keys and the tick of an answer: a past frame does not change, and is asked for at once.
export const shownOf = (status) => (status.live ? 'present' : status.frame);
export const tickOf = (status) => (status.live ? status.change : 0);

// Asks at once whenever `keys` change, and again when `tick` does, but then not before some milliseconds have passed. One question at a time.
export function useAnswer(ask, keys, { tick = 0, minimum = 120 } = {}) {
  const [state, setState] = useState({ value: undefined, error: undefined });
  const run = useRef({ busy: false, wanted: '', at: 0, timer: 0, isGone: false, tick });
  const current = useRef(ask);
  current.current = ask;
  const go = async () => {
    const now = run.current;
    clearTimeout(now.timer);
    if (now.busy || now.isGone || !now.wanted) return;
    const wait = now.wanted === 'now' ? 0 : now.at + minimum - performance.now();
    if (wait > 0) {
      now.timer = setTimeout(go, wait);
      return;
    }
    now.busy = true;
    now.wanted = '';
    now.at = performance.now();
    try {
      const value = await current.current();
      if (!now.isGone) setState({ value, error: undefined });
    } catch (error) {
      if (!now.isGone) setState((before) => ({ value: before.value, error }));
    }
    now.busy = false;
    go();
  };
  useEffect(() => {
    run.current.wanted = 'now';
    go();
  }, keys);
  useEffect(() => {
    if (run.current.tick === tick) return;
    run.current.tick = tick;
    run.current.wanted ||= 'soon';
    go();
  }, [tick]);
  useEffect(() => {
    run.current.isGone = false;
    return () => {
      run.current.isGone = true;
      clearTimeout(run.current.timer);
    };
  }, []);
  return state;
}

export function Chart({ title, x, series, height = 120, onPick, mark }) {
  const box = useRef(), plot = useRef();
  const style = () => getComputedStyle(document.documentElement);
  useEffect(() => {
    const color = (name) => style().getPropertyValue(name).trim();
    const axis = { stroke: color('--quiet'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui', size: 46 };
    plot.current = new uPlot(
      {
        width: box.current.clientWidth,
        height,
        cursor: { y: false, drag: { x: false, y: false } },
        legend: { show: false },
        scales: { x: { time: false } },
        axes: [{ ...axis, size: 24, values: (_, all) => all.map(String) }, { ...axis, values: (_, all) => all.map((value) => (value >= 1e6 ? `${value / 1e6}M` : value >= 1e4 ? `${value / 1e3}k` : value)) }],
        series: [{}, ...series.map((one, i) => ({ label: one.label, stroke: color(i ? '--second' : '--accent'), width: 1.5, fill: i ? undefined : color('--accent-soft'), points: { show: false } }))],
        hooks: {
          draw: [
            (u) => {
              if (u.mark === undefined || u.mark === null) return;
              const at = u.valToPos(u.mark, 'x', true);
              u.ctx.strokeStyle = color('--warn');
              u.ctx.lineWidth = 2;
              u.ctx.beginPath();
              u.ctx.moveTo(at, u.bbox.top);
              u.ctx.lineTo(at, u.bbox.top + u.bbox.height);
              u.ctx.stroke();
            },
          ],
        },
      },
      [x, ...series.map((one) => one.values)],
      box.current,
    );
    plot.current.over.addEventListener('click', () => plot.current.cursor.idx != null && plot.current.pick?.(plot.current.data[0][plot.current.cursor.idx]));
    const resize = new ResizeObserver(() => box.current && plot.current.setSize({ width: box.current.clientWidth, height }));
    resize.observe(box.current);
    return () => {
      resize.disconnect();
      plot.current.destroy();
    };
  }, [series.length]);
  useEffect(() => {
    plot.current.pick = onPick;
    plot.current.mark = mark;
    plot.current.setData([x, ...series.map((one) => one.values)]);
  });
  return <div ref={box} class="chart" role="img" aria-label={title} />;
}

// A table of which only the visible rows exist. Long tables are scrolled proportionally, since browsers limit the height of an element.
const ROW = 28, HEIGHT_MAX = 8e6;
export function VirtualTable({ total, columns, rows, offset, onWindow, renderRow, name, onMove }) {
  const box = useRef();
  const [view, setView] = useState({ first: 0, visible: 30 });
  const full = total * ROW, height = Math.min(full, HEIGHT_MAX);
  const update = () => {
    if (!box.current) return;
    const at = box.current, visible = Math.ceil(at.clientHeight / ROW);
    const ratio = height > at.clientHeight ? at.scrollTop / (height + ROW - at.clientHeight) : 0;
    const first = full > HEIGHT_MAX ? Math.round(ratio * Math.max(0, total - visible + 2)) : Math.floor(at.scrollTop / ROW);
    setView((before) => (before.first === first && before.visible === visible ? before : { first, visible }));
  };
  useEffect(() => {
    update();
    const watch = new ResizeObserver(update);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [total]);
  useEffect(() => onWindow(view.first, view.visible + 2), [view.first, view.visible]);
  const shown = [];
  for (let i = view.first; i < Math.min(total, view.first + view.visible + 1); ++i) shown.push([i, rows?.[i - offset]]);
  const shift = full > HEIGHT_MAX ? (box.current?.scrollTop ?? 0) : view.first * ROW;
  return (
    <div class="scroller" ref={box} onScroll={update} tabIndex={0} role="region" aria-label={name} onKeyDown={(event) => onMove && (event.key === 'ArrowDown' || event.key === 'ArrowUp') && (event.preventDefault(), onMove(event.key === 'ArrowDown' ? 1 : -1))}>
      <table aria-rowcount={total} class="grid">
        <thead><tr>{columns.map((column) => <th scope="col" key={column}>{column}</th>)}</tr></thead>
        <tbody>
          <tr style={{ height: `${shift}px` }} aria-hidden="true" class="space"><td colSpan={columns.length} /></tr>
          {shown.map(([i, row]) => row ? renderRow(row, i) : <tr key={i}><td colSpan={columns.length} class="quiet">…</td></tr>)}
          <tr style={{ height: `${Math.max(0, height - shift - shown.length * ROW)}px` }} aria-hidden="true" class="space"><td colSpan={columns.length} /></tr>
        </tbody>
      </table>
    </div>
  );
}
