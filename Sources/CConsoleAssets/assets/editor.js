// How values are changed: each change says before it is made what it will cause, and can be taken back for a minute.

import * as api from './api.js';
import { fill, h, later, shown } from './dom.js';
import { isObject, parse, write } from './json.js';
import { change as ask, command, copyRow } from './parts.js';
import { join, kindOf, split } from './tree.js';
import { number, size, time } from './time.js';
import { area, button, check, choice, dialog, empty, facts, field, guard, inline, input, jsonView, quiet, toast } from './ui.js';

const TYPES = { text: 'Text', number: 'Number', true: 'true', false: 'false', null: 'null (removes it)', json: 'JSON' };
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS = { true: true, false: false, null: null };
const typeOf = (value) => (value === undefined ? 'text' : String(value) in WORDS && typeof value !== 'string' ? String(value)
  : { node: 'json' }[kindOf(value)] ?? kindOf(value));
const many = (count, one, more = `${one}s`) => `${number(count)} ${Number(count) === 1 ? one : more}`;
const isConflict = (error) => error.status === 409 || error.status === 412;

/** What stood at a path, priorities included: `{revision, exists, value}`. */
export const read = (ctx, path, revision, signal = ctx.page.signal) => api.get('data', { ns: ctx.ns, path, revision, format: 'export' },
  { signal, trees: ['value'] });

/** What a change will cause, as a list. */
export async function preview(ctx, { method, path, value, triggers }) {
  // What the rules would say to the player whose place it is.
  const uid = /^\/users\/([^/]+)/.exec(path)?.[1];
  const answer = await api.post('data/preview', { params: { ns: ctx.ns }, body: { method, path, value, triggers, uid } });
  const { leavesRemoved: removed = 0, leavesBefore, leavesAfter, events = [], eventCount = events.length, adjustments = [], rules } = answer;
  const lines = [
    leavesBefore !== leavesAfter && `${number(leavesBefore)} → ${many(leavesAfter, 'leaf', 'leaves')}${removed > 0 ? `, ${number(removed)} removed` : ''}`,
    triggers === false ? 'No function runs.' : eventCount > 0 ? many(eventCount, 'event') : 'No event: no function waits for this.',
    ...events.map((event) => `${shown(event.path)} ${event.kind}: runs ${event.functions?.join(', ') || 'no function'}`),
    eventCount > events.length && `and ${number(eventCount - events.length)} more`,
    ...adjustments.map((it) => `Balance of ${shown(it.account)}: ${number(it.before)} → ${number(it.after)} ${it.unit}, by an adjustment in the ledger`),
    removed > 0 && adjustments.length === 0 && 'Coins that were paid stay paid.',
    rules && `Rules, as ${shown(rules.uid)}: ${rules.allowed ? 'allowed' : 'denied'}${rules.line ? `, line ${rules.line}` : ''}. Administrators are not asked.`,
  ];
  return h('ul', { class: 'will' }, lines.filter(Boolean).map((line) => h('li', line)));
}

async function undo(ctx, { method, path, value, triggers }, revision) {
  const old = async (at) => {
    const was = await read(ctx, at, revision - 1, null); // Also after the page was left.
    return was.exists ? was.value : null;
  };
  try {
    const body = { path, triggers, ifRevision: revision, reason: `undo of r${revision}` };
    if (method === 'PATCH') body.value = new Map(await Promise.all([...value.keys()].map(async (key) => [key, await old(join(path, key))])));
    else body.value = await old(path);
    const answer = await api[method === 'PATCH' ? 'patch' : 'put']('data', { params: { ns: ctx.ns }, body });
    toast(`Undone (r${answer.revision}). Coins that were paid meanwhile stay paid.`);
    ctx.changed(answer.revision);
  } catch (error) {
    toast(isConflict(error) ? `Not undone: something changed there after r${revision}. History has what was there.` : error.message, { error: true });
  }
}

/** Makes a change `{method, path, value, ifRevision, triggers, reason}`, says so, and offers Undo for 60 s. */
export async function change(ctx, { method, reason, ...order }, said) {
  const answer = await api[{ PUT: 'put', PATCH: 'patch', DELETE: 'del' }[method]]('data', {
    params: { ns: ctx.ns }, body: { ...order, reason: reason || 'edited in the console' },
  });
  if (answer.changed === false) toast('Nothing changed: that was there already.');
  else toast(`${said} (r${answer.revision})`, { time: 60000, action: { name: 'Undo', run: () => undo(ctx, { method, ...order }, answer.revision) } });
  ctx.changed(answer.revision);
}

