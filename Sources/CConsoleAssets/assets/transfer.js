// A subtree as a file: taken to the disk, and taken in from there, part by part, with a look before, progress and an end at any time.

import * as api from './api.js';
import { fill, h, shown } from './dom.js';
import { isObject, parse, write } from './json.js';
import { compareKeys, join, split } from './tree.js';
import { number, size } from './time.js';
import { check, dialog, field, input, quiet, toast } from './ui.js';

// Of one request; the server takes what goes into one commit, and says how much that was.
const PART = { values: 4000, bytes: 512 * 1024 };
const FILE_MAX = 256 * 1024 * 1024;
const COUNTS = ['added', 'changed', 'removed', 'same', 'priorities', 'events'];

const members = (value) => (Array.isArray(value) ? value.map((item, at) => [String(at), item]) : [...value]);

/** The values of a document in the order of the tree: `[{keys, value, heads, bytes}]`; `heads` are the priorities of the nodes whose
 * first value it is, by depth. A value with a priority stays in one piece. */
export function valuesOf(document) {
  const values = [];
  const walk = (node, keys, heads) => {
    if (node === null) return heads;
    if (!isObject(node) && !Array.isArray(node)) return put(node, keys, heads);
    if (node instanceof Map && node.has('.value')) return put(node, keys, heads, node.get('.value') === null);
    let first = node instanceof Map && (node.get('.priority') ?? null) !== null ? [...heads, [keys.length, node.get('.priority')]] : heads;
    for (const [key, child] of members(node).sort(([a], [b]) => compareKeys(a, b))) {
      if (key === '.priority') continue;
      if (key.startsWith('.')) throw new Error(`${join(...keys)}: "${key}" is no name. Names with a dot in front are .priority and .value only.`);
      first = walk(child, [...keys, key], first);
    }
    // What has no value is not there, and has no priority.
    return first.filter(([depth]) => depth < keys.length);
  };
  const put = (value, keys, heads, isNothing) => {
    if (isNothing) return heads;
    values.push({ keys, value, heads, bytes: write(value).length + keys.reduce((sum, key) => sum + key.length + 4, 16) });
    return [];
  };
  walk(document, [], []);
  return values;
}

/** Some values as a document again. */
export function documentOf(values) {
  let root = new Map();
  for (const { keys, value, heads } of values) {
    let node = root;
    const marks = new Map(heads);
    keys.forEach((key, depth) => {
      if (marks.has(depth)) node.set('.priority', marks.get(depth));
      if (!node.has(key)) node.set(key, depth === keys.length - 1 ? value : new Map());
      node = node.get(key);
    });
    if (keys.length === 0) root = value;
  }
  return root;
}

/** Sends values from where an earlier try stopped: `state` is `{at, after, counts}`, and is kept up to date. */
async function send(ns, { path, values, state, signal, tell, ...order }) {
  for (let isDone = false; !isDone;) {
    let [end, bytes] = [state.at, 0];
    while (end < values.length && end - state.at < PART.values && bytes < PART.bytes) { bytes += values[end].bytes; end += 1; }
    const body = { path, value: documentOf(values.slice(state.at, end)), after: state.after, last: end === values.length, ...order };
    let answer;
    try {
      answer = await api.post('data/import', { params: { ns }, body, signal });
    } catch (error) {
      if (error.status !== 429) throw error;
      await new Promise((resolve) => { setTimeout(resolve, 1000 * (error.retryAfter ?? 1)); });
      signal.throwIfAborted();
      continue;
    }
    state.at += Number(answer.taken);
    state.after = answer.through ?? state.after;
    state.revision = answer.revision;
    for (const name of COUNTS) state.counts[name] = (state.counts[name] ?? 0) + Number(answer[name]);
    isDone = answer.complete;
    tell(state);
  }
}

const list = ({ added = 0, changed = 0, removed = 0, same = 0, priorities = 0, events = 0 }, triggers) => h('ul', { class: 'will' }, [
  `${number(added)} added, ${number(changed)} changed, ${number(removed)} removed, ${number(same)} as they are`,
  priorities > 0 && `${number(priorities)} priorities of nodes`, triggers ? `${number(events)} events for functions` : 'No function runs.',
  removed > 0 && 'What is removed can be restored from History.'].filter(Boolean).map((line) => h('li', line)));

