// Replays: the list; a new one, with what it would do before it is done; one, with its progress.

import { cli, curl } from './api.js';
import { diffView } from './diff.js';
import { h, later, shown } from './dom.js';
import { entries as members, isObject } from './json.js';
import { change, copies } from './parts.js';
import { windowList } from './list.js';
import { counted, moment, number, parseTime, time } from './time.js';
import {
  act, actorLink, badge, button, check, choice, code, coins, col, copyButton, empty, errorPanel, eventLink, facts, field, functionLink,
  heading, input, note, num, panel, pathLink, table, tabs, toast,
} from './ui.js';

const MODES = [['failed', 'Failed: what was given up on'], ['gaps', 'Gaps: what a function never had'], ['all', 'All: every event again']];
const CHOICES = ['function', 'uid', 'event', 'path', 'writer', 'error'];
const MOVING = new Set(['running', 'paused']);

/** The page's title. */
export const title = (params) => (params.route === 'replays/one' ? `Replay ${params.id}` : params.route === 'replays/new' ? 'New replay' : 'Replays');

/** Shows one of the three pages. */
export async function mount(root, page) {
  if (page.params.route === 'replays/one') return showOne(root, page);
  return page.params.route === 'replays/new' ? showNew(root, page) : showList(root, page);
}

const crumbs = (page) => h('span', h('a', { href: page.url('events') }, 'Events'), ' / ', h('a', { href: page.url('replays') }, 'Replays'));
const amounts = (units) => members(units).filter(([, amount]) => amount !== 0).map(([unit, amount]) => h('span', coins(amount, unit), ' '));
const counts = (outcomes) => members(outcomes).map(([name, count]) => badge(name, `${number(count)} ${name}`));

function words(page, order) {
  return [MODES.find(([id]) => id === order.mode)?.[1].split(':')[0] ?? order.mode, order.function && ['of ', functionLink(page, order.function)],
    order.event && ['event ', eventLink(page, order.event)], order.uid && `player ${shown(order.uid)}`, order.path && ['at ', code(order.path)], order.writer && `written by ${shown(order.writer)}`,
    order.error && `failed with "${shown(order.error)}"`, order.since && `since ${moment(order.since)}`,
    order.until && `until ${moment(order.until)}`, order.rate > 0 && `at most ${number(order.rate)} a second`, order.suppressed && 'with suppressed writes', order.allowHandled && 'handled ones too']
    .filter(Boolean).flatMap((part, index) => [index > 0 && ', ', part]);
}

async function showList(root, page) {
  const start = h('a', { class: 'button primary', href: page.url('replays/new') }, 'New replay…');
  const copy = copyButton([{ name: 'Link', text: () => location.href }, ...copies(cli('replay', 'list', '--ns', page.ns), 'GET', 'replays', { ns: page.ns })]);
  const load = (before) => page.get('replays', { limit: 50, before }, { active: before ? undefined : false });
  let older = [];
  const list = panel({
    title: 'All replays', load: async () => {
      const answer = await load();
      const rows = [...answer.replays, ...older.filter((replay) => !answer.replays.some(({ id }) => id === replay.id))];
      const next = rows.at(-1)?.id;
      const made = table({
        caption: 'Replays, newest first', rows, open: (replay) => page.go(page.url('replays', replay.id)),
        empty: empty('Nothing was replayed yet. A replay gives events to their functions again: what failed, what a new function never had, or all. Nothing is paid twice.', { name: 'New replay…', href: page.url('replays/new') }),
        columns: [col('No.', (replay) => h('a', { href: page.url('replays', replay.id) }, number(replay.id)), true), col('State', (replay) => badge(replay.state), true),
          col('What', (replay) => h('span', words(page, replay.order)), true), num('Given', (replay) => number(replay.progress.given)),
          num('Coins', (replay) => amounts(replay.progress.coins)), col('Reason', (replay) => replay.order.reason, true),
          col('By', (replay) => actorLink(page, replay.order.actor), true), col('Begun', (replay) => time(replay.createdAt), true)],
      });
      const more = answer.next !== undefined && rows.length === answer.replays.length + older.length && button('Older', async () => {
        older = [...older, ...(await load(next)).replays];
        await list.reload();
      });
      return [made, more];
    },
  });
  root.append(heading('Replays', { crumbs: h('a', { href: page.url('events') }, 'Events'), sub: 'Give events to their functions again. Nothing is paid twice.', actions: [start, copy] }), list.element);
  page.live.refetch(() => list.reload(), { signal: page.signal, gap: 1000 });
  await list.first;
}

