// The frame around every page: rail, top bar, band, sign-in, and the keys. What is called up over the page is in search.js.

import * as api from './api.js';
import { button } from './base.js';
import { clear, h, text } from './dom.js';
import { icon } from './icons.js';
import { live } from './live.js';
import { menu } from './menu.js';
import { ago, clockOffset, now, number, setServerTime, span } from './time.js';

/** The pages of the rail: route, name, and the key behind g. */
export const PAGES = [
  ['overview', 'Overview', 'o'], ['data', 'Data', 'd'], ['events', 'Events', 'e'], ['rewards', 'Rewards', 'r'],
  ['accounts', 'Accounts', 'a'], ['rules', 'Rules', 'u'], ['links', 'Links', 'l'], ['messages', 'Messages', 'm'], ['functions', 'Functions', 'f'], null,
  ['audit', 'Audit', 'i'], ['settings', 'Settings', 's'],
];
const element = (id) => document.getElementById(id);
const channel = 'BroadcastChannel' in window ? new BroadcastChannel('doubloon') : null;
let app = null;
let railNs = null;
let lastAnnounced = -Infinity;
let sentence = null;

/** Changes a setting of this browser: theme ('auto', 'light', 'dark'), density ('regular', 'compact'), keys ('yes', 'no'). */
export function setAppearance(name, value) {
  localStorage.setItem(`doubloon.${name}`, value);
  if (name === 'theme' && value === 'auto') delete document.documentElement.dataset.theme;
  else if (name !== 'keys') document.documentElement.dataset[name] = value;
}

/** A setting of this browser, see setAppearance. */
export const appearance = (name) => localStorage.getItem(`doubloon.${name}`) ?? { theme: 'auto', density: 'regular', keys: 'yes' }[name];

