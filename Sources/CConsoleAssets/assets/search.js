// What is called up over the page: search, the namespaces, the list of keys. frame.js loads it when it is wanted.

import * as api from './api.js';
import { dialog, palette, toast } from './dialogs.js';
import { h } from './dom.js';
import { appearance, PAGES, RECENT, setAppearance } from './frame.js';
import { number } from './time.js';
import { choice, field } from './ui.js';

const OTHERS = [['commits', 'Commits'], ['replays', 'Replays'], ['replays/new', 'New replay'], ['rewards/entries', 'Ledger entries'], ['start', 'Start: Alice refers Bob']];

/** The namespaces to choose from. */
export async function pickNamespace(app) {
  let names;
  try {
    ({ namespaces: names } = await api.get('namespaces'));
  } catch (error) {
    return toast(error.message, { error: true });
  }
  palette({
    placeholder: 'Namespace', sources: async (typed) => names.filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()))
      .slice(0, 50).map(({ name, revision }) => ({
        kind: name === app.page()?.ns ? 'here' : '', title: name, detail: `revision ${number(revision)}`,
        run: () => app.go(`/console/n/${encodeURIComponent(name)}/overview`),
      })),
  });
}

async function found(app, typed) {
  const page = app.page();
  if (!page) return [];
  const wanted = typed.toLowerCase();
  const local = [
    ...(page.actions ?? []).map(({ name, run }) => ({ kind: 'action', title: name, run })),
    ...PAGES.filter(Boolean).map(([route, name, key]) => ({ kind: 'page', title: name, detail: `g ${key}`, run: () => page.go(route) })),
    ...OTHERS.map(([route, name]) => ({ kind: 'page', title: name, run: () => page.go(route) })),
  ].filter(({ title }) => title.toLowerCase().includes(wanted));
  if (typed === '') return [...recent(app, page), ...local].slice(0, 24);
  const hits = [];
  if (typed.startsWith('/')) hits.push({ kind: 'path', title: typed, detail: 'Data', run: () => page.go(page.url('data', typed)) });
  try {
    const answer = await api.get('find', { ns: page.ns, q: typed }, { signal: page.signal });
    for (const hit of answer.hits ?? []) {
      if (hit.kind === 'path' && hit.id === typed) continue;
      hits.push({ kind: hit.kind, title: hit.title ?? hit.id, detail: hit.detail, run: () => open(page, hit) });
    }
  } catch (error) {
    if (error.name !== 'AbortError') hits.push({ kind: 'fault', title: error.message, run: () => {} });
  }
  return [...hits, ...local].slice(0, 24);
}

function open(page, { kind, id }) {
  const [route, rest, query] = {
    player: ['rewards/u', id], account: ['accounts', id], event: ['event', id], entry: ['rewards/entry', id], path: ['data', id],
    link: ['links', 'show', { link: id }], function: ['functions', id],
  }[kind] ?? ['overview'];
  page.go(page.url(route, rest, query));
}

function recent(app, page) {
  try {
    return JSON.parse(sessionStorage.getItem(RECENT) ?? '[]').filter(({ ns }) => ns === page.ns)
      .map(({ title, url }) => ({ kind: 'recent', title, run: () => app.go(url) }));
  } catch {
    return [];
  }
}

/** Search or jump, beginning with a text. */
export function search(app, text) {
  palette({ placeholder: 'Player, path, event, entry, key, page', sources: (typed) => found(app, typed), text });
}

const KEYS = [
  ['Ctrl K, ⌘ K', 'Search or jump'], ['/', 'To the filter of the page'], ['g then o d e r a u l m f i s', 'Overview, Data, Events, Rewards, Accounts, Rules, Links, Messages, Functions, Audit, Settings'],
  ['j k, arrows', 'Next, previous row'], ['Enter', 'Open'], ['→ ←', 'Unfold, fold'], ['e n Delete', 'Edit, add a child, remove (asks)'],
  ['p', 'Pause or resume live updates'], ['[ ]', 'One revision older, newer'], ['c', 'Copy menu'], ['Esc', 'Close, or leave a field'], ['?', 'This list'],
];

/** What single keys do, and whether they do it. */
export function keys() {
  const letters = choice([['yes', 'Single letters are shortcuts'], ['no', 'Only with Ctrl or ⌘']], appearance('keys'), {
    on: { change: (event) => setAppearance('keys', event.target.value) },
  });
  dialog({
    title: 'Keyboard shortcuts', body: h('div', h('dl', { class: 'facts lines' }, KEYS.map(([key, does]) => h('div', h('dt', h('kbd', key)), h('dd', does)))),
      field('Shortcuts', letters)),
  });
}