/** A change as a request, and as a command that can be pasted: `{order(reason), words(reason)}`. */
export function pasted(ctx, { method, path, value, ifRevision, triggers }) {
  const verb = { PUT: 'set', PATCH: 'update', DELETE: 'remove' }[method];
  const options = (reason) => ({ 'if-revision': ifRevision, 'no-triggers': triggers === false, yes: method === 'DELETE' && path === '/', reason });
  const words = (reason, ...args) => command(ctx.page, `data ${verb}`, [path, ...args], options(reason));
  return {
    order: (reason) => ({ method, path: 'data', params: { ns: ctx.ns }, body: { path, value, ifRevision, triggers, reason } }),
    words: (reason) => (method === 'DELETE' ? words(reason) : api.given(write(value), (text) => words(reason, text))),
  };
}

/** The same of a change that is still being written: `order()` gives it with its reason, or throws. */
const copyOf = (ctx, order) => copyRow(...['words', 'order'].map((what) => async () => {
  const { reason, ...rest } = await order();
  return pasted(ctx, rest)[what](reason || 'REASON');
}));

/** Fields for a value: `{parts, will, order(), dirty(), look(), text, fault(text), base(revision)}`. */
function valueFields({ ctx, path, before, since, priority, type = typeOf(before) }) {
  const start = before === undefined ? '' : type === 'text' ? before : write(before, type === 'json' ? 2 : 0);
  const kind = choice(Object.entries(TYPES), type);
  const text = area({ rows: Math.min(16, start.split('\n').length + (start.length > 50 ? 2 : 0)), disabled: type in WORDS }, start);
  const reason = input({ placeholder: 'edited in the console', maxlength: 500 });
  const runs = check('Functions run', { checked: true });
  // A node has its priority in its JSON.
  const first = priority === undefined || typeof priority === 'string' ? priority ?? '' : write(priority);
  const rank = !isObject(before) && input({ value: first, placeholder: 'none', maxlength: 768 });
  const ranked = () => (!rank || rank.value === first ? priority : rank.value === '' ? undefined : NUMBER.test(rank.value) ? parse(rank.value) : rank.value);
  const value = field('Value', text, { wide: true });
  const will = h('div', { aria: { live: 'polite' } });
  const dirty = () => kind.value !== type || text.value !== start || (rank && rank.value !== first);
  const parsed = () => {
    if (kind.value in WORDS) return WORDS[kind.value];
    if (kind.value === 'text') return text.value;
    if (kind.value === 'number' && !NUMBER.test(text.value.trim())) throw new Error('This is no number. Write digits, such as 50 or -1.5.');
    return parse(text.value);
  };
  const order = () => {
    value.fault('');
    const made = parsed();
    if (typeof made === 'bigint' && BigInt.asIntN(64, made) !== made) value.fault('No integer of 64 bits: it will be a floating number.');
    const priorityNow = ranked();
    const kept = priorityNow === undefined ? made : new Map([...(isObject(made) ? made : [['.value', made]]), ['.priority', priorityNow]]);
    const rest = { path: path(), ifRevision: since, triggers: runs.firstChild.checked, reason: reason.value.trim() };
    return made === null ? { ...rest, method: 'DELETE' } : { ...rest, method: 'PUT', value: kept };
  };
  let turn = 0;
  const look = later(250, async () => {
    const mine = (turn += 1);
    try {
      const said = dirty() && await preview(ctx, order());
      if (mine === turn) fill(will, said && [quiet('Saving will cause:'), said]);
    } catch (error) {
      if (mine === turn && error.name !== 'AbortError') { fill(will); value.fault(error.message); }
    }
  });
  kind.addEventListener('change', () => { text.disabled = kind.value in WORDS; look(); });
  for (const one of [text, runs, rank].filter(Boolean)) one.addEventListener('input', look);
  const parts = [field('Type', kind), value, rank && field('Priority', rank), field('Reason', reason, { wide: true }), runs];
  return { parts, will, order, dirty, look, text, fault: value.fault, base: (revision) => { since = revision; } };
}

