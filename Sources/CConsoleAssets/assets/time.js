// The one formatter of times and numbers. The zone is the browser's, or UTC; "now" is the server's clock.

import { h } from './dom.js';

let offset = 0;
let zoneName = localStorage.getItem('doubloon.zone') ?? 'local';
const formats = new Map();

function format(name, options) {
  const key = `${name} ${zoneName}`;
  if (!formats.has(key)) {
    const timeZone = zoneName === 'local' ? undefined : zoneName;
    let made;
    try {
      made = new Intl.DateTimeFormat(undefined, { ...options, timeZone });
    } catch {
      made = new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' });
    }
    formats.set(key, made);
  }
  return formats.get(key);
}

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
const DAY = { year: 'numeric', month: 'short', day: 'numeric' };

/** The setting: 'local', 'UTC' or a zone such as 'Asia/Kolkata'. */
export const zone = () => zoneName;

/** Changes the zone of every time on the page, and remembers it. */
export function setZone(name) {
  zoneName = name;
  localStorage.setItem('doubloon.zone', name);
  redraw();
}

/** Tells what the server's clock says now, in milliseconds. */
export function setServerTime(ms) {
  const found = Number(ms) - Date.now();
  // A message takes a while; only a clock that was moved, or is wrong, counts.
  const next = Math.abs(found) < 1500 ? 0 : found;
  if (Math.abs(next - offset) > 1500) {
    offset = next;
    redraw();
  }
}

/** How far the server's clock is ahead of this machine's, in milliseconds; 0 where they agree. */
export const clockOffset = () => offset;

/** The server's time now. */
export const now = () => Date.now() + offset;

const valid = (ms) => Number.isFinite(Number(ms)) && Math.abs(Number(ms)) < 8.64e15;

/** The time of day with milliseconds: 02:37:48.604. */
export function clock(ms) {
  if (!valid(ms)) return '—';
  const rest = ((Math.trunc(Number(ms)) % 1000) + 1000) % 1000;
  return `${format('clock', CLOCK).format(Number(ms))}.${String(rest).padStart(3, '0')}`;
}

/** Day and time, to the second. */
export function moment(ms) {
  return valid(ms) ? format('moment', { ...DAY, ...CLOCK }).format(Number(ms)) : '—';
}

/** The time of day with milliseconds if it is today, else with the day: for columns of a log. */
export function stamp(ms) {
  if (valid(ms) && day(ms) === day(now())) return clock(ms);
  return valid(ms) ? format('stamp', { month: 'short', day: 'numeric', ...CLOCK }).format(Number(ms)) : '—';
}

/** The day alone. */
export const day = (ms) => (valid(ms) ? format('day', DAY).format(Number(ms)) : '—');

/** Day, time, milliseconds and zone, for reading it exactly. */
export function exact(ms) {
  if (!valid(ms)) return '—';
  const name = zoneName === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zoneName;
  return `${day(ms)} ${clock(ms)} (${name})`;
}

/** How long ago, or how soon: "2 min ago", "in 3 s". */
export function ago(ms) {
  if (!valid(ms)) return '—';
  const distance = now() - Number(ms);
  const far = Math.abs(distance);
  if (far < 1500) return 'now';
  const words = far < 60e3 ? `${Math.round(far / 1e3)} s` : far < 3600e3 ? `${Math.round(far / 60e3)} min`
    : far < 86400e3 ? `${Math.round(far / 3600e3)} h` : far < 60 * 86400e3 ? `${Math.round(far / 86400e3)} d` : null;
  if (words === null) return day(ms);
  return distance > 0 ? `${words} ago` : `in ${words}`;
}

/** A length of time: "1.4 ms", "340 ms", "2.5 s", "3 min 20 s", "2 d 4 h". */
export function span(ms) {
  const length = Number(ms);
  if (!Number.isFinite(length)) return '—';
  if (length < 0) return `−${span(-length)}`;
  if (length < 10 && !Number.isInteger(length)) return `${length.toFixed(1)} ms`;
  if (length < 1000) return `${Math.round(length)} ms`;
  if (length < 60e3) return `${(length / 1e3).toFixed(length < 10e3 ? 1 : 0)} s`;
  const seconds = Math.round(length / 1e3);
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const first = parts.findIndex(([size]) => seconds >= size);
  const [size, name] = parts[first];
  const rest = parts[first + 1] ? Math.floor((seconds % size) / parts[first + 1][0]) : 0;
  return `${Math.floor(seconds / size)} ${name}${rest > 0 ? ` ${rest} ${parts[first + 1][1]}` : ''}`;
}

const KINDS = { ago, clock, moment, day };

function draw(element) {
  const ms = Number(element.dataset.ms);
  const shownText = (KINDS[element.dataset.kind] ?? ago)(ms);
  if (element.textContent !== shownText) element.textContent = shownText;
  element.title = element.dataset.kind === 'ago' ? exact(ms) : `${ago(ms)} · ${exact(ms)}`;
}

function redraw() {
  for (const element of document.querySelectorAll('time[data-ms]')) draw(element);
}

/** A `<time>`: relative ('ago', default), 'clock', 'moment' or 'day'; the exact time is its title. It keeps itself right. */
export function time(ms, kind = 'ago') {
  if (ms === undefined || ms === null || !valid(ms)) return h('span', { class: 'muted' }, '—');
  const element = h('time', { datetime: new Date(Number(ms)).toISOString(), dataset: { ms: String(ms), kind } });
  draw(element);
  return element;
}

setInterval(() => {
  if (document.visibilityState === 'visible') redraw();
}, 5000);

/** Reads what a person typed or a URL holds: milliseconds, "15m", "6h", "2d" before now, or a date; null if it is none. */
export function parseTime(text) {
  const typed = String(text ?? '').trim();
  if (/^\d{9,16}$/.test(typed)) return Number(typed);
  const back = /^-?(\d{1,6})\s*(s|m|min|h|d)$/.exec(typed);
  if (back) return Math.round(now() - Number(back[1]) * { s: 1e3, m: 60e3, min: 60e3, h: 3600e3, d: 86400e3 }[back[2]]);
  const parsed = Date.parse(typed);
  return Number.isNaN(parsed) || typed === '' ? null : parsed;
}

const plainNumber = new Intl.NumberFormat(undefined, { maximumFractionDigits: 20 });

/** A number with its groups, exact, integers of any length. */
export function number(value) {
  return typeof value === 'number' || typeof value === 'bigint' ? plainNumber.format(value).replace('-', '−') : '—';
}

/** A count with its noun: counted(1, 'attempt') is "1 attempt", counted(2, 'entry', 'entries') "2 entries". */
export const counted = (count, noun, nouns = `${noun}s`) => `${number(count)} ${Number(count) === 1 ? noun : nouns}`;

/** A number with its sign always: +50, −50. */
export function signed(value) {
  if (typeof value !== 'number' && typeof value !== 'bigint') return '—';
  return value > 0 ? `+${number(value)}` : number(value);
}

/** A size in bytes: 812 B, 18 KB, 1.2 MB. */
export function size(bytes) {
  const count = Number(bytes);
  if (!Number.isFinite(count)) return '—';
  if (count < 1024) return `${count} B`;
  const [unit, name] = count < 1048576 ? [1024, 'KB'] : count < 1073741824 ? [1048576, 'MB'] : [1073741824, 'GB'];
  return `${(count / unit).toFixed(count / unit < 10 ? 1 : 0)} ${name}`;
}
