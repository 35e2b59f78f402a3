// The log of events: filters in the address, a histogram, a list of any length that stands still while it is read.

import { cli, curl } from './api.js';
import { barChart } from './chart.js';
import { h, later, shown, text } from './dom.js';
import { windowList } from './list.js';
import { outcomesOf } from './outcomes.js';
import { counted, exact, number, parseTime, stamp } from './time.js';
import { actorLink, badge, button, choice, coins, copyButton, empty, errorPanel, eventLink, field, heading, input } from './ui.js';

const OUTCOMES = ['done', 'skipped', 'waiting', 'paused', 'dead', 'pending'];
const BARS = ['dead', 'paused', 'waiting', 'done', 'skipped', 'none'];
const FILTERS = ['outcome', 'function', 'uid', 'path', 'actor', 'reason', 'attempt', 'cause', 'since', 'until'];
const FEW = ['outcome', 'function', 'uid', 'path'];
const NARROW = matchMedia('(max-width: 719px)');
const COLUMNS = '116px 76px minmax(180px, 3fr) minmax(80px, 1fr) minmax(240px, 3fr) 36px';

/** The page's title. */
export const title = () => 'Events';

/** The filters of an address, as the server takes them; times may be "1h". */
export function filtersOf(query) {
  const filters = {};
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value) filters[name] = name === 'since' || name === 'until' ? parseTime(value) : value;
  }
  return filters;
}

function rowOf(page, event) {
  const moved = Object.entries(event.coins ?? {}).map(([unit, amount]) => coins(amount, unit));
  const outcomes = h('span', { class: 'row outcomes' }, outcomesOf(event, { names: true }), moved);
  const path = eventLink(page, event.id, event.path);
  const when = h('span', { class: 'nowrap number', title: exact(event.time) }, stamp(event.time));
  if (NARROW.matches) {
    return [h('span', { class: 'two' }, h('span', { class: 'row' }, h('span', { class: 'grow cut' }, path), h('span', { class: 'meta' }, when)),
      h('span', { class: 'row meta' }, h('span', { class: 'muted' }, event.kind), outcomes))];
  }
  return [when, h('span', event.kind), path, event.cause
    ? h('span', 'by ', eventLink(page, event.cause.event, event.cause.function)) : actorLink(page, event.actor), outcomes,
  event.hop > 0 ? h('span', { title: `${number(event.hop)} functions between the first write and it` }, `↳${number(event.hop)}`) : ''];
}

/** The fields of the filter; `change(changes, replace)` is told of each change. */
function filterBar(page, change) {
  const typed = later(250, (name, value) => change({ [name]: value }, true));
  const text_ = (name, label, placeholder) => {
    const control = input({
      placeholder, value: page.query.get(name) ?? '', dataset: name === 'uid' ? { filter: '' } : {}, on: {
        input: (event) => typed(name, event.target.value.trim()),
        change: (event) => {
          typed.cancel();
          change({ [name]: event.target.value.trim() }, false);
        },
      },
    });
    return [name, control, field(label, control)];
  };
  const outcome = choice([['', 'Any outcome'], ...OUTCOMES], page.query.get('outcome') ?? '', { on: { change: (event) => change({ outcome: event.target.value }) } });
  const wanted = page.query.get('function') ?? '';
  const functions = choice([['', 'Any function'], ...(wanted ? [wanted] : [])], wanted, { on: { change: (event) => change({ function: event.target.value }) } });
  const parts = [['outcome', outcome, field('Outcome', outcome)], ['function', functions, field('Function', functions)],
    text_('uid', 'Player', 'bob'), text_('path', 'Path or pattern', '/users/*/level'), text_('actor', 'Written by', 'user:bob'),
    text_('reason', 'Reason or error has', 'already_paid'), text_('attempt', 'Attempts, at least', '2'), text_('cause', 'Came of', '1-6:/users/bob/level'),
    text_('since', 'Since', '1h, 2026-11-26 10:00'), text_('until', 'Until', '5m')];
  const rest = parts.filter(([name]) => !FEW.includes(name));
  const more = button('More filters', () => unfold(rest[0][2].hidden), { small: true });
  const unfold = (isOpen) => {
    for (const [, , element] of rest) element.hidden = !isOpen;
    text(more, isOpen ? 'Fewer filters' : 'More filters');
    more.setAttribute('aria-expanded', String(isOpen));
  };
  const clearAll = button('Clear filters', () => change(Object.fromEntries(FILTERS.map((name) => [name, null]))), { small: true, quiet: true });
  const show = () => {
    for (const [name, control] of parts) if (control !== document.activeElement) control.value = page.query.get(name) ?? '';
    for (const [name, , element] of parts) if (name === 'since' || name === 'until') element.fault(page.query.get(name) && parseTime(page.query.get(name)) === null ? 'no time' : '');
    clearAll.hidden = FILTERS.every((name) => !page.query.get(name));
  };
  unfold(rest.some(([name]) => page.query.get(name)));
  show();
  const addFunctions = (names) => {
    for (const name of names) if (![...functions.options].some(({ value }) => value === name)) functions.append(h('option', { value: name }, name));
    functions.value = page.query.get('function') ?? '';
  };
  return {
    element: h('div', { class: 'toolbar bottom', role: 'search', aria: { label: 'Filters' } }, parts.map(([, , element]) => element), more, clearAll), show, addFunctions,
  };
}