/** The fields of a new replay, in the address; `order()` is what the server takes. */
function orderForm(page, changed) {
  const query = () => page.query;
  const set = (name, value) => {
    page.setQuery({ [name]: value }, { replace: true });
    changed();
  };
  const typed = later(300, set);
  const text_ = (name, label, placeholder, help) => {
    const control = input({ value: query().get(name) ?? '', placeholder, class: `input ${name === 'event' ? 'mono' : ''}`, on: { input: (event) => typed(name, event.target.value.trim()) } });
    return field(label, control, { help });
  };
  const mode = choice(MODES, query().get('mode') ?? (query().get('event') ? 'all' : 'failed'), { on: { change: (event) => set('mode', event.target.value) } });
  const flag = (name, label) => check(label, { checked: query().get(name) === '1', on: { change: (event) => set(name, event.target.checked ? '1' : null) } });
  const reason = input({ maxlength: 500, placeholder: 'mended in 1.4.2' });
  const since = text_('since', 'Since', '1h, 2026-11-26 10:00');
  const until = text_('until', 'Until', '5m');
  const asReason = field('Reason, for the record', reason, { wide: true });
  const element = h('div', { class: 'form' }, field('Which events', mode), h('div', { class: 'fields' }, text_('function', 'Function', 'all'), text_('uid', 'Player', 'all'), text_('event', 'One event', '1-6:/users/bob/level')),
    h('div', { class: 'fields' }, text_('path', 'Path or pattern', '/users/*/level'), text_('writer', 'Written by', 'anybody'), text_('error', 'Error has', 'any')),
    h('div', { class: 'fields' }, since, until, text_('rate', 'Events a second, at most', 'as fast as it likes')),
    flag('suppressed', 'Also writes that told functions to sleep (imports)'), flag('allowHandled', 'Also where another function has handled the pattern'), asReason);
  const order = () => {
    const made = { mode: mode.value, reason: reason.value.trim() };
    for (const name of CHOICES) if (query().get(name)) made[name] = query().get(name);
    for (const [name, entry] of [['since', since], ['until', until]]) {
      const value = query().get(name);
      entry.fault(value && parseTime(value) === null ? 'This is no time.' : '');
      if (value) made[name] = parseTime(value) ?? undefined;
    }
    if (/^\d+$/.test(query().get('rate') ?? '')) made.rate = Number(query().get('rate'));
    for (const name of ['suppressed', 'allowHandled']) if (query().get(name) === '1') made[name] = true;
    return made;
  };
  const needReason = () => {
    asReason.fault(reason.value.trim() ? '' : 'A reason is needed: it stands in the log.');
    if (!reason.value.trim()) reason.focus();
    return reason.value.trim() !== '';
  };
  return { element, order, needReason };
}

const PREVIEW_FACTS = (trial) => facts([['Would run', h('span', { class: 'big' }, number(trial.survey.run))], ['Done already', number(trial.survey.alreadyDone)],
  ['Events looked at', number(trial.survey.scanned)], ['Slept through', trial.survey.suppressed > 0 && number(trial.survey.suppressed)], ['Unknown function', trial.survey.unknownFunction > 0 && number(trial.survey.unknownFunction)],
  ['Coins', members(trial.coins).length > 0 ? amounts(trial.coins) : h('span', { class: 'muted' }, 'none')],
  ['Would end', members(trial.outcomes).length > 0 && h('span', { class: 'row wrap' }, counts(trial.outcomes))], ['Up to revision', `r${trial.through}`]]);

function surveyOf(page, trial) {
  return [PREVIEW_FACTS(trial), trial.tried < trial.survey.run && h('p', { class: 'note' }, `${number(trial.tried)} of ${number(trial.survey.run)} runs were tried; coins and outcomes are of those.`),
    table({
      caption: 'By function', rows: trial.survey.functions, empty: 'No function is registered.',
      columns: [col('Function', (item) => functionLink(page, item.name), true), num('Would run', 'run'),
        num('Done already', 'alreadyDone'), num('Resting', 'resting')],
    })];
}

