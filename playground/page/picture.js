// Draws the marks of a frame, and numbers over time.

const names = new Map();

// The CSS colour of 0xRRGGBBAA.
export function cssColor(color) {
  let name = names.get(color);
  if (!name) names.set(color, name = `#${color.toString(16).padStart(8, '0')}`);
  return name;
}

// Fits the pixels of a canvas to its size on the screen. Returns its context.
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d');
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function drawLine(context, places, at) {
  context.lineWidth = places[at + 4];
  context.beginPath();
  context.moveTo(places[at], places[at + 1]);
  context.lineTo(places[at] + places[at + 2], places[at + 1] + places[at + 3]);
  context.stroke();
}

function drawDot(context, x, y, size, isSmall) {
  if (isSmall) return context.fillRect(x - size / 2, y - size / 2, size, size);
  context.beginPath();
  context.arc(x, y, size / 2, 0, 2 * Math.PI);
  context.fill();
}

export function drawMarks(canvas, program, { count, places, colors, markWords }) {
  const context = prepare(canvas), scale = canvas.width / program.width;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.lineCap = 'round';
  let color = -1;
  for (let at = 0; at < count * markWords; at += markWords) {
    if (colors[at + 5] !== color) {
      color = colors[at + 5];
      context.fillStyle = context.strokeStyle = cssColor(color);
    }
    const size = places[at + 4];
    if (places[at + 2] || places[at + 3]) drawLine(context, places, at);
    else drawDot(context, places[at], places[at + 1], size, size * scale < 5);
  }
}

// One curve for each number. `past` maps frames to numbers; the line of the shown frame is drawn over them.
export function drawChart(canvas, program, past, { first, at, last }, lineColor) {
  const context = prepare(canvas), { width, height } = canvas;
  const most = Math.max(1, ...[...past.values()].flat());
  const right = Math.max(last, first + 60);
  const place = (frame) => (frame - first) / (right - first) * (width - 4) + 2;
  program.numbers.forEach((number, index) => {
    context.beginPath();
    for (let frame = first; frame <= last; ++frame)
      if (past.has(frame)) context.lineTo(place(frame), height - 3 - past.get(frame)[index] / most * (height - 6));
    context.strokeStyle = cssColor(number.color);
    context.lineWidth = 1.5 * (window.devicePixelRatio || 1);
    context.stroke();
  });
  context.fillStyle = lineColor;
  context.fillRect(place(at) - 1, 0, 2, height);
}
