import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get } from './api.js';
import { count, shownOf, tickOf, useAnswer } from './parts.jsx';

const numeric = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64', 'bool', 'enum'];

// All fields that are numbers, as Component.field.
function fieldsOf(components) {
  const walk = (fields, path) => fields.flatMap((field) =>
    field.count > 1 ? [] : numeric.includes(field.kind) ? [`${path}.${field.name}`] : field.kind === 'struct' && field.type ? walk(field.type.fields, `${path}.${field.name}`) : []);
  return components.filter((one) => !one.relation && !one.many && one.storage !== 'singleton').flatMap((one) => walk(one.type.fields, one.name));
}

// From blue over green to yellow, which gets brighter, too. Pixels are written as numbers: a style for each point is too slow.
const pixel = (r, g, b) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
const stops = [[72, 62, 190], [44, 130, 170], [50, 170, 120], [150, 200, 70], [245, 215, 60]];
const ramp = Uint32Array.from({ length: 65 }, (_, i) => {
  const at = Math.min((i / 64) * 4, 3.999), low = stops[Math.floor(at)], high = stops[Math.floor(at) + 1], part = at % 1;
  return pixel(...low.map((one, channel) => Math.round(one + (high[channel] - one) * part)));
});
const parse = (hex) => pixel(...[1, 3, 5].map((at) => parseInt(hex.trim().slice(at, at + 2), 16)));