/** What exactly would change: the tree, the entries, the runs, and which would end otherwise today. */
function dryRunOf(page, trial) {
  const divergences = trial.divergences ?? [];
  const views = {
    tree: () => diffView(trial.tree ?? [], { link: (path) => pathLink(page, path), none: 'Nothing in the tree would change.' }),
    entries: () => table({
      caption: 'Ledger entries', rows: trial.entries ?? [], empty: 'No coins would move.',
      columns: [num('Amount', (entry) => coins(entry.amount, entry.unit)), col('From', 'debit', true), col('To', 'credit', true),
        col('Key', 'key', true), col('Event', (entry) => (entry.event ? eventLink(page, entry.event) : ''), true)],
    }),
    runs: () => table({
      caption: 'Runs', rows: trial.runs ?? [], empty: 'Nothing would run.',
      columns: [col('Event', (run) => eventLink(page, run.event), true), col('Function', (run) => functionLink(page, run.function), true),
        col('Before', 'recorded', true), col('Would end', (run) => badge(run.outcome), true), col('Reason', 'reason', true)],
    }),
    divergences: () => table({
      caption: 'Divergences', rows: divergences, empty: `${counted(trial.compared ?? 0, 'run')} compared with today: no difference.`,
      columns: [col('Event', (item) => eventLink(page, item.event), true), col('Function', (item) => functionLink(page, item.function), true),
        col('Ended', 'recorded', true), col('Today', 'now', true)],
    }),
  };
  const items = [['tree', 'Tree', trial.tree?.length ?? 0], ['entries', 'Entries', trial.entries?.length ?? 0], ['runs', 'Runs', trial.runs?.length ?? 0], ['divergences', 'Divergences', divergences.length]];
  const asked = page.query.get('dry');
  const first = Object.hasOwn(views, asked ?? '') ? asked : items.find(([, , count]) => count > 0)?.[0] ?? 'tree';
  const show = (id) => {
    page.setQuery({ dry: id }, { replace: true });
    made.panel.replaceChildren(views[id]());
  };
  const made = tabs({ label: 'Dry run', items: items.map(([id, name, count]) => ({ id, name, count })), current: first, change: show });
  show(first);
  return h('div', note('good', 'Nothing was changed: this is what a replay would do now.'), made.element, made.panel);
}

async function showNew(root, page) {
  let seen = null;
  let turn = 0;
  const ask = (kind, order) => page.post(`replays/${kind}`, { ...order, reason: order.reason || kind }, { trees: ['before', 'after', 'coins', 'outcomes'], active: true });
  const preview = panel({
    title: 'What it would do', load: async () => {
      const mine = (turn += 1);
      const trial = await ask('preview', form.order());
      if (mine !== turn) return [];
      seen = trial;
      start.firstChild.textContent = verb(trial);
      start.disabled = trial.survey.run === 0 || !page.needs('support');
      return surveyOf(page, trial);
    },
  });
  const changed = () => {
    dry.hidden = true;
    page.setQuery({ dry: null }, { replace: true });
    preview.reload();
  };
  const form = orderForm(page, changed);
  const dry = h('section', { class: 'panel', hidden: true, aria: { label: 'Dry run' } });
  const tryIt = button('Dry run', async () => {
    dry.hidden = false;
    const body = h('div', { class: 'panel-body stack' });
    dry.replaceChildren(h('header', { class: 'panel-head' }, h('h2', 'Dry run')), body);
    try {
      body.append(dryRunOf(page, await ask('dry-run', form.order())));
    } catch (error) {
      if (error.name !== 'AbortError') body.append(errorPanel(error, () => tryIt.click()));
    }
    dry.scrollIntoView({ block: 'nearest' });
  });
  const verb = (trial) => (trial.survey.run === 0 ? 'Nothing to replay' : `Replay ${number(trial.survey.run)}…`);
  const start = act(page, 'support', 'Replay…', async () => {
    if (!form.needReason() || !seen) return;
    const order = form.order();
    const done = await change({
      title: 'Start this replay?', reason: false, verb: `Replay ${counted(seen.survey.run, 'run')}`, wide: true,
      preview: [PREVIEW_FACTS(seen), h('p', 'Each reward is paid once: what was paid already is left out.')],
      ask: () => ({ path: 'replays', params: { ns: page.ns }, body: order }),
    });
    if (!done) return;
    toast(`Replay ${done.id} has begun.`);
    page.go(page.url('replays', done.id));
  }, { primary: true });
  const copy = copyButton([{ name: 'Link', text: () => location.href }, { name: 'curl of the preview', text: () => curl('POST', 'replays/preview', { ns: page.ns }, { ...form.order(), reason: form.order().reason || 'preview' }) },
    { name: 'Command of the dry run', text: () => command(page, form.order()) }]);
  const first = preview.reload();
  root.append(heading('New replay', { crumbs: crumbs(page), sub: 'Choose events, look at what it would do, then start it.', actions: copy }),
    h('div', { class: 'split' }, h('div', { class: 'split-main stack' }, form.element, h('div', { class: 'row wrap' }, start, tryIt)), h('div', { class: 'split-side' }, preview.element)), dry);
  // The address of a dry run makes it again: it changes nothing.
  if (page.query.has('dry')) tryIt.click();
  await first;
}

function command(page, order) {
  const flags = [...CHOICES, 'since', 'until', 'rate'].flatMap((name) => (order[name] ? [`--${name}`, order[name]] : []));
  return cli('replay', order.event ? '' : `--${order.mode}`, ...flags, '--ns', page.ns, '--reason', order.reason || 'preview', '--dry-run');
}

