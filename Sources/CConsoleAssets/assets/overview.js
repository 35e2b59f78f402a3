// Overview: how the server is, what it does now, what needs a look, and what happened last.

import { curl, get } from './api.js';
import { lineChart } from './chart.js';
import { h, shown, text } from './dom.js';
import { outcomesOf } from './outcomes.js';
import { ago, clock, number, span, time } from './time.js';
import { actorLink, badge, button, choice, copyButton, empty, eventLink, heading, panel, table } from './ui.js';

const WINDOWS = [['1m', 'last minute', 60], ['5m', 'last 5 minutes', 300], ['15m', 'last 15 minutes', 900]];

/** The page's title. */
export const title = () => 'Overview';

/** The rate of a total over the last seconds, of samples; null before there are two. */
function rate(samples, name, seconds) {
  if (samples.length < 2) return null;
  const last = samples.at(-1);
  const first = samples.find((sample) => sample.time >= last.time - seconds * 1000) ?? samples[0];
  if (first === last || last.time <= first.time || last[name] < first[name]) return first === last ? 0 : null;
  return (Number(last[name] - first[name]) / (last.time - first.time)) * 1000;
}

const short = (value) => (value === null ? '—' : value >= 100 || value === 0 ? number(Math.round(value)) : value.toFixed(1));

/** A tile: name, figure, what it says below. */
function tile(name, { href, wide } = {}) {
  const figure = h('span', { class: 'figure' }, '—');
  const detail = h('span', { class: 'detail' });
  const element = h(href ? 'a' : 'div', { class: ['tile', wide && 'wide'], href }, h('span', { class: 'name' }, name), figure, detail);
  return {
    element, set(value, below = '', tone) {
      if (value instanceof Node) figure.replaceChildren(value);
      else text(figure, value);
      figure.className = `figure ${tone ?? ''}`;
      if (below instanceof Node) detail.replaceChildren(below);
      else text(detail, below);
    },
  };
}

function tilesOf(page) {
  const tiles = {
    commits: tile('Commits/s'), events: tile('Events/s', { href: page.url('events') }), grants: tile('Entries/min', { href: page.url('rewards/entries') }),
    listeners: tile('Listeners'), queue: tile('Queue'), lag: tile('Effect lag'), waiting: tile('Waiting, paused', { href: page.url('events', null, { outcome: 'waiting' }) }),
    dead: tile('Dead letters', { href: page.url('events', null, { outcome: 'dead' }) }),
  };
  const update = (stats) => {
    const { samples } = page.live;
    tiles.commits.set(short(rate(samples, 'commits', 5)), `revision ${number(stats.revision)}`);
    tiles.events.set(short(rate(samples, 'events', 5)), `${number(stats.events)} since start`);
    const perSecond = rate(samples, 'grants', 60);
    tiles.grants.set(short(perSecond === null ? null : perSecond * 60), `${number(stats.grants)} since start`);
    tiles.listeners.set(number(stats.sockets + stats.streams), `${number(stats.listens)} listens`);
    tiles.queue.set(number(stats.queue), stats.running > 0 ? `${number(stats.running)} running` : 'writes waiting');
    tiles.lag.set(span(stats.effectLag), stats.effectLag > 0 ? 'oldest waiting event' : 'nothing waits');
    tiles.waiting.set(`${number(stats.waiting)}, ${number(stats.paused)}`, stats.waiting > 0 ? 'tried again by themselves' : '', stats.waiting > 0 ? 'wait' : '');
    tiles.dead.set(stats.deadLetters > 0 ? `✕ ${number(stats.deadLetters)}` : '0', stats.deadLetters > 0 ? 'given up on: look' : 'nothing given up on', stats.deadLetters > 0 ? 'dead' : '');
  };
  return { tiles, update };
}

/** The ledger's panel: what the last audit said, and another. */
function ledgerPanel(page) {
  let asked = false;
  const verify = button('Verify now', () => {
    asked = true;
    return shownPanel.reload();
  }, { small: true });
  const shownPanel = panel({
    title: 'Ledger', signal: page.signal, actions: verify, load: async (signal) => {
      if (!asked) return lastVerification(await get('status', {}, { signal, active: false }));
      const begin = performance.now();
      const answer = await get('ledger/verify', { ns: page.ns }, { signal });
      const took = performance.now() - begin;
      if (answer.sound) {
        return h('p', badge('sound'), `, ${number(answer.entries)} entries of ${number(answer.accounts)} accounts, verified `, time(Date.now()), `, in ${span(took)}. `,
          answer.unbackedCount > 0 && h('span', { class: 'wait' }, `${number(answer.unbackedCount)} values in the tree are no balances.`));
      }
      return [h('p', badge('failed', 'not sound'), `, ${number(answer.faultCount)} faults in ${number(answer.entries)} entries.`),
        h('ul', { class: 'lines' }, answer.faults.slice(0, 10).map((fault) => h('li', fault.sequence
          ? h('a', { href: page.url('rewards/entry', fault.sequence) }, `entry ${number(fault.sequence)}`) : h('code', shown(fault.account ?? fault.kind)), shown(fault.message))))];
    },
  });
  return shownPanel.element;
}