function drawRail(page) {
  const route = page.params.route.split('/')[0];
  const current = { event: 'events', replays: 'events', start: 'overview', commits: 'data' }[route] ?? route;
  const rail = element('rail');
  if (railNs !== page.ns) {
    railNs = page.ns;
    rail.replaceChildren(...PAGES.map((entry) => (entry === null ? h('hr') : h('a', {
      href: page.url(entry[0]), dataset: { page: entry[0] }, title: entry[1],
    }, icon(entry[0]), h('span', { class: 'word' }, entry[1]), entry[0] === 'events' && h('span', { class: 'count', id: 'dead-count' })))));
  }
  for (const link of rail.querySelectorAll('a')) {
    if (link.dataset.page === current) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  closeRail();
}

function closeRail() {
  element('rail').classList.remove('is-open');
  element('rail-button').setAttribute('aria-expanded', 'false');
}

function drawNamespace(page) {
  const place = element('namespace');
  if (place.dataset.ns === page.ns) return;
  place.dataset.ns = page.ns;
  place.replaceChildren(button(page.ns, async () => (await import('./search.js')).pickNamespace(app), { quiet: true, title: 'Namespace', label: `Namespace ${page.ns}` }));
}

function drawWho(session) {
  const place = element('who');
  const key = `${session.actor} ${session.role}`;
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  const theme = (name, value) => ({
    name, hint: appearance('theme') === value ? '●' : '', run: () => setAppearance('theme', value),
  });
  const name = h('span', { class: 'who-name' }, `${session.actor} · ${session.role}`);
  place.replaceChildren(menu(name, () => [
    theme('Theme as the system has it', 'auto'), theme('Light theme', 'light'), theme('Dark theme', 'dark'),
    { name: 'Keyboard shortcuts', hint: '?', run: () => call('keys') }, { name: 'Settings', run: () => app.page()?.go('settings') },
    { name: 'Sign out', run: signOut },
  ], { icon: 'accounts', label: `Signed in as ${session.actor}, role ${session.role}`, quiet: true }));
}

const LIGHTS = { live: ['●', 'live'], paused: ['⏸', 'paused'], reconnecting: ['◔', 'connecting'], offline: ['✕', 'offline'] };

function drawLight() {
  const light = element('light');
  const { name, at } = live.state;
  const seconds = at ? Math.max(0, Math.round((at - Date.now()) / 1000)) : 0;
  const [shape, word] = LIGHTS[name];
  light.dataset.state = name;
  text(light.querySelector('.shape'), shape);
  text(light.querySelector('.light-word'), seconds > 0 ? `again in ${seconds} s` : word);
  const label = name === 'paused' ? 'Live updates are paused. Resume' : `Live updates: ${word}. Pause`;
  if (light.getAttribute('aria-label') !== label) light.setAttribute('aria-label', label);
}

const WARNING = 120_000;
let band = null;
function drawBand(session) {
  const place = element('band');
  const parts = [];
  if (band) parts.push(band.text);
  else {
    const isOwner = session?.ways?.includes('owner');
    // Where everybody is admin nobody is asked again.
    if (!isOwner && session?.until - now() < WARNING) parts.push(`This session ends ${ago(session.until)}; then a sign-in comes over the page, and what you typed is kept.`);
    else if (!isOwner && session?.idleUntil - now() < WARNING) parts.push(`You will be signed out ${ago(session.idleUntil)} unless you do something here.`);
    if (isOwner) parts.push('Development: everybody on this machine is admin.');
    if (clockOffset() !== 0) parts.push(`The server's clock is ${span(Math.abs(clockOffset()))} ${clockOffset() > 0 ? 'ahead' : 'behind'}.`);
  }
  place.hidden = parts.length === 0;
  document.documentElement.style.setProperty('--band', place.hidden ? '0px' : '25px');
  if (place.dataset.said === parts.join(' ')) return;
  place.dataset.said = parts.join(' ');
  clear(place).append(parts.join(' '));
  if (band?.action) place.append(button(band.action.name, band.action.run, { small: true }));
}

function togglePause() {
  live.paused = !live.paused;
  announce(live.paused ? 'Live updates are paused' : 'Live updates go on');
}

/** Tells readers of the page something, once in five seconds: of what comes faster the last. */
function announce(next) {
  const isWaiting = sentence !== null;
  sentence = next;
  if (isWaiting) return;
  setTimeout(() => {
    lastAnnounced = performance.now();
    text(element('announcer'), sentence);
    sentence = null;
  }, Math.max(0, lastAnnounced + 5000 - performance.now()));
}

let signingIn = null;
/** The sign-in dialog, over the page, which keeps what is in it; a promise of whether somebody signed in. */
function signIn(options = {}) {
  signingIn ??= askFirst(options).finally(() => { signingIn = null; });
  return signingIn;
}

async function askFirst(options) {
  const before = options.before ?? await api.session({ fresh: true });
  if (before.signedIn && !options.proof) return true;
  if (before.ways?.includes('owner')) {
    // On loopback, in development, nobody is asked.
    try {
      await api.signIn({ as: 'owner' });
      return true;
    } catch {
      // Then with a key.
    }
  }
  const done = await (await import('./signin.js')).askForCredential(before.ways, options);
  if (done) drawWho(await api.session());
  return done;
}

async function signOut() {
  try {
    await api.signOut();
  } catch (error) {
    return (await import('./dialogs.js')).toast(error.message, { error: true });
  }
  channel?.postMessage('signed-out');
  location.assign('/console/');
}

/** Where the places are that were looked at last. */
export const RECENT = 'doubloon.recent';

function remember(page) {
  if (!/^(data|event|rewards\/u|rewards\/entry|accounts\/one|functions\/one|replays\/one)$/.test(page.params.route)) return;
  const { path, id, uid, sequence, name } = page.params;
  const title = `${path ?? id ?? uid ?? name ?? `entry ${sequence}`}`;
  let list = [];
  try {
    list = JSON.parse(sessionStorage.getItem(RECENT) ?? '[]');
  } catch {
    // What was there is no list.
  }
  const url = location.pathname + location.search;
  list = [{ ns: page.ns, title, url }, ...list.filter((item) => item.title !== title || item.ns !== page.ns)].slice(0, 10);
  sessionStorage.setItem(RECENT, JSON.stringify(list));
}

// What is typed before the search is there is typed into it.
let early = null;

async function call(what) {
  if (early !== null || document.querySelector('dialog[open]')) return;
  early = '';
  try {
    const made = await import('./search.js');
    made[what](app, early);
  } catch (error) {
    console.debug('The search is not there:', error.message);
    announce('The search cannot be loaded: the server does not answer.');
  } finally {
    early = null;
  }
}

let afterG = 0;
function pressed(event) {
  if (early !== null) {
    if (event.key.length === 1) early += event.key;
    return event.preventDefault();
  }
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    return void call('search');
  }
  const isField = event.target.closest?.('input, select, textarea, [contenteditable]');
  if (event.key === 'Escape' && isField && !event.target.closest('dialog')) return event.target.blur();
  if (event.key === 'Escape') return closeRail();
  if (isField || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || appearance('keys') === 'no') return;
  if (document.querySelector('dialog[open]')) return;
  const page = app.page();
  const isAfterG = Date.now() - afterG < 1500;
  afterG = 0;
  if (isAfterG) {
    const to = PAGES.find((entry) => entry?.[2] === event.key);
    if (to) {
      event.preventDefault();
      page?.go(to[0]);
    }
    return;
  }
  const action = {
    g: () => { afterG = Date.now(); }, '?': () => call('keys'), p: togglePause, c: () => document.querySelector('.page .menu > .button[data-copy], .page .menu > .button')?.click(),
    '/': () => {
      const filter = document.querySelector('.page [data-filter]');
      if (filter) filter.focus();
      else call('search');
    },
    ...(page?.keys ?? {}),
  }[event.key];
  if (!action) return;
  event.preventDefault();
  action(event);
}

