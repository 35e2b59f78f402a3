// The console's start: session, routes, and what a page is given (WebConsole.docc lists it).

import * as api from './api.js';
import { errorPanel } from './base.js';
import { clear, encodePath, h, sheet } from './dom.js';
import { frame } from './frame.js';
import { live } from './live.js';

// [pattern below /n/NS/, module, name]; {x} takes one segment, {x...} the rest.
const ROUTES = [
  ['overview', 'overview', 'overview'], ['start', 'start', 'start'],
  ['data', 'data', 'data'], ['data/{path...}', 'data', 'data'],
  ['commits', 'history', 'commits'], ['commits/{revision}', 'history', 'commits'], ['events', 'events', 'events'], ['event/{id...}', 'event', 'event'],
  ['replays', 'replays', 'replays'], ['replays/new', 'replays', 'replays/new'], ['replays/{id}', 'replays', 'replays/one'],
  ['rewards', 'rewards', 'rewards'], ['rewards/u/{uid}', 'player', 'rewards/u'],
  ['rewards/entries', 'rewards', 'rewards/entries'], ['rewards/entry/{sequence}', 'rewards', 'rewards/entry'],
  ['rewards/review', 'review', 'rewards/review'], ['rewards/compensation', 'review', 'rewards/compensation'],
  ['accounts', 'accounts', 'accounts'], ['accounts/{uid}', 'account', 'accounts/one'],
  ['rules', 'rules', 'rules'], ['functions', 'functions', 'functions'], ['functions/{name}', 'functions', 'functions/one'],
  ['messages', 'messages', 'messages'], ['messages/{view}', 'messages', 'messages'],
  ['links', 'links', 'links'], ['links/{view}', 'links', 'links'], ['invites', 'links', 'invites'], ['audit', 'audit', 'audit'], ['settings', 'settings', 'settings'],
];
const RANK = { viewer: 1, support: 2, admin: 3 };
const main = document.getElementById('main');
let here = null; // {key, page, unmount, controller, root}
let turn = 0;

function matchOf(segments) {
  for (const [pattern, module, name] of ROUTES) {
    const parts = pattern.split('/');
    const rest = parts.at(-1).endsWith('...}');
    if (rest ? segments.length < parts.length : segments.length !== parts.length) continue;
    const params = { route: name };
    const fits = parts.every((part, index) => {
      if (!part.startsWith('{')) return part === segments[index];
      params[part.replace(/[{}.]/g, '')] = rest && index === parts.length - 1 ? segments.slice(index).join('/') : segments[index];
      return true;
    });
    if (!fits) continue;
    if (name === 'data') params.path = `/${params.path ?? ''}`;
    return { module, params };
  }
  return null;
}

/** What an address means: {ns, module, params, key}, null for nothing known. Segments are decoded. */
function read(location) {
  let segments;
  try {
    segments = location.pathname.replace(/^\/console\/?/, '').replace(/\/$/, '').split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
  // An id of the root's event ends in "/".
  if (segments[2] === 'event' && location.pathname.endsWith('/')) segments.push('');
  if (segments[0] !== 'n' || !segments[1]) return null;
  const found = matchOf(segments.slice(2).length > 0 ? segments.slice(2) : ['overview']);
  return found && { ns: segments[1], ...found, key: location.pathname };
}

function urlOf(ns, route, rest, query) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '' && value !== false) words.set(name, String(value));
  }
  const tail = rest === undefined || rest === null ? '' : `/${encodePath(String(rest).replace(/^\//, ''))}`;
  const search = words.toString();
  return `/console/n/${encodeURIComponent(ns)}/${route}${tail}${search ? `?${search}` : ''}`;
}

function makePage(target, session, controller) {
  const page = {
    ns: target.ns, params: target.params, query: new URLSearchParams(location.search), session, live, signal: controller.signal,
    actions: [], keys: {}, changed: null, dirty: null,
    needs: (role) => (RANK[session.role] ?? 0) >= (RANK[role] ?? 9),
    go: (url, options) => go(url.startsWith('/') ? url : `/console/n/${encodeURIComponent(target.ns)}/${url}`, options),
    url: (route, rest, query) => urlOf(target.ns, route, rest, query),
    get(path, params, options) { return api.get(path, { ns: target.ns, ...params }, { signal: this.signal, ...options }); },
    post(path, body, options) { return api.post(path, { params: { ns: target.ns }, body, signal: this.signal, ...options }); },
    setQuery(changes, { replace = false } = {}) {
      if (controller.signal.aborted) return; // A late answer never changes the address.
      const query = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === undefined || value === '' || value === false) query.delete(name);
        else query.set(name, String(value));
      }
      page.query = query;
      const search = query.toString();
      const url = location.pathname + (search ? `?${search}` : '');
      if (url === location.pathname + location.search) return;
      history[replace ? 'replaceState' : 'pushState'](null, '', url);
    },
    again() {
      page.changed = null;
      go(location.href, { replace: true });
    },
    setTitle(text) {
      document.title = `${text} · ${target.ns} · Doubloon`;
      frame.announce(text);
    },
    cleanup: (action) => controller.signal.addEventListener('abort', action, { once: true }),
  };
  return page;
}

async function leave() {
  const left = here;
  here = null;
  if (!left) return;
  left.controller.abort();
  try {
    left.unmount?.();
  } catch (error) {
    console.debug('Leaving a page failed:', error);
  }
}