/** The fields to edit the node of the pane; where another writer was faster, both versions are shown. */
function editForm(ctx, options) {
  const fields = valueFields({ ...options, ctx, path: () => ctx.path });
  const place = h('div');
  const conflict = async () => {
    const [now, log] = await Promise.all([read(ctx, ctx.path), api.get('data/log', { ns: ctx.ns, path: ctx.path, limit: 1, changes: 0 })]);
    const by = log.commits?.[0];
    fill(place, h('div', { class: 'conflict', role: 'alert' },
      h('p', `Not saved: it was changed meanwhile${by ? `, in r${by.revision} by ${shown(by.actor)}` : ''}.`),
      facts([['There now', now.exists ? inline(now.value, 300) : 'nothing'], ['Yours', h('code', shown(fields.text.value.slice(0, 300)))]]),
      button('Save mine over it', () => { fields.base(now.revision); return save(); }, { danger: true, small: true }),
      button('Take theirs', () => ctx.reload(), { small: true })));
  };
  const save = async () => {
    fill(place);
    try {
      await change(ctx, fields.order(), `Saved ${shown(ctx.path)}`);
      ctx.dirty = null;
      await ctx.reload();
    } catch (error) {
      if (isConflict(error)) await conflict();
      else fields.fault(error.message);
    }
  };
  Object.assign(ctx, { dirty: fields.dirty, edit: () => fields.text.focus() });
  const send = guard(button('Save', save, { primary: true }), ctx.page, 'admin');
  const element = h('div', { class: 'edit' }, fields.parts, h('div', { class: 'actions' }, send, button('Cancel', () => ctx.reload())), place, fields.will);
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || event.target.tagName === 'INPUT') && !send.disabled) send.click();
    if (event.key === 'Escape') { event.stopPropagation(); ctx.tree.focus(); }
  });
  return element;
}