function lastVerification({ lastVerification: last }) {
  if (!last) return h('p', { class: 'muted' }, 'Not verified since the server started. Verifying reads every entry, the chain of hashes, and the balances in the tree.');
  return h('p', badge(last.sound ? 'sound' : 'failed', last.sound ? 'sound' : 'not sound'), ', verified ', time(last.at), `, in ${span(last.durationMs)}.`);
}

/** What keeps something from working, and what to do about it. */
function problemsPanel(page) {
  const shownPanel = panel({
    title: 'Needs a look', signal: page.signal, load: async (signal) => {
      const status = await get('status', {}, { signal, active: false });
      const lines = [
        ...(status.problems ?? []).map((sentence) => ['failed', 'problem', shown(sentence)]),
        ...(status.deadLetters?.functions ?? []).map((dead) => ['dead', `${number(dead.count)} dead`, [h('strong', shown(dead.function)), ': ', shown(dead.error), ' ',
          h('a', { href: page.url('events', null, { outcome: 'dead', function: dead.function }) }, 'See'), ' · ',
          h('a', { href: page.url('replays/new', null, { function: dead.function, mode: 'failed' }) }, `Replay ${number(dead.count)}…`)]]),
        ...(status.retries?.functions ?? []).map((wait) => ['waiting', `${number(wait.count)} waiting`, [h('strong', shown(wait.function)), ': ', shown(wait.error),
          ', tried again by itself. ', h('a', { href: page.url('events', null, { outcome: 'waiting', function: wait.function }) }, 'See')]]),
        ...(status.pausedFunctions ?? []).map((paused) => ['paused', 'paused', [h('a', { href: page.url('functions', paused.name) }, shown(paused.name)),
          ': its events wait. Reason: ', shown(paused.reason)]]),
        ...(status.warnings ?? []).map((sentence) => ['waiting', 'warning', shown(sentence)]),
        status.lastBackup?.failure && ['failed', 'backup', ['The last backup failed: ', shown(status.lastBackup.failure)]],
      ].filter(Boolean);
      if (lines.length === 0) return h('p', badge('ok', 'Nothing.'), h('span', { class: 'muted' }, ` ${upSince(status)}`));
      return h('ul', { class: 'lines' }, lines.map(([state, word, content]) => h('li', badge(state, word), h('span', { class: 'grow' }, content))));
    },
  });
  return shownPanel;
}

function upSince(status) {
  const parts = [status.version && `Version ${status.version}`, status.startedAt && `up since ${ago(status.startedAt)}`,
    status.lastBackup?.at && `last backup ${ago(status.lastBackup.at)}`].filter(Boolean);
  return parts.join(', ');
}

/** A panel of the last of something, read again when commits came; `columns` as of table(). */
function lastPanel(page, { name, href, all, load }) {
  return panel({ title: name, signal: page.signal, actions: h('a', { href }, all), load });
}

function eventsPanel(page) {
  return lastPanel(page, {
    name: 'Last events', href: page.url('events'), all: 'All events', load: async (signal) => {
      const { events } = await get('events', { ns: page.ns, limit: 8 }, { signal, active: false });
      return table({
        caption: 'Last events', rows: events, empty: empty('No write has matched a function yet.', { name: 'Try it: Alice refers Bob', href: page.url('start') }),
        open: (event) => page.go(page.url('event', event.id)),
        columns: [{ name: 'Time', cell: (event) => h('span', { class: 'nowrap' }, clock(event.time).slice(0, 8)) },
          { name: 'Path', cell: (event) => eventLink(page, event.id, event.path) },
          { name: 'Outcome', cell: (event) => h('span', { class: 'row wrap' }, outcomesOf(event)) }],
      });
    },
  });
}

