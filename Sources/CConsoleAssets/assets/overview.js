// Overview: how the server is, what it does now, what needs a look, which nodes there are, and what happened last.

import { cli, curl } from './api.js';
import { lineChart } from './chart.js';
import { h, shown, text } from './dom.js';
import { outcomesOf } from './outcomes.js';
import { ago, clock, counted, now, number, size, span, time } from './time.js';
import { actorLink, badge, button, choice, code, col, copyButton, copyIcon, empty, eventLink, heading, num, panel, table } from './base.js';

const WINDOWS = [['15m', 'last 15 minutes'], ['1h', 'last hour'], ['6h', 'last 6 hours'], ['24h', 'last 24 hours']];

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

const micros = (value) => (value === undefined || value === null ? '—' : span(Number(value) / 1000));
const short = (value) => (value === null ? '—' : value >= 100 || value === 0 ? number(Math.round(value)) : value.toFixed(1));

function tile(name, { href } = {}) {
  const figure = h('span', { class: 'figure' }, '—');
  const detail = h('span', { class: 'detail' });
  const element = h(href ? 'a' : 'div', { class: 'tile', href }, h('span', { class: 'name' }, name), figure, detail);
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
    listeners: tile('Listeners'), queue: tile('Queue'), lag: tile('Effect lag p95'), waiting: tile('Waiting, paused, dead', { href: page.url('events', null, { outcome: 'dead' }) }),
  };
  const update = (stats) => {
    const { samples } = page.live;
    tiles.commits.set(short(rate(samples, 'commits', 5)), `revision ${number(stats.revision)}`);
    tiles.events.set(short(rate(samples, 'events', 5)), `${number(stats.events)} since start`);
    const perSecond = rate(samples, 'grants', 60);
    tiles.grants.set(short(perSecond === null ? null : perSecond * 60), `${number(stats.grants)} since start`);
    tiles.listeners.set(number(stats.sockets + stats.streams), `${number(stats.listens)} listens`);
    tiles.queue.set(number(stats.queue), stats.running > 0 ? `${number(stats.running)} running` : 'writes waiting');
    tiles.lag.set(micros(stats.lagP95Micros), stats.effectLag > 0 ? `oldest waiting event: ${span(stats.effectLag)}` : 'of the last minute');
    const dead = stats.deadLetters > 0;
    tiles.waiting.set(`${number(stats.waiting)}, ${number(stats.paused)}, ${dead ? `✕ ${number(stats.deadLetters)}` : '0'}`,
      dead ? 'given up on: look' : stats.waiting > 0 ? 'tried again by themselves' : 'nothing given up on', dead ? 'dead' : stats.waiting > 0 ? 'wait' : '');
  };
  return { tiles, update };
}

/** The ledger's tile: what the last audit said, and another, whose faults stand in `found`. */
function ledgerTile(page, found) {
  const made = tile('Ledger');
  const set = (sound, ...detail) => made.set(badge(sound ? 'sound' : 'failed', sound ? 'sound' : 'not sound'), h('span', detail));
  const verify = async () => {
    const begin = performance.now();
    try {
      const answer = await page.get('ledger/verify');
      set(answer.sound, answer.sound ? `${number(answer.entries)} entries, ` : `${number(answer.faultCount)} faults in ${number(answer.entries)} entries, `,
        'verified ', time(now()), ` in ${span(performance.now() - begin)}`);
      found(answer);
    } catch (error) {
      if (error.name !== 'AbortError') made.set('—', h('span', { class: 'dead', role: 'alert' }, `✕ ${shown(error.message)} Try again.`));
    }
  };
  made.element.append(button('Verify now', verify, { small: true }));
  made.last = ({ lastVerification: last }) => (last ? set(last.sound, 'everything verified ', time(last.at), ` in ${span(last.durationMs)}`)
    : made.set('—', 'not verified since the start'));
  return made;
}