/** Asks for a key and a value, and adds it below a node. */
export function addChild(ctx, path = ctx.path) {
  const key = input({ maxlength: 768 });
  const name = field('Key', key, { wide: true, help: 'Up to 768 bytes, without . $ # [ ] /' });
  const fields = valueFields({ ctx, path: () => join(path, key.value) });
  key.addEventListener('input', fields.look);
  const order = async () => {
    const isKey = key.value !== '' && !/[.$#[\]/]/.test(key.value);
    const there = isKey && await api.get('data/children', { ns: ctx.ns, path: join(path, key.value), limit: 1 });
    const wrong = !isKey ? 'A key is needed, without . $ # [ ] /' : there.exists ? 'There is such a child already: select it to edit it.' : '';
    name.fault(wrong);
    return !wrong && { ...fields.order(), ifRevision: there.revision };
  };
  const run = async () => {
    const made = await order();
    if (made) await change(ctx, made, `Added ${shown(join(path, key.value))}`);
    return Boolean(made);
  };
  const copied = copyOf(ctx, async () => (await order()) || Promise.reject(new Error('A key is needed that is not there yet.')));
  dialog({ title: `Add below ${shown(path)}`, body: [name, fields.parts, fields.will, copied], actions: [{ name: 'Cancel' }, { name: 'Add', primary: true, run }] });
}

/** Asks where to, and moves or copies a node: one update of two paths. */
export function moveOrCopy(ctx, path = ctx.path) {
  const to = input({ value: path });
  const name = field('New path', to, { wide: true });
  const keep = check('Keep the old one (copy)');
  const will = h('div', { aria: { live: 'polite' } });
  const order = async () => {
    const [from, target] = [split(path), split(to.value)];
    if (target.length === 0 || `${join(...target)}/`.startsWith(`${path}/`)) throw new Error('Give another path, not below the old one.');
    let same = 0;
    while (same < Math.min(from.length, target.length) - 1 && from[same] === target[same]) same += 1;
    const was = await read(ctx, path);
    if (!was.exists) throw new Error('Nothing is there any more.');
    const value = new Map([[target.slice(same).join('/'), was.value]]);
    if (!keep.firstChild.checked) value.set(from.slice(same).join('/'), null);
    return { method: 'PATCH', path: join(...from.slice(0, same)), value, ifRevision: was.revision };
  };
  const look = later(300, () => order().then((made) => preview(ctx, made)).then((said) => { name.fault(''); fill(will, said); },
    (error) => { name.fault(error.message); fill(will); }));
  for (const one of [to, keep]) one.addEventListener('input', look);
  const run = async () => {
    await change(ctx, await order(), `${keep.firstChild.checked ? 'Copied' : 'Moved'} to ${shown(join(to.value))}`);
    ctx.go(join(to.value));
  };
  dialog({ title: `Rename, move or copy ${shown(path)}`, body: [name, keep, will, copyOf(ctx, order)], actions: [{ name: 'Cancel' }, { name: 'Write', primary: true, run }] });
}

/** Asks, with the number of leaves and events, and removes a node. */
export const remove = (ctx, path = ctx.path) => ask({
  title: `Remove ${shown(path)}?`, preview: () => preview(ctx, { method: 'DELETE', path }), verb: `Remove ${shown(split(path).at(-1) ?? 'everything')}`,
  danger: true, typed: path === '/' ? ctx.ns : undefined, ask: pasted(ctx, { method: 'DELETE', path }).order, words: pasted(ctx, { method: 'DELETE', path }).words,
  run: (reason) => change(ctx, { method: 'DELETE', path, reason }, `Removed ${shown(path)}`),
});

/** The pane of one node: what it is, its value, and the fields to edit it. */
export async function valuePane(ctx) {
  const { page, path, at, row, tab } = ctx;
  const head = await api.get('data/children', { ns: ctx.ns, path, limit: tab === 'json' ? 200 : 1, revision: at }, { signal: page.signal });
  ctx.dirty = ctx.edit = null;
  const isNode = head.rows?.length > 0;
  const canEdit = at === undefined && page.needs('admin');
  const place = h('div', { class: 'stack' });
  const form = (before, since, type) => fill(place, editForm(ctx, { before, since, priority: isNode ? undefined : head.priority, type }));
  const show = (value, since) => {
    if (!isNode && canEdit) return form(value, since, tab === 'json' ? 'json' : undefined);
    const edit = guard(button('Edit', () => { form(value, since, 'json'); ctx.edit(); }, { small: true }), page, 'admin');
    return fill(place, at === undefined && h('div', { class: 'actions' }, edit), jsonView(value, { open: 3 }));
  };
  const whole = async () => {
    const { value, revision } = await read(ctx, path, at);
    show(!isNode && isObject(value) ? value.get('.value') : value, revision);
  };
  const control = (name, run) => at === undefined && guard(button(name, () => run(ctx), { small: true, danger: run === remove }), page, 'admin');
  if (!head.exists) {
    fill(place, empty(at === undefined ? 'Nothing is here now. History tells what was here.' : `Nothing was here as of r${at}.`));
    if (canEdit && path !== '/') form(undefined, head.revision);
  } else if (isNode && tab !== 'json') fill(place, button('Show as JSON', () => ctx.set({ tab: 'json' }), { small: true }));
  else if (isNode) {
    const { leavesBefore } = await api.post('data/preview', { params: { ns: ctx.ns }, body: { path, method: 'DELETE' } });
    if (leavesBefore <= 300 && !head.rows.some(({ cut }) => cut)) await whole();
    else fill(place, button(`Load ${many(leavesBefore, 'leaf', 'leaves')}`, whole));
  } else if (head.cut && head.bytes > 49152) {
    fill(place, h('pre', { class: 'code' }, `${shown(head.value, { lines: true })}…`), button(`Load all ${size(head.bytes)}`, whole));
  } else if (head.cut) await whole();
  else show(head.value, head.revision);
  const kind = !head.exists ? 'nothing' : isNode ? 'node' : kindOf(head.value);
  return [
    quiet(kind, head.cut && `, ${size(head.bytes)}`, head.priority !== undefined && [', priority ', inline(head.priority)],
      row?.revision && [` · r${row.revision} · `, time(row.time)], at !== undefined && ` · as of r${at}: History can restore it`),
    at === undefined && h('div', { class: 'actions' }, (isNode || path === '/') && control('Add child', addChild),
      path !== '/' && head.exists && control('Rename, copy', moveOrCopy), head.exists && control('Remove', remove)), place];
}