/** Asks for a file and takes it in at the path: first a dry run, then part by part. */
export function importFile(ctx, path = ctx.path) {
  const file = input({ type: 'file', accept: '.json,application/json' });
  const place = input({ value: path });
  const reason = input({ maxlength: 500, placeholder: 'imported in the console' });
  const runs = check('Functions run', { checked: false });
  const bar = h('progress', { max: 1, value: 0, hidden: true, style: { 'inline-size': '100%' }, aria: { label: 'Progress' } });
  const said = h('div', { role: 'status' });
  const chosen = field('File', file, { wide: true, help: 'JSON, as an export has it. It replaces what stands at the path.' });
  let [values, work, state] = [null, null, null];
  const order = () => ({ path: join(place.value), values, triggers: runs.firstChild.checked, reason: reason.value.trim() || reason.placeholder, signal: work.signal });
  const tell = (verb) => ({ at }) => {
    bar.hidden = false;
    bar.value = values.length > 0 ? at / values.length : 1;
    fill(said, quiet(`${verb} ${number(at)} of ${number(values.length)} values…`));
  };
  const start = () => { work?.abort(); work = new AbortController(); return work; };
  const look = async () => {
    const mine = start();
    state = null;
    box.buttons[1].disabled = true;
    chosen.fault('');
    try {
      const [one] = file.files;
      if (!one) return;
      if (one.size > FILE_MAX) throw new Error(`The file has ${size(one.size)}; from 256 MB on use "doubloon data import".`);
      values = valuesOf(parse(await one.text()));
      const trial = { at: 0, counts: {} };
      await send(ctx.ns, { ...order(), dryRun: true, state: trial, tell: tell('Looked at') });
      if (mine !== work) return;
      fill(said, quiet('Importing will cause:'), list(trial.counts, order().triggers),
        quiet('Each part of some thousand values is one commit; what stops it leaves the parts before, and it can go on.'));
      box.buttons[1].textContent = `Import ${number(values.length)} values`;
      state = { at: 0, counts: {} };
    } catch (error) {
      if (error.name !== 'AbortError') { fill(said); chosen.fault(error.message); }
    } finally {
      if (mine === work) { bar.hidden = true; box.buttons[1].disabled = !state; }
    }
  };
  const run = async () => {
    start();
    try {
      await send(ctx.ns, { ...order(), state, tell: tell('Imported') });
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      box.buttons[1].textContent = 'Go on';
      throw new Error(`${error.message} ${number(state.at)} of ${number(values.length)} values are in; "Go on" continues behind them.`);
    } finally {
      if (state.revision) ctx.changed(state.revision);
    }
    const { added = 0, changed = 0, removed = 0 } = state.counts;
    toast(`Imported ${number(values.length)} values: ${number(added)} added, ${number(changed)} changed, ${number(removed)} removed (r${state.revision}).`);
    return true;
  };
  const box = dialog({ title: 'Import a file', body: [chosen, field('Path', place, { wide: true }), field('Reason', reason, { wide: true }), runs, bar, said],
    actions: [{ name: 'Cancel' }, { name: 'Import', primary: true, danger: true, run }] });
  box.buttons[1].disabled = true;
  file.addEventListener('click', () => { file.value = ''; }); // The same file may have changed.
  for (const one of [file, place, runs]) one.addEventListener('change', look);
  box.closed.then(() => {
    work?.abort();
    if (state?.at > 0 && state.at < values.length) toast(`The import stopped: at least ${number(state.at)} of ${number(values.length)} values are in, up to ${shown(state.after)}. The same import may be done again.`, { error: true });
  });
}

/** Takes a subtree to the disk, as it is or as of a revision. */
export async function exportFile(ctx, path = ctx.path) {
  const stop = new AbortController();
  const said = h('p', { role: 'status' }, 'Asking for it…');
  const box = dialog({ title: `Export ${shown(path)}`, body: said, actions: [{ name: 'Cancel' }] });
  box.closed.then(() => stop.abort());
  try {
    const response = await api.stream('data/export', { ns: ctx.ns, path, revision: ctx.at }, stop.signal, 'application/json');
    if (!response.ok) throw new Error((parse(await response.text(), { plain: true })).error);
    const pieces = [];
    let bytes = 0;
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      bytes += value.length;
      said.textContent = `${size(bytes)} so far…`;
    }
    const name = [ctx.ns, ...split(path)].join('-').replace(/[^\w.-]+/g, '_').slice(0, 100);
    const href = URL.createObjectURL(new Blob(pieces, { type: 'application/json' }));
    h('a', { href, download: `${name}-r${response.headers.get('X-Doubloon-Revision')}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60000);
    const erased = response.headers.get('X-Doubloon-Erased');
    toast(`Exported ${size(bytes)}${erased ? `, without ${erased} places of players who left` : ''}.`);
    box.close();
  } catch (error) {
    if (error.name !== 'AbortError') box.fault(`${error.message} Nothing was saved.`);
  }
}