/** How far a replay is, 0 to 1; null where nothing tells. */
function share({ state, progress }) {
  if (state === 'done') return 1;
  const at = isObject(progress.cursor) ? progress.cursor.revision ?? progress.cursor.get?.('revision') : parseInt(progress.cursor, 10);
  return Number(at) >= 0 && progress.through > 0 ? Math.min(1, Number(at) / Number(progress.through)) : null;
}

async function showOne(root, page) {
  const { id } = page.params;
  const load = (active) => page.get(`replays/${id}`, {}, { active, trees: ['coins', 'outcomes'] });
  let replay = await load();
  const bar = h('span');
  const meter = h('div', { class: 'bar-meter', role: 'progressbar', aria: { label: 'Progress', valuemin: 0, valuemax: 100 } }, bar);
  const state = h('div', { class: 'stack' });
  const order = async (verb) => {
    try {
      replay = await page.post(`replays/${id}/${verb}`);
    } catch (error) {
      toast(error.message, { error: true });
    }
    await look();
  };
  const brake = act(page, 'support', 'Pause', () => order('pause'));
  const resume = act(page, 'support', 'Resume', () => order('resume'));
  const cancel = act(page, 'support', 'Cancel…', async () => {
    if (await change({ title: `End replay ${id}?`, verb: 'End it', danger: true, reason: false, run: () => {}, preview: h('p', 'What is on its way still ends. What was given stays given.') })) await order('cancel');
  }, { danger: true });
  const copy = copyButton([{ name: 'Link', text: () => location.href }, ...copies(cli('replay', 'show', id, '--ns', page.ns), 'GET', `replays/${id}`, { ns: page.ns })]);
  const draw = () => {
    const { progress } = replay;
    const done = share(replay);
    bar.style.width = `${Math.round((done ?? 0) * 100)}%`;
    meter.setAttribute('aria-valuenow', String(Math.round((done ?? 0) * 100)));
    meter.hidden = done === null;
    brake.hidden = replay.state !== 'running';
    resume.hidden = replay.state !== 'paused' && replay.state !== 'failed';
    cancel.hidden = !MOVING.has(replay.state) && replay.state !== 'failed';
    state.replaceChildren(facts([['State', badge(replay.state)], ['Given', h('span', { class: 'number' }, number(progress.given))], ['Done already', number(progress.alreadyDone)], ['Resting', number(progress.resting)],
      ['Events looked at', number(progress.scanned)], ['Outcomes', members(progress.outcomes).length > 0 && h('span', { class: 'row wrap' }, counts(progress.outcomes))], ['Coins', amounts(progress.coins)],
      ['What', h('span', words(page, replay.order))], ['Reason', shown(replay.order.reason)], ['By', actorLink(page, replay.order.actor)], ['Begun', time(replay.createdAt)], ['Last step', time(replay.updatedAt)]]),
    ...(progress.failure ? [note('bad', `It stopped: ${shown(progress.failure)}`)] : []));
  };
  const items = windowList({
    label: 'Events of this replay', columns: ['Event', 'Function', 'Outcome', 'Commit'], template: 'minmax(160px, 3fr) minmax(100px, 2fr) minmax(140px, 3fr) 80px', key: (item) => `${item.event} ${item.function}`,
    row: (item) => [eventLink(page, item.event), functionLink(page, item.function), h('span', { class: 'row' }, badge(item.outcome), item.reason && h('span', { class: 'muted' }, shown(item.reason))), item.effect ? `r${item.effect}` : ''],
    open: (item) => page.go(page.url('event', item.event)), empty: () => empty('No event was given to a function.'),
    fetch: async ({ cursor, signal }) => {
      const answer = await page.get(`replays/${id}/items`, { limit: 100, cursor }, { signal, active: cursor ? undefined : false });
      return { rows: answer.items, next: answer.next };
    },
  });
  const look = async () => {
    const before = replay;
    replay = await load(false);
    draw();
    if (replay.updatedAt !== before.updatedAt || replay.state !== before.state) await items.refresh();
  };
  draw();
  root.classList.add('fill');
  root.append(heading(`Replay ${number(Number(id))}`, { crumbs: crumbs(page), actions: [brake, resume, cancel, copy] }), meter, state, items.element);
  const watch = setInterval(() => {
    if (MOVING.has(replay.state) && !page.live.paused && document.visibilityState === 'visible') look().catch(() => {});
  }, 500);
  page.live.refetch(look, { signal: page.signal, gap: 1000 });
  await items.reload();
  return () => {
    clearInterval(watch);
    items.stop();
  };
}
