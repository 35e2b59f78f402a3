// What was: the commits that touched a node, two of them compared, an old state restored, the bar that moves through them; and the pages of commits.

import * as api from './api.js';
import { fill, h, later, shown } from './dom.js';
import { change, pasted, preview, read } from './editor.js';
import { commitDiff, diffView } from './diff.js';
import { number, parseTime, time } from './time.js';
import { change as ask, copying, filters, follow, listing, pager, section } from './parts.js';
import { actorLink, button, col, empty, errorPanel, eventLink, guard, heading, inline, input, num, quiet, table, to, when } from './ui.js';

// Commits of one page of the log, and the changes of each that the list of them shows.
const PAGE = 50, SHOWN = 6;

const log = (ctx, path, before, changes = 0) => api.get('data/log', { ns: ctx.ns, path, before, limit: PAGE, changes, cut: changes ? 1024 : null },
  { signal: ctx.page.signal, trees: ['before', 'after'] });

/** Before → after of one place, its path told from the node's. */
function changeLine(path, { path: at, before, after }) {
  const below = at === path ? '' : at.slice(path === '/' ? 1 : path.length + 1);
  const value = (it, sign) => h('span', { class: it === null ? 'muted' : sign === '+' ? 'plus' : 'minus' }, it === null ? 'nothing' : inline(it, 80));
  return h('li', below && h('code', shown(below), ' '), value(before, '-'), ' → ', value(after, '+'));
}

/** Writes what a node was at a revision, as a new commit; asks first. */
export async function restore(ctx, revision) {
  const was = await read(ctx, ctx.path, revision);
  const order = was.exists ? { method: 'PUT', path: ctx.path, value: was.value } : { method: 'DELETE', path: ctx.path };
  await ask({
    ask: pasted(ctx, order).order, words: pasted(ctx, order).words, title: `Restore ${shown(ctx.path)} as of r${revision}`, preview: () => preview(ctx, order), verb: `Restore r${revision}`,
    run: (reason) => change(ctx, { ...order, reason }, `Restored ${shown(ctx.path)} as of r${revision}`),
  });
}

function commitItem(ctx, commit, picked, pick) {
  const { revision } = commit;
  const changes = commit.changes ?? [];
  const rest = (commit.changeCount ?? 0) - changes.length;
  const box = h('input', { type: 'checkbox', checked: picked.has(revision), aria: { label: `Compare r${revision}` },
    on: { change: (event) => pick(revision, event.target) } });
  return h('li', { class: 'commit' },
    h('div', { class: 'commit-head' }, h('label', { class: 'check' }, box, h('strong', `r${revision}`)), time(commit.time), actorLink(ctx.page, commit.actor),
      commit.cause && h('span', 'because of ', eventLink(ctx.page, commit.cause.event))),
    h('ul', changes.map((one) => changeLine(ctx.path, one)), rest > 0 && h('li', { class: 'muted' }, `and ${number(rest)} more`),
      commit.erased?.length > 0 && h('li', { class: 'muted' }, 'Changes of a player who was erased are not known.')),
    h('div', { class: 'actions' }, button('As of here', () => ctx.set({ at: `r${revision}` }), { small: true, quiet: true }),
      guard(button('Restore this', () => restore(ctx, revision).catch(ctx.fault), { small: true, quiet: true }), ctx.page, 'admin')));
}

/** The pane of the commits that touched a node, newest first. */
export async function historyPane(ctx) {
  const picked = new Set();
  const list = h('ol', { class: 'commits' });
  const compare = button('Compare two', () => {
    const [from, to] = [...picked].sort((a, b) => a - b);
    ctx.set({ tab: 'diff', at: `r${from}`, to: `r${to}` });
  }, { small: true, disabled: true });
  const pick = (revision, box) => {
    if (box.checked && picked.size === 2) box.checked = false;
    else picked[box.checked ? 'add' : 'delete'](revision);
    compare.disabled = picked.size !== 2;
  };
  let next;
  const end = h('p', { class: 'muted' });
  const older = button('Older', () => more(), { small: true });
  const more = async () => {
    const answer = await log(ctx, ctx.path, next, SHOWN);
    next = answer.next;
    list.append(...answer.commits.map((commit) => commitItem(ctx, commit, picked, pick)));
    older.hidden = next === undefined;
    end.textContent = next !== undefined ? '' : answer.prunedThrough ? `The log was pruned up to r${answer.prunedThrough}.` : answer.complete ? 'That is all.' : '';
  };
  await more();
  if (!list.hasChildNodes() && next === undefined) return empty('No commit that is remembered touched this.');
  return [h('div', { class: 'actions' }, compare), list, older, end];
}