/** The histogram with the counts of each outcome; read when it is asked for. */
function histogram(page, change) {
  const chart = barChart({
    label: 'Events by time and outcome', height: 40, series: BARS.map((id) => ({ id, name: id === 'none' ? 'without a run' : id })),
    pick: ({ from, until }) => change({ since: from, until }),
  });
  const counts = h('div', { class: 'row wrap' });
  const problem = h('div');
  const load = async () => {
    try {
      const answer = await page.get('events/histogram', { buckets: 60, ...filtersOf(page.query) }, { active: false });
      problem.replaceChildren();
      chart.element.hidden = false;
      chart.set(answer.buckets, answer.until);
      draw(answer);
    } catch (error) {
      if (error.name === 'AbortError') return;
      chart.element.hidden = true;
      problem.replaceChildren(errorPanel(error, load));
    }
  };
  const draw = ({ buckets, scanned, complete }) => {
    const wanted = page.query.get('outcome');
    const chips = ['done', 'skipped', 'waiting', 'paused', 'dead'].map((name) => {
      const count = buckets.reduce((sum, bucket) => sum + Number(bucket[name] ?? 0), 0);
      if (count === 0 && name !== wanted) return null;
      return h('button', {
        type: 'button', class: 'chip', aria: { pressed: String(name === wanted) }, on: { click: () => change({ outcome: name === wanted ? null : name }) },
      }, badge(name), h('span', { class: 'number' }, number(count)));
    });
    const told = `${counted(scanned, 'event')} counted${complete ? '' : ', not all: narrow the time'}`;
    counts.replaceChildren(...chips.filter(Boolean), h('span', { class: 'meta muted' }, told));
  };
  return { element: h('div', { class: 'histogram' }, chart.element, problem, counts), load };
}

function nothing(page, functions, change) {
  const filters = FILTERS.filter((name) => page.query.get(name));
  if (filters.length > 0) {
    const words = filters.map((name) => `${name} ${page.query.get(name)}`).join(', ');
    return empty(page.query.get('outcome') === 'dead' && filters.length === 1 ? 'Nothing was given up on.' : `No event fits: ${shown(words)}.`,
      button('Clear filters', () => change(Object.fromEntries(FILTERS.map((name) => [name, null])))));
  }
  const waits = functions.map(({ name, pattern, kinds }) => h('li', h('strong', shown(name)), ' waits for ', h('code', `${kinds} ${shown(pattern)}`)));
  return h('div', { class: 'empty' }, h('p', 'No write has matched a function yet.'), h('ul', waits),
    h('a', { class: 'button', href: page.url('start') }, 'Try it: Alice refers Bob'));
}