async function show() {
  const mine = (turn += 1);
  const target = read(location);
  if (here && target && here.key === target.key && here.page.changed) {
    here.page.query = new URLSearchParams(location.search);
    return here.page.changed(here.page.query);
  }
  performance.clearMarks('ready');
  const loaded = target && load(target.module);
  loaded?.catch(() => {}); // Told below, where the page is.
  const session = await api.session();
  if (mine !== turn) return;
  if (!session.signedIn && !(await signInFirst(mine, session))) return;
  if (!target) return lost(mine);
  await leave();
  const controller = new AbortController();
  const page = makePage(target, await api.session(), controller);
  const root = h('div', { class: 'page', hidden: true });
  const mounted = { key: target.key, page, controller, root, unmount: null };
  here = mounted;
  frame.at(page);
  live.open(target.ns);
  main.append(root);
  const reveal = () => {
    if (here !== mounted || !root.hidden) return;
    for (const other of [...main.children]) if (other !== root) other.remove();
    root.hidden = false;
    scrollTo(0, 0);
  };
  const slow = setTimeout(reveal, 150);
  try {
    const module = await loaded;
    page.setTitle(module.title(target.params));
    const unmount = await module.mount(root, page);
    if (here !== mounted) unmount?.();
    else mounted.unmount = unmount;
  } catch (error) {
    if (here === mounted && error?.name !== 'AbortError') {
      clear(root).append(h('h1', 'This page cannot be shown'), errorPanel(error, () => {
        leave();
        show();
      }));
    }
  }
  clearTimeout(slow);
  reveal();
  if (here === mounted) performance.mark('ready');
  else root.remove();
}

/** A page's module. After an update of the server the old files are gone: the page is loaded again, once. */
async function load(name) {
  if (name !== 'overview') sheet('./pages.css');
  try {
    const module = await import(`./${name}.js`);
    sessionStorage.removeItem('doubloon.reloaded');
    return module;
  } catch (error) {
    if (error instanceof SyntaxError || sessionStorage.getItem('doubloon.reloaded') === location.href) throw error;
    const answer = await fetch(new URL(`./${name}.js`, import.meta.url), { method: 'HEAD' }).catch(() => null);
    if (answer?.status !== 404) throw error;
    sessionStorage.setItem('doubloon.reloaded', location.href);
    location.reload();
    return new Promise(() => {});
  }
}

async function signInFirst(mine, session) {
  clear(main).append(h('div', { class: 'page' }, h('h1', 'Sign in'), h('p', { class: 'muted' }, 'Nobody is signed in.')));
  document.title = 'Sign in · Doubloon';
  return (await frame.signIn({ fixed: true, before: session })) && mine === turn;
}

/** The root, or an address that is not known. */
async function lost(mine) {
  const session = await api.session();
  if (/^\/console\/sign-in\/?$/.test(location.pathname)) {
    const to = new URLSearchParams(location.search).get('to') ?? '';
    return go(URL.canParse(to, location.origin) && isOwn(new URL(to, location.origin)) ? to : '/console/', { replace: true });
  }
  if (/^\/console\/?$/.test(location.pathname) && session.namespace) {
    let page = 'overview';
    try {
      const { namespaces } = await api.get('namespaces');
      if (Number(namespaces.find((item) => item.name === session.namespace)?.revision ?? 0) === 0) page = 'start';
    } catch {
      // The overview says what is wrong.
    }
    if (mine === turn) go(`/console/n/${encodeURIComponent(session.namespace)}/${page}`, { replace: true });
    return;
  }
  await leave();
  clear(main).append(h('div', { class: 'page' }, h('h1', 'There is no such page'),
    h('p', 'The address may be cut off or of another version.'), h('p', h('a', { href: '/console/' }, 'Go to the overview'))));
}

const isOwn = (to) => to.origin === location.origin && /^\/console(\/|$)/.test(to.pathname);

function go(url, { replace = false } = {}) {
  if (!mayLeave()) return;
  const to = new URL(url, location.origin);
  if (!isOwn(to)) return;
  const isSame = to.href === location.href;
  history[replace || isSame ? 'replaceState' : 'pushState'](null, '', to.pathname + to.search);
  show().then(() => !isSame && main.contains(document.activeElement) === false && main.focus({ preventScroll: true }));
}

function mayLeave() {
  return !here?.page.dirty?.() || window.confirm('There are changes that are not saved. Leave them?');
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.target && link.target !== '_self') return;
  const to = new URL(link.href, location.href);
  if (!isOwn(to) || to.hash) return;
  event.preventDefault();
  go(to.href);
});
addEventListener('popstate', show);
addEventListener('beforeunload', (event) => {
  if (here?.page.dirty?.()) event.preventDefault();
});

/** Signs in with a key that stands behind the address, `#key=…`, which is taken out of it at once; who is signed in stays that. */
async function signInByAddress() {
  const [, key] = /^#key=(.+)$/.exec(location.hash) ?? [];
  if (!key) return;
  history.replaceState(null, '', location.pathname + location.search);
  if ((await api.session()).signedIn) return;
  await api.signIn({ key: decodeURIComponent(key) }).catch(async (error) => (await import('./dialogs.js')).toast(error.message, { error: true }));
}

frame.start({ go, page: () => here?.page, again: () => { leave(); show(); } });
signInByAddress().then(show).catch((error) => clear(main).append(h('div', { class: 'page' }, h('h1', 'The console cannot start'), errorPanel(error, () => location.reload()))));