export function Plane({ source, status, components, select, goto }) {
  const fields = useMemo(() => fieldsOf(components), [components]);
  const [axes, setAxes] = useState({ x: '', y: '', color: '' });
  const [text, setText] = useState('');
  const [brush, setBrush] = useState(null);
  const canvas = useRef(), box = useRef(), map = useRef(null);
  const guess = (letter, not) => fields.find((one) => one.endsWith(`.${letter}`) && one !== not) ?? fields.find((one) => one !== not) ?? '';
  const x = axes.x || guess('x'), y = axes.y || guess('y', x);
  const names = [...new Set([x, y, axes.color].filter(Boolean).map((one) => one.split('.')[0]))];
  const query = text.trim() || names.join(', ');
  const { value, error } = useAnswer(() => (x && y ? get('scatter', { source, query, x, y, color: axes.color || undefined }) : Promise.resolve(null)), [source, x, y, axes.color, query, shownOf(status)], { tick: tickOf(status), minimum: 150 });
  const points = value?.points ?? [];
  useEffect(() => {
    const target = canvas.current;
    if (!target) return;
    const ratio = devicePixelRatio || 1, width = box.current.clientWidth, height = box.current.clientHeight;
    target.width = width * ratio;
    target.height = height * ratio;
    const draw = target.getContext('2d');
    draw.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement), quiet = style.getPropertyValue('--quiet'), line = style.getPropertyValue('--line');
    let [x0, x1, y0, y1, c0, c1] = [Infinity, -Infinity, Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < points.length; i += 4) {
      x0 = Math.min(x0, points[i]), x1 = Math.max(x1, points[i]), y0 = Math.min(y0, points[i + 1]), y1 = Math.max(y1, points[i + 1]);
      if (points[i + 2] !== null) c0 = Math.min(c0, points[i + 2]), c1 = Math.max(c1, points[i + 2]);
    }
    if (!points.length) return;
    const left = 52, right = width - 14, top = 12, bottom = height - 28;
    const px = (v) => left + ((v - x0) / (x1 - x0 || 1)) * (right - left), py = (v) => bottom - ((v - y0) / (y1 - y0 || 1)) * (bottom - top);
    map.current = { px, py };
    const size = Math.round((points.length > 32000 ? 2 : points.length > 4800 ? 3 : 5) * ratio), accent = parse(style.getPropertyValue('--accent'));
    const image = new ImageData(target.width, target.height), pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < points.length; i += 4) {
      const color = points[i + 2] === null || c1 === c0 ? accent : ramp[Math.round(((points[i + 2] - c0) / (c1 - c0)) * 64)];
      const left = Math.round(px(points[i]) * ratio - size / 2), top = Math.round(py(points[i + 1]) * ratio - size / 2);
      for (let row = Math.max(0, top); row < top + size && row < target.height; ++row) pixels.fill(color, row * target.width + left, row * target.width + left + size);
    }
    draw.putImageData(image, 0, 0);
    draw.globalCompositeOperation = 'destination-over';
    draw.font = '11px system-ui';
    draw.fillStyle = quiet;
    draw.strokeStyle = line;
    for (let i = 0; i <= 4; ++i) {
      const vx = x0 + ((x1 - x0) * i) / 4, vy = y0 + ((y1 - y0) * i) / 4;
      draw.beginPath();
      draw.moveTo(px(vx), top), draw.lineTo(px(vx), bottom);
      draw.moveTo(left, py(vy)), draw.lineTo(right, py(vy));
      draw.stroke();
      draw.textAlign = 'center';
      draw.fillText(Number(vx.toPrecision(4)), px(vx), bottom + 16);
      draw.textAlign = 'right';
      draw.fillText(Number(vy.toPrecision(4)), left - 6, py(vy) + 4);
    }
    draw.globalCompositeOperation = 'source-over';
    if (brush) {
      draw.strokeStyle = style.getPropertyValue('--warn');
      draw.lineWidth = 1.5;
      draw.strokeRect(brush.x0, brush.y0, brush.x1 - brush.x0, brush.y1 - brush.y0);
    }
  }, [value, brush]);
  const chosen = [];
  if (brush && map.current) {
    const [left, right] = [Math.min(brush.x0, brush.x1), Math.max(brush.x0, brush.x1)], [top, bottom] = [Math.min(brush.y0, brush.y1), Math.max(brush.y0, brush.y1)];
    for (let i = 0; i < points.length; i += 4) {
      const at = [map.current.px(points[i]), map.current.py(points[i + 1])];
      if (at[0] >= left && at[0] <= right && at[1] >= top && at[1] <= bottom) chosen.push(i);
    }
  }
  const at = (event) => { const area = canvas.current.getBoundingClientRect(); return [event.clientX - area.left, event.clientY - area.top]; };
  const start = (event) => { const [a, b] = at(event); canvas.current.setPointerCapture(event.pointerId); setBrush({ x0: a - 4, y0: b - 4, x1: a + 4, y1: b + 4, drag: true }); };
  const move = (event) => { if (brush?.drag) { const [a, b] = at(event); setBrush({ ...brush, x1: a, y1: b }); } };
  const choose = (name) => (
    <label>{name} <select aria-label={name} value={name === 'x' ? x : name === 'y' ? y : axes.color} onChange={(event) => (setAxes({ ...axes, [name]: event.currentTarget.value }), setBrush(null))}>
      {name === 'color' && <option value="">none</option>}
      {fields.map((one) => <option key={one}>{one}</option>)}
    </select></label>
  );
  return (
    <div class="page">
      <header class="bar">
        <h2>2D</h2>{choose('x')}{choose('y')}{choose('color')}
        <input type="text" spellcheck={false} aria-label="Query of the points" aria-invalid={!!error} placeholder={names.join(', ')} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <span class="grow" /><span class="quiet">{value ? `${count(points.length / 4)} of ${count(value.total)} entities` : ''}</span>
      </header>
      {error && <p class="problem" role="alert">{error.message}</p>}
      <div class="plane">
        <div class="chart" ref={box}><canvas ref={canvas} role="img" aria-label={`${y} over ${x}`} onPointerDown={start} onPointerMove={move} onPointerUp={() => brush && setBrush({ ...brush, drag: false })} /></div>
        <aside aria-label="Chosen entities" class="chosen">
          <h3>{brush ? `${count(chosen.length)} chosen` : 'Drag over the points'}</h3>
          {brush && <button class="small" onClick={() => setBrush(null)}>Clear</button>}
          <ul>{chosen.slice(0, 200).map((i) => <li key={points[i + 3]}><button class="link" onClick={() => (select(points[i + 3]), goto('entities'))}>#{String(BigInt(points[i + 3]) & 0xffffffffn)}</button> <span class="value quiet">{Number(points[i].toPrecision(4))}, {Number(points[i + 1].toPrecision(4))}{points[i + 2] === null ? '' : `, ${Number(points[i + 2].toPrecision(4))}`}</span></li>)}</ul>
        </aside>
      </div>
    </div>
  );
}