function eventList(page, functions, change) {
  const note = (answer) => {
    if (answer.next === undefined || answer.events.length >= 100) return null;
    return h('p', `${counted(answer.scanned, 'event')} looked at, back to revision ${number(answer.scannedThrough)}. `,
      button('Look further', () => list.further(), { small: true }));
  };
  const list = windowList({
    label: 'Events', columns: ['Time', 'Kind', 'Path', 'Written by', 'Outcome', 'Hop'], template: COLUMNS,
    rowHeight: () => (NARROW.matches ? 56 : parseInt(getComputedStyle(document.documentElement).getPropertyValue('--row'), 10) || 28),
    key: (event) => event.id, row: (event) => rowOf(page, event), open: (event) => page.go(page.url('event', event.id)),
    hold: () => page.live.paused, empty: () => nothing(page, functions(), change),
    fetch: async ({ cursor, signal }) => {
      const answer = await page.get('events', { limit: 100, cursor, ...filtersOf(page.query) }, { signal, active: cursor ? undefined : false });
      return { rows: answer.events, next: answer.next, note: note(answer) };
    },
    keys: (event, item) => {
      if (event.key === 'ArrowRight') page.go(page.url('event', item.id));
      return event.key === 'ArrowRight';
    },
  });
  return list;
}

function headOf(page) {
  const replay = h('a', { class: 'button' }, 'Replay these…');
  const show = () => {
    const { outcome, uid, since, until, path, actor: writer, reason: error, attempt, cause, function: name } = Object.fromEntries(page.query);
    // A replay of more than what is shown here would be another thing than its name says.
    const mode = { '': 'failed', dead: 'failed', waiting: 'failed', pending: 'gaps' }[outcome ?? ''];
    const obstacle = attempt ? 'attempts' : cause ? 'cause' : !mode && `outcome ${outcome}`;
    replay.textContent = obstacle ? `No replay by ${obstacle}` : 'Replay these…';
    if (obstacle) replay.removeAttribute('href');
    else replay.href = page.url('replays/new', null, { uid, since, until, path, writer, error, function: name, mode });
  };
  const flags = () => Object.entries(filtersOf(page.query)).flatMap(([name, value]) => [`--${name}`, value]);
  const copy = copyButton([{ name: 'Link', text: () => location.href },
    { name: 'curl', text: () => curl('GET', 'events', { ns: page.ns, ...filtersOf(page.query) }) },
    { name: 'Command', text: () => cli('triggers', 'list', '--ns', page.ns, ...flags()) }]);
  const head = heading('Events', { actions: [h('a', { class: 'button', href: page.url('replays') }, 'Replays'), replay, copy] });
  show();
  return { element: head, show };
}

/** Shows the page. */
export async function mount(root, page) {
  root.classList.add('fill', 'events-page');
  let functions = [];
  const change = (changes, replace) => {
    page.setQuery(changes, { replace });
    showAll();
  };
  let asked = '';
  const showAll = () => {
    head.show();
    bar.show();
    const now = JSON.stringify(Object.fromEntries(FILTERS.map((name) => [name, page.query.get(name)])));
    if (now === asked) return null;
    asked = now;
    counts.load(); // It looks at many more events than the list.
    return list.reload();
  };
  const head = headOf(page);
  const bar = filterBar(page, change);
  const counts = histogram(page, change);
  const list = eventList(page, () => functions, change);
  page.changed = showAll;
  root.append(head.element, bar.element, counts.element, list.element);
  if (page.query.get('live') === '0') page.live.paused = true;
  const off = page.live.on('state', ({ name }) => page.setQuery({ live: name === 'paused' ? '0' : null }, { replace: true }));
  const wide = () => {
    list.element.style.setProperty('--cells', NARROW.matches ? 'minmax(0, 1fr)' : COLUMNS);
    list.measure();
    list.redraw();
  };
  NARROW.addEventListener('change', wide);
  wide();
  page.live.refetch(() => list.refresh(), { signal: page.signal });
  page.live.refetch(() => counts.load(), { signal: page.signal, gap: 2000 });
  page.actions = [{ name: 'Dead letters', run: () => change({ outcome: 'dead' }) }, { name: 'Clear filters', run: () => change(Object.fromEntries(FILTERS.map((name) => [name, null]))) }];
  const named = page.get('functions', {}, { active: false }).then((answer) => {
    ({ functions } = answer);
    bar.addFunctions(functions.map(({ name }) => name));
  }, () => {});
  await Promise.all([showAll(), Promise.race([named, new Promise((resolve) => setTimeout(resolve, 300))])]);
  return () => {
    off();
    NARROW.removeEventListener('change', wide);
    list.stop();
  };
}