/** The pane of what is different between two revisions. */
export async function diffPane(ctx) {
  const { path } = ctx;
  const known = (await log(ctx, path)).commits;
  const to = ctx.to;
  const from = ctx.at ?? known.find((commit) => commit.revision < (to ?? known[0]?.revision))?.revision ?? 0;
  const asked = (name, value) => input({ value: value === undefined ? 'now' : `r${value}`, size: 8, aria: { label: name } });
  const [fields, read2] = [[asked('From', from), asked('To', to)], (field) => /^r?(\d+)$/.exec(field.value.trim())?.[1]];
  const result = h('div');
  const form = h('form', { class: 'diff-form', on: { submit: (event) => {
    event.preventDefault();
    const [a, b] = fields.map(read2);
    ctx.set({ at: a && `r${a}`, to: b && `r${b}` });
  } } }, 'From ', fields[0], ' to ', fields[1], h('button', { class: 'button small' }, 'Compare'));
  try {
    const answer = await api.get('data/diff', { ns: ctx.ns, path, from, to, limit: 200, cut: 4096 }, { signal: ctx.page.signal, trees: ['before', 'after'] });
    const rows = answer.changes.map((one) => ({ ...one, path: one.path === path ? path : one.path.slice(path === '/' ? 1 : path.length + 1) }));
    fill(result, quiet(`${number(answer.count)} different from r${answer.from} to r${answer.to}`,
      answer.count > rows.length && `; the first ${rows.length}`, rows.some((row) => row.cut) && '; long texts are cut'), diffView(rows));
  } catch (error) {
    if (error.name !== 'AbortError') fill(result, errorPanel(error, () => ctx.reload()));
  }
  return [form, result];
}

/** What is known of the commits that touched the node, oldest first; between those that are far apart there may be more. */
function moments(ctx) {
  const seen = new Map();
  // Those of which the commit before is known, too.
  const linked = new Set();
  const known = { commits: [], load, closeGap };
  const read = async (before) => {
    const answer = await log(ctx, ctx.base, before);
    for (const commit of answer.commits) seen.set(commit.revision, commit);
    answer.commits.slice(0, -1).forEach((commit) => linked.add(commit.revision));
    known.commits = [...seen.values()].sort((a, b) => a.revision - b.revision);
    return answer;
  };
  /** The newest, and those up to the moment. */
  async function load() {
    await read();
    if (ctx.at !== undefined && !(known.commits[0]?.revision <= ctx.at)) await read(ctx.at + 1);
  }
  /** Finds the commit behind a revision: in ever larger steps, and back from there. */
  async function closeGap(at) {
    const next = known.commits.find((commit) => commit.revision > at)?.revision;
    for (let [width, tries, done] = [PAGE, 0, next === undefined || linked.has(next)]; !done && tries < 40; tries += 1) {
      const before = Math.min(next, at + width + 1);
      const { commits: found, scannedThrough } = await read(before);
      const between = found.filter((commit) => commit.revision > at);
      const first = between.at(-1)?.revision ?? (before === next ? next : undefined);
      done = first !== undefined && (first === next || between.length < found.length || scannedThrough <= at + 1);
      if (done) linked.add(first);
      width = first ? first - at - 1 : width * 16;
    }
    return known.commits;
  }
  return known;
}

function momentForm(ctx) {
  const typed = input({ placeholder: '1h, 2026-11-26 10:00', size: 16, aria: { label: 'As of a time' } });
  return h('form', { on: {
    submit: (event) => {
      event.preventDefault();
      const at = parseTime(typed.value);
      typed.setAttribute('aria-invalid', String(at === null));
      if (at !== null) ctx.set({ at: `t${at}` });
    },
  } }, typed);
}