function auditPanel(page) {
  return lastPanel(page, {
    name: 'Last admin actions', href: page.url('audit'), all: 'Audit log', load: async (signal) => {
      const { actions } = await get('audits', { limit: 5, except: 'data' }, { signal, active: false });
      return table({
        caption: 'Last admin actions', rows: actions, empty: 'No administrator has done anything yet.',
        columns: [{ name: 'Time', cell: (action) => time(action.time) }, { name: 'Who', cell: (action) => actorLink(page, action.actor) },
          { name: 'Action', cell: (action) => action.action },
          { name: 'Result', cell: (action) => (action.result === 'ok' ? badge('ok') : badge('refused', action.result)) }],
      });
    },
  });
}

function replaysPanel(page) {
  return lastPanel(page, {
    name: 'Replays', href: page.url('replays'), all: 'All replays', load: async (signal) => {
      const { replays } = await get('replays', { ns: page.ns, limit: 5 }, { signal, active: false });
      return table({
        caption: 'Replays', rows: replays, empty: 'Nothing was replayed yet.', open: (replay) => page.go(page.url('replays', replay.id)),
        columns: [{ name: 'No.', cell: (replay) => h('a', { href: page.url('replays', replay.id) }, number(replay.id)) },
          { name: 'State', cell: (replay) => badge(replay.state) }, { name: 'Given', number: true, cell: (replay) => number(replay.progress.given) },
          { name: 'Reason', cell: (replay) => replay.order.reason }],
      });
    },
  });
}

function chartsPanel(page) {
  const charts = {
    commits: lineChart({ label: 'Commits', unit: '/s', format: short }), grants: lineChart({ label: 'Ledger entries', unit: '/s', format: short }),
    lag: lineChart({ label: 'Effect lag', unit: 'ms', format: short }),
  };
  const seconds = () => (WINDOWS.find(([id]) => id === page.query.get('w')) ?? WINDOWS[1])[2];
  const picker = choice(WINDOWS.map(([id, name]) => [id, name]), page.query.get('w') ?? '5m', {
    aria: { label: 'Time shown' }, on: {
      change: (event) => {
        page.setQuery({ w: event.target.value === '5m' ? null : event.target.value });
        draw();
      },
    },
  });
  const draw = () => {
    const all = page.live.samples;
    const last = all.at(-1)?.time ?? 0;
    const samples = all.filter((sample) => sample.time >= last - seconds() * 1000);
    const rates = (name) => samples.slice(1).map((sample, index) => {
      const passed = sample.time - samples[index].time;
      return [sample.time, passed > 0 && sample[name] >= samples[index][name] ? (Number(sample[name] - samples[index][name]) / passed) * 1000 : null];
    });
    charts.commits.set(rates('commits'));
    charts.grants.set(rates('grants'));
    charts.lag.set(samples.map((sample) => [sample.time, Number(sample.effectLag)]));
  };
  page.changed = () => {
    picker.value = page.query.get('w') ?? '5m';
    draw();
  };
  draw();
  const made = panel({ title: 'Since this page was opened', actions: picker });
  made.body.append(h('div', { class: 'grid3' }, charts.commits.element, charts.grants.element, charts.lag.element));
  return { element: made.element, draw };
}

/** Shows the page. */
export async function mount(root, page) {
  const { tiles, update } = tilesOf(page);
  const charts = chartsPanel(page);
  const problems = problemsPanel(page);
  const lasts = [eventsPanel(page), auditPanel(page), replaysPanel(page)];
  const copy = copyButton([{ name: 'Link', text: () => location.href }, { name: 'Status as curl', text: () => curl('GET', 'status') },
    { name: 'Verification as command', text: () => 'doubloon ledger verify' }]);
  root.append(heading('Overview', { actions: copy }), h('div', { class: 'tiles' }, Object.values(tiles).map(({ element }) => element)),
    charts.element, h('div', { class: 'grid2' }, problems.element, ledgerPanel(page)),
    h('div', { class: 'grid2' }, lasts[0].element, h('div', { class: 'stack' }, lasts[1].element, lasts[2].element)));
  let frame = 0;
  const off = page.live.on('stats', (stats) => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      update(stats);
      charts.draw();
    });
  });
  if (page.live.stats) update(page.live.stats);
  page.live.refetch(() => Promise.all([lasts[0].reload()]), { signal: page.signal, gap: 500 });
  page.live.refetch(() => Promise.all([problems.reload(), lasts[1].reload(), lasts[2].reload()]), { signal: page.signal, gap: 2000 });
  const slow = setInterval(() => !page.live.paused && document.visibilityState === 'visible' && problems.reload(), 10_000);
  await Promise.all([problems.first, ...lasts.map(({ first }) => first)]);
  return () => {
    clearInterval(slow);
    cancelAnimationFrame(frame);
    off();
  };
}