function watch() {
  live.on('state', drawLight);
  live.on('stats', (stats) => {
    setServerTime(stats.time);
    const count = element('dead-count');
    if (count) text(count, stats.deadLetters > 0 ? `✕ ${number(stats.deadLetters)}` : '');
  });
  let build = null;
  let asked = 0;
  live.on('hello', (message) => {
    if (build !== null && message.build && message.build !== build) {
      band = { text: 'A newer console is there.', action: { name: 'Reload', run: () => location.reload() } };
      drawBand();
    }
    build ??= message.build ?? null;
  });
  live.on('signedOut', () => signIn());
  setInterval(async () => {
    if (document.visibilityState !== 'visible') return;
    if (live.state.at) drawLight();
    let session = await api.session().catch(() => null);
    if (!session?.signedIn) return;
    // A person who reads on stays signed in: what is asked for after an input counts.
    if (session.idleUntil - now() < 5 * 60_000 && Date.now() - asked > 15_000) {
      asked = Date.now();
      session = await api.session({ fresh: true }).catch(() => session);
      if (!session.signedIn) return void signIn();
    }
    drawBand(session);
  }, 1000);
}

/** The frame: start(app), at(page), signIn(), announce(sentence). */
export const frame = {
  start(given) {
    app = given;
    for (const name of ['theme', 'density']) setAppearance(name, appearance(name));
    api.askForSignIn(signIn);
    element('search').addEventListener('click', () => call('search'));
    element('light').addEventListener('click', togglePause);
    element('rail-button').addEventListener('click', () => {
      const isOpen = element('rail').classList.toggle('is-open');
      element('rail-button').setAttribute('aria-expanded', String(isOpen));
      if (isOpen) element('rail').querySelector('a')?.focus();
    });
    document.addEventListener('pointerdown', (event) => {
      if (!event.target.closest?.('#rail, #rail-button')) closeRail();
    });
    document.addEventListener('keydown', pressed);
    channel?.addEventListener('message', ({ data }) => (data === 'signed-out' ? location.assign('/console/') : null));
    watch();
    drawLight();
  },
  at(page) {
    drawRail(page);
    drawNamespace(page);
    drawWho(page.session);
    drawBand(page.session);
    remember(page);
  },
  signIn,
  announce,
};