/** The bar of moments: a slider over the commits that touched the node; `{element, step(by), load()}`. */
export function asOfBar(ctx) {
  const known = moments(ctx);
  let commits = [];
  let dragged = false;
  const slider = h('input', { type: 'range', min: 0, max: 0, value: 0, class: 'as-of-slider', aria: { label: 'As of' } });
  const told = h('span', { class: 'as-of-told', aria: { live: 'polite' } });
  const place = () => {
    if (ctx.at === undefined) return commits.length - 1;
    return commits.findLastIndex((commit) => commit.revision <= ctx.at);
  };
  const tell = (index) => {
    const commit = commits[index];
    const isNow = index === commits.length - 1 && (ctx.at === undefined || dragged);
    const words = isNow ? 'now' : commit ? `r${commit.revision}` : `r${ctx.at}, before what is listed`;
    slider.setAttribute('aria-valuetext', words);
    fill(told, h('strong', isNow ? 'now' : ctx.at !== undefined && !dragged ? `r${ctx.at}` : words), commit && [' ', time(commit.time, 'moment'), ' by ', shown(commit.actor)]);
  };
  const show = () => {
    slider.max = Math.max(0, commits.length - 1);
    slider.disabled = commits.length < 2;
    slider.value = Math.max(0, place());
    older.disabled = place() <= 0;
    newer.disabled = now.disabled = ctx.at === undefined;
    tell(place());
  };
  const go = (index, replace) => {
    const commit = commits[Math.max(0, Math.min(commits.length - 1, index))];
    if (commit) ctx.set({ at: commit === commits.at(-1) ? null : `r${commit.revision}` }, { replace });
  };
  const step = async (by) => {
    await load();
    if (by > 0 && ctx.at !== undefined) commits = await known.closeGap(ctx.at);
    if (commits.length > 0) go((ctx.at === undefined ? commits.length - 1 : place()) + by);
  };
  const move = later(120, () => { go(Number(slider.value), slider.moved); slider.moved = true; });
  slider.addEventListener('input', () => { dragged = true; tell(Number(slider.value)); move(); });
  slider.addEventListener('change', () => { dragged = false; setTimeout(() => { slider.moved = false; }, 300); });
  const older = button('Older', () => step(-1), { small: true, icon: 'left', title: 'One commit older ([)' });
  const newer = button('Newer', () => step(1), { small: true, title: 'One commit newer (])' });
  const now = button('Now', () => ctx.set({ at: null }), { small: true });
  const play = button('Play', () => {
    if (timer) return stop();
    play.textContent = 'Stop';
    timer = setInterval(() => (ctx.at === undefined ? stop() : step(1).catch(stop)), 1000);
    if (ctx.at === undefined) go(0);
  }, { small: true, title: 'Each commit, one a second' });
  let timer;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    play.textContent = 'Play';
  };
  ctx.page.signal.addEventListener('abort', stop);
  async function load() {
    await known.load();
    commits = known.commits;
    show();
  }
  const element = h('div', { class: 'as-of', role: 'group', aria: { label: 'As of' } }, h('span', { class: 'muted' }, 'as of'), slider, told, older, newer, play, now, momentForm(ctx));
  element.addEventListener('pointerenter', () => ctx.at === undefined && load().catch(() => {}));
  return { element, step, load, show };
}

/** The title of the pages of commits. */
export const title = ({ revision }) => (revision ? `r${revision}` : 'Commits');

/** Shows the commits of the namespace, newest first, or one of them with what it changed. */
export async function mount(root, page) {
  const { ns, params, query } = page;
  const at = Number(params.revision);
  const [path, before] = at ? ['/', at + 1] : [query.get('path') || '/', query.get('before')];
  const list = follow(page, listing(page, at ? 'Commit' : 'Newest first', async () => {
    const { commits, next, prunedThrough } = await log({ ns, page }, path, before, 2);
    return [table({
      caption: 'Commits', rows: at ? commits.filter(({ revision }) => revision === at) : commits, empty: 'No commit that is remembered touched this.', columns: [
        col('Commit', ({ revision }) => to(page.url('commits', revision), `r${revision}`)), when('Time', 'time', 'moment'), col('By', ({ actor }) => actorLink(page, actor)), num('Places', 'changeCount'),
        col('Changed', ({ changes }) => h('ul', changes.map((one) => changeLine('/', one))), true), col('Because of', ({ cause }) => cause && eventLink(page, cause.event), true)],
    }), !at && pager(page, next && { before: next }, !before), prunedThrough && quiet(`The log was pruned up to r${prunedThrough}.`)];
  }));
  const span = { from: at - 1, to: at };
  const parts = at ? [list, section(page, 'What it changed', () => commitDiff(page, at))] : [list];
  root.append(heading(title(params), at ? { crumbs: to(page.url('commits'), 'Commits'), actions: copying(page, 'data diff', ['/'], { ...span, json: true }, 'data/diff', { ns, path, ...span }) }
    : { actions: copying(page, 'data log', [path], { json: true }, 'data/log', { ns, path }) }), at ? '' : filters(page, 'Filter of commits', { path: ['Path', '/users/bob'] }, 'Show'), ...parts.map(({ element }) => element));
  await Promise.all(parts.map(({ first }) => first));
}
