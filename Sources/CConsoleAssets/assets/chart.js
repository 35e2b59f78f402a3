// Charts, drawn by hand: at most 120 points, an axis with units, a cursor for pointer and keys, and the same as a table.

import { button, col, num, table } from './base.js';
import { clear, h, s, text, uniqueId } from './dom.js';
import { clock, moment, number, stamp } from './time.js';

const WIDTH = 600;
const MOST = 120;

/** A round number at or above the greatest value, for the axis. */
function roof(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

/** At most 120 points: neighbours are joined by their greatest value. */
function thin(points) {
  if (points.length <= MOST) return points;
  const size = points.length / MOST;
  return Array.from({ length: MOST }, (_, index) => {
    const part = points.slice(Math.floor(index * size), Math.floor((index + 1) * size));
    const values = part.map(([, value]) => value).filter((value) => value !== null);
    return [part.at(-1)[0], values.length > 0 ? Math.max(...values) : null];
  });
}

function frameOf({ label, height, asTable, move, leave, pick }) {
  const id = uniqueId('chart');
  const drawing = s('svg', { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: 'none', height, role: 'presentation' });
  const tip = h('p', { class: 'chart-tip', id: `${id}-tip`, aria: { live: 'off' } }, '\u00a0');
  const box = h('div', {
    class: 'chart-frame', tabindex: 0, role: 'img', aria: { label, describedby: `${id}-tip` },
    on: {
      pointermove: (event) => {
        const bounds = drawing.getBoundingClientRect();
        move((event.clientX - bounds.left) / bounds.width);
      },
      pointerleave: leave, blur: leave,
      click: () => pick?.(),
      keydown: (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
        if (step !== undefined) {
          event.preventDefault();
          move(null, step);
        } else if (event.key === 'Enter' && pick) pick();
      },
    },
  }, drawing);
  const opener = button('as table', async () => {
    (await import('./dialogs.js')).dialog({ title: label, body: asTable(), wide: true });
  }, { small: true, quiet: true });
  return { drawing, tip, box, opener };
}

/** A line over time. */
export function lineChart({ label, unit = '', points = [], format = (value) => number(value), height = 64 }) {
  let shownPoints = [];
  let top = 1;
  let at = null;
  const figure = h('span', { class: 'number' }, '—');
  const line = s('path', { class: 'line', 'vector-effect': 'non-scaling-stroke' });
  const cursor = s('line', { class: 'cursor', y1: 0, y2: height, 'vector-effect': 'non-scaling-stroke', hidden: true });
  const ofValue = (value) => (value === null ? '—' : `${format(value)} ${unit}`.trim());
  const x = (index) => (shownPoints.length > 1 ? (index / (shownPoints.length - 1)) * WIDTH : WIDTH);
  const y = (value) => height - 1 - (value / top) * (height - 3);
  const parts = frameOf({
    label, height, leave: () => place(null), move: (share, step) => {
      if (shownPoints.length === 0) return;
      const last = shownPoints.length - 1;
      place(Math.max(0, Math.min(last, share === null ? (at ?? last) + step : Math.round(share * last))));
    },
    asTable: () => table({
      caption: label, rows: [...shownPoints].reverse(), empty: 'No samples yet.',
      columns: [col('Time', ([ms]) => moment(ms)), num(unit ? `Value, ${unit}` : 'Value', ([, value]) => ofValue(value))],
    }),
  });
  parts.drawing.append(s('line', { class: 'axis', x1: 0, x2: WIDTH, y1: height - 0.5, y2: height - 0.5 }), line, cursor);
  const scale = () => `0 … ${format(top)} ${unit}${shownPoints.length > 1 ? `, since ${clock(shownPoints[0][0]).slice(0, 8)}` : ''}`;
  const place = (index) => {
    at = index;
    cursor.style.display = index === null ? 'none' : '';
    if (index !== null) {
      cursor.setAttribute('x1', x(index));
      cursor.setAttribute('x2', x(index));
    }
    text(parts.tip, index === null ? scale() : `${clock(shownPoints[index][0]).slice(0, 8)}  ${ofValue(shownPoints[index][1])}`);
  };
  const set = (next) => {
    shownPoints = thin(next);
    const values = shownPoints.map(([, value]) => value).filter((value) => value !== null);
    top = roof(Math.max(0, ...values));
    let isDown = false;
    line.setAttribute('d', shownPoints.map(([, value], index) => {
      if (value === null) {
        isDown = false;
        return '';
      }
      // One between two gaps would be no line at all.
      const dot = !isDown && (shownPoints[index + 1]?.[1] ?? null) === null ? 'h2' : '';
      const step = `${isDown ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}${dot}`;
      isDown = true;
      return step;
    }).join('') || 'M0 0');
    text(figure, values.length > 0 ? ofValue(shownPoints.at(-1)[1]) : '—');
    place(at === null || at >= shownPoints.length ? null : at);
  };
  set(points);
  const element = h('div', { class: 'chart' }, h('div', { class: 'chart-head' }, h('span', { class: 'muted' }, label), figure,
    h('span', { class: 'end' }, parts.opener)), parts.box, parts.tip);
  return { element, set };
}

/** Stacked bars over time. */
export function barChart({ label, buckets = [], until = 0, series, height = 56, pick }) {
  let bars = [];
  let end = 0;
  let at = null;
  const marks = s('g');
  const total = (bucket) => series.reduce((sum, { id }) => sum + Number(bucket[id] ?? 0), 0);
  const words = (bucket) => series.filter(({ id }) => bucket[id] > 0).map(({ id, name }) => `${number(bucket[id])} ${name}`).join(', ') || 'no events';
  const close = (index) => bars[index + 1]?.from ?? end;
  const parts = frameOf({
    label, height, leave: () => place(null), pick: pick && (() => at !== null && pick({ ...bars[at], until: close(at) })),
    move: (share, step) => {
      if (bars.length === 0) return;
      const last = bars.length - 1;
      place(Math.max(0, Math.min(last, share === null ? (at ?? last) + step : Math.floor(share * bars.length))));
    },
    asTable: () => table({
      caption: label, rows: bars.filter((bucket) => total(bucket) > 0), empty: 'No events.',
      columns: [col('From', ({ from }) => moment(from)), ...series.map(({ id, name }) => num(name, (bucket) => number(bucket[id] ?? 0)))],
    }),
  });
  const cursor = s('rect', { y: 0, height, fill: 'none', class: 'cursor', 'vector-effect': 'non-scaling-stroke' });
  parts.drawing.append(s('line', { class: 'axis', x1: 0, x2: WIDTH, y1: height - 0.5, y2: height - 0.5 }), marks, cursor);
  const place = (index) => {
    at = index;
    cursor.style.display = index === null ? 'none' : '';
    if (index === null) {
      text(parts.tip, bars.length > 0 ? `${stamp(bars[0].from)} … ${stamp(end)}` : '\u00a0');
      return;
    }
    cursor.setAttribute('x', String((index / bars.length) * WIDTH));
    cursor.setAttribute('width', String(WIDTH / bars.length));
    text(parts.tip, `${stamp(bars[index].from)} … ${stamp(close(index))}  ${words(bars[index])}`);
  };
  const set = (next, last) => {
    bars = next.slice(0, MOST);
    end = last;
    const top = Math.max(1, ...bars.map(total));
    clear(marks);
    const width = WIDTH / Math.max(1, bars.length);
    bars.forEach((bucket, index) => {
      let below = height - 1;
      for (const { id } of series) {
        const value = Number(bucket[id] ?? 0);
        if (value === 0) continue;
        // What is there is seen, however little it is.
        const size = Math.max(2, (value / top) * (height - 4));
        below -= size;
        marks.append(s('rect', { class: `fill-${id}`, x: (index * width + 0.5).toFixed(2), width: (width - 1).toFixed(2), y: below.toFixed(2), height: size.toFixed(2) }));
      }
    });
    place(at === null || at >= bars.length ? null : at);
  };
  set(buckets, until);
  const element = h('div', { class: 'chart' }, parts.box, h('div', { class: 'row' }, h('div', { class: 'grow' }, parts.tip), parts.opener));
  return { element, set };
}