function problemsPanel(page) {
  let audit = null;
  const ledger = ledgerTile(page, (answer) => {
    audit = answer;
    shownPanel.reload();
  });
  const shownPanel = panel({
    title: 'Needs a look', load: async () => {
      const status = await page.get('status', {}, { active: false });
      if (!audit) ledger.last(status);
      const lines = [
        ...(audit?.faults ?? []).slice(0, 10).map((fault) => ['failed', 'ledger', [fault.sequence
          ? h('a', { href: page.url('rewards/entry', fault.sequence) }, `entry ${number(fault.sequence)}`) : code(fault.account ?? fault.kind), ': ', shown(fault.message)]]),
        audit?.unbackedCount > 0 && ['waiting', 'ledger', `${number(audit.unbackedCount)} values in the tree are no balances.`],
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
  return { problems: shownPanel, ledger };
}

function upSince(status) {
  const parts = [status.version && `Version ${status.version}`, status.startedAt && `started ${ago(status.startedAt)}`,
    status.lastBackup?.at && `last backup ${ago(status.lastBackup.at)}`].filter(Boolean);
  return parts.join(', ');
}

/** What a node does, or for how long nothing was heard of it. */
function nodeState({ leads, alive, silentMs }) {
  if (leads) return badge('ok', 'leads');
  if (alive && silentMs === 0) return badge('ok', 'follows');
  return badge(alive ? 'waiting' : 'dead', `silent for ${span(silentMs)}`);
}

/** The term of the node that leads, the nodes, and what to do about those that are silent. */
function nodesOf({ term, nodes }, command) {
  const silent = nodes.filter(({ alive }) => !alive);
  const took = term.batchMicros !== undefined && `, each durable after ${micros(term.batchMicros)} on average`;
  return [
    h('p', `Term ${number(term.number)} began `, time(term.startedAt), '. ', term.batches > 0
      ? [`PostgreSQL has ${counted(term.batches, 'batch', 'batches')} of it, ${size(term.bytes)}`, took, '.'] : 'Nothing was written in it yet.'),
    silent.length > 0 && h('ul', { class: 'lines' }, silent.map(({ name }) => {
      const words = command('forget', name);
      return h('li', badge('dead', 'silent'), h('span', { class: 'grow' }, 'Start ', h('strong', shown(name)), ' again. If it will not come back, take it from the list: ',
        code(words), ' ', copyIcon(words, `Copy the command that forgets ${shown(name)}`)));
    })),
    table({
      caption: 'Nodes of the store', rows: nodes, empty: 'The list is read every ten seconds. This node is in it after the first look.', columns: [
        col('Node', (node) => h('strong', shown(node.name))), col('State', nodeState),
        col('Address', (node) => node.address ?? h('span', { class: 'muted' }, 'none given'), true), col('Version', 'version', true)],
    }),
  ];
}

/** The nodes of a store in PostgreSQL. Of any other there is nothing to see, and nobody asks again. */
function nodesPanel(page) {
  let isAlone = false;
  const place = page.session.mode === 'development' ? ['--postgres', 'URL'] : ['--config', 'FILE'];
  const command = (...words) => cli('cluster', ...words, ...place);
  const made = panel({
    title: 'Nodes', actions: copyButton([{ name: 'Command', text: () => command('status') }, { name: 'curl', text: () => curl('GET', 'cluster') }]), load: async () => {
      const cluster = await page.get('cluster', {}, { active: false });
      isAlone = !cluster.clustered;
      made.element.hidden = isAlone;
      return isAlone ? [] : nodesOf(cluster, command);
    },
  });
  made.element.hidden = true;
  // Not while somebody is in it with the keyboard: what has the focus would be gone.
  return { ...made, again: () => !isAlone && !made.body.contains(document.activeElement) && made.reload(true) };
}

/** A panel of the last of something, with the way to all. */
const lastPanel = (title, href, all, load) => panel({ title, actions: h('a', { href }, all), load });

const eventsPanel = (page) => lastPanel('Last events', page.url('events'), 'All events', async () => table({
  caption: 'Last events', rows: (await page.get('events', { limit: 8 }, { active: false })).events, open: (event) => page.go(page.url('event', event.id)),
  empty: empty('No write has matched a function yet.', { name: 'Try it: Alice refers Bob', href: page.url('start') }), columns: [
    col('Time', (event) => h('span', { class: 'nowrap' }, clock(event.time).slice(0, 8)), true), col('Path', (event) => eventLink(page, event.id, event.path), true),
    col('Outcome', (event) => h('span', { class: 'row wrap' }, outcomesOf(event)), true)],
}));

const auditPanel = (page) => lastPanel('Last admin actions', page.url('audit'), 'Audit log', async () => table({
  caption: 'Last admin actions', rows: (await page.get('audits', { limit: 5, except: 'data' }, { active: false })).actions, empty: 'No administrator has done anything yet.', columns: [
    col('Time', (action) => time(action.time), true), col('Who', (action) => actorLink(page, action.actor), true), col('Action', 'action', true),
    col('Result', (action) => (action.result === 'ok' ? badge('ok') : badge('refused', action.result)), true)],
}));

const replaysPanel = (page) => lastPanel('Replays', page.url('replays'), 'All replays', async () => table({
  caption: 'Replays', rows: (await page.get('replays', { limit: 5 }, { active: false })).replays, empty: 'Nothing was replayed yet.',
  open: (replay) => page.go(page.url('replays', replay.id)), columns: [
    col('No.', (replay) => h('a', { href: page.url('replays', replay.id) }, number(replay.id)), true), col('State', (replay) => badge(replay.state), true),
    num('Given', (replay) => number(replay.progress.given)), col('Reason', (replay) => replay.order.reason, true)],
}));

/** The charts of a window: the server's series, and behind it what was told since. */
function chartsPanel(page) {
  const charts = {
    commits: lineChart({ label: 'Commits', unit: '/s', format: short }), grants: lineChart({ label: 'Ledger entries', unit: '/s', format: short }),
    lag: lineChart({ label: 'Effect lag p95', unit: 'ms', format: short }),
  };
  const asked = () => (WINDOWS.some(([id]) => id === page.query.get('w')) ? page.query.get('w') : '15m');
  const picker = choice(WINDOWS, asked(), {
    aria: { label: 'Time shown' }, on: {
      change: (event) => {
        page.setQuery({ w: event.target.value === '15m' ? null : event.target.value });
        made.reload();
      },
    },
  });
  let series = null;
  let due = 0;
  const perSecond = (name) => ({ time: at, coveredMs, [name]: count }) => [at, coveredMs > 0 ? (count / coveredMs) * 1000 : null];
  const lag = (at, micro) => [at, micro === undefined || micro === null ? null : Number(micro) / 1000];
  const draw = () => {
    if (!series) return;
    const { points, time: until } = series;
    const [latest] = page.live.samples.slice(-1);
    const tail = latest?.time > until ? [latest] : [];
    for (const name of ['commits', 'grants']) {
      charts[name].set([...points.map(perSecond(name)), ...tail.map(() => [latest.time, rate(page.live.samples, name, 5)])]);
    }
    charts.lag.set([...points.map((point) => lag(point.time, point.lagP95Micros)), ...tail.map(() => lag(latest.time, latest.lagP95Micros))]);
  };
  const grid = h('div', { class: 'grid3' }, charts.commits.element, charts.grants.element, charts.lag.element);
  const made = panel({
    title: 'What it did', actions: picker, load: async () => {
      const window = asked();
      picker.value = window;
      due = performance.now() + 10_000;
      const answer = await page.get('series', { window }, { active: false });
      due = performance.now() + Math.min(60_000, Math.max(10_000, answer.stepMs));
      if (window === asked()) series = answer;
      draw();
      return grid;
    },
  });
  page.changed = () => made.reload();
  return {
    element: made.element, first: made.first, reload: made.reload, draw() {
      if (performance.now() > due && document.visibilityState === 'visible') made.reload();
      else draw();
    },
  };
}

/** Shows the page. */
export async function mount(root, page) {
  const { tiles, update } = tilesOf(page);
  const charts = chartsPanel(page);
  const { problems, ledger } = problemsPanel(page);
  const nodes = nodesPanel(page);
  const lasts = [eventsPanel(page), auditPanel(page), replaysPanel(page)];
  const copy = copyButton([{ name: 'Link', text: () => location.href }, { name: 'Status as curl', text: () => curl('GET', 'status') },
    { name: 'Series as curl', text: () => curl('GET', 'series', { window: page.query.get('w') ?? '15m' }) },
    { name: 'Verification as command', text: () => 'doubloon ledger verify' }]);
  root.append(heading('Overview', { actions: copy }), h('div', { class: 'tiles' }, [...Object.values(tiles), ledger].map(({ element }) => element)),
    charts.element, problems.element, nodes.element,
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
  page.live.refetch(() => lasts[0].reload(true), { signal: page.signal, gap: 500 });
  page.live.refetch(() => Promise.all([problems, lasts[1], lasts[2]].map((part) => part.reload(true))), { signal: page.signal, gap: 2000 });
  const slow = setInterval(() => {
    if (page.live.paused || document.visibilityState !== 'visible') return;
    problems.reload();
    nodes.again();
  }, 10_000);
  // What went on while nobody listened is in the series; another node may lead by now.
  page.cleanup(page.live.on('hello', () => {
    if (page.live.samples.length === 0) return;
    charts.reload();
    nodes.again();
  }));
  await Promise.all([charts.first, problems.first, nodes.first, ...lasts.map(({ first }) => first)]);
  return () => {
    clearInterval(slow);
    cancelAnimationFrame(frame);
    off();
  };
}
