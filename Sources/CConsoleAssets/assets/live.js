// The live stream of the server, one for each visible tab, and what windows do with it (WebConsole.docc).
// A browser has six connections for a host with HTTP/1.1: only three tabs hold a stream, others look every 2 s.

import { ApiError, stream } from './api.js';
import { parse } from './json.js';
import { setServerTime } from './time.js';

const HIDDEN_FOR = 15_000;
const SAMPLES = 900;
const listeners = new Map();
let namespace = null;
let connection = null; // An AbortController of what is open or being opened.
let retries = 0;
let retryTimer = 0;
let hiddenTimer = 0;
let release = null;
let isPaused = false;

function emit(type, value) {
  for (const listener of [...(listeners.get(type) ?? [])]) {
    try {
      listener(value);
    } catch (error) {
      console.warn(`A listener for ${type} failed:`, error);
    }
  }
}

function become(state) {
  if (live.state.name === state.name && live.state.at === state.at) return;
  live.state = state;
  emit('state', state);
}

function took(type, data) {
  let message;
  try {
    message = parse(data, { plain: true });
  } catch {
    return;
  }
  if (type === 'hello') {
    retries = 0;
    become({ name: 'live' });
    emit('hello', message);
  }
  if (type === 'bye') throw Object.assign(new Error('bye'), { reason: message?.reason });
  const revision = message?.revision;
  if (['hello', 'revision', 'stats'].includes(type) && revision !== undefined) {
    // After a break windows are read again, whatever the number says.
    if (revision !== live.revision || type === 'hello') {
      live.revision = revision;
      emit('revision', revision);
    }
  }
  const stats = type === 'stats' ? message : type === 'hello' ? message?.stats : null;
  if (stats) {
    live.stats = stats;
    if (stats.time) setServerTime(stats.time);
    live.samples.push({ ...stats, at: Date.now() });
    if (live.samples.length > SAMPLES) live.samples.splice(0, live.samples.length - SAMPLES);
    emit('stats', stats);
  }
}

/** Reads messages off a response until it ends; `single` stops after the first. */
async function read(response, controller, single) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let type = 'message';
  let data = [];
  // The server writes something at least every 15 s; silence is a broken line.
  let watch = 0;
  try {
    for (;;) {
      clearTimeout(watch);
      watch = setTimeout(() => controller.abort(), 40_000);
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const lines = rest.split(/\r\n|\n|\r/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) {
            took(type, data.join('\n'));
            if (single && type === 'hello') return;
          }
          type = 'message';
          data = [];
        } else if (line.startsWith('event:')) type = line.slice(6).trim();
        else if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
      }
    }
  } finally {
    clearTimeout(watch);
    reader.cancel().catch(() => {});
  }
}

/** One of three places for a stream, shared by the tabs of this browser; null if all are taken. */
async function place() {
  if (!navigator.locks) return () => {};
  for (const number of [0, 1, 2]) {
    const given = await new Promise((resolve) => {
      navigator.locks.request(`doubloon-live-${number}`, { ifAvailable: true }, (lock) => {
        if (!lock) return resolve(null);
        return new Promise((free) => resolve(free));
      }).catch(() => resolve(() => {}));
    });
    if (given) return given;
  }
  return null;
}

async function connect() {
  if (connection || isPaused || namespace === null || document.visibilityState === 'hidden') return;
  const controller = new AbortController();
  connection = controller;
  let wait = null;
  try {
    release ??= await place();
    if (controller.signal.aborted) return;
    const single = release === null;
    const response = await stream('live', { ns: namespace }, controller.signal);
    if (!response.ok || !response.body) throw new ApiError(response.status, 'live', 'No live stream.');
    await read(response, controller, single);
    if (single) wait = 2000;
  } catch (error) {
    if (connection !== controller) return; // Closed by this page, not by the server.
    if (error.status === 401) emit('signedOut');
  } finally {
    controller.abort();
    if (connection === controller) {
      connection = null;
      again(wait);
    }
  }
}

function again(wait) {
  if (wait === null) {
    const base = Math.min(10_000, 500 * 2 ** retries);
    retries += 1;
    wait = base * (0.75 + Math.random() / 2);
    become({ name: navigator.onLine === false ? 'offline' : 'reconnecting', at: Date.now() + wait });
  }
  clearTimeout(retryTimer);
  retryTimer = setTimeout(connect, wait);
}

function disconnect() {
  clearTimeout(retryTimer);
  const open = connection;
  connection = null;
  open?.abort();
  release?.();
  release = null;
}

document.addEventListener('visibilitychange', () => {
  clearTimeout(hiddenTimer);
  if (document.visibilityState === 'hidden') hiddenTimer = setTimeout(disconnect, HIDDEN_FOR);
  else if (!connection) {
    clearTimeout(retryTimer);
    connect();
  }
});
addEventListener('online', () => {
  if (!connection) connect();
});

// So many looks one behind the other are quick; while commits go on coming, nobody reads faster than the later ones are.
const QUICK = 8;
const LATER = 800;

/** Calls `load` when commits came, not too often: at most four times a second, about once a second while they go on, two under way. */
function refetch(load, { signal, gap = 250 }) {
  let streak = 0;
  const pace = () => (streak < QUICK ? gap : Math.max(LATER, 2 * gap));
  let underWay = 0;
  let last = 0;
  let timer = 0;
  let wanted = false;
  let stopped = false;
  const run = async () => {
    timer = 0;
    if (stopped || isPaused || document.visibilityState === 'hidden') return;
    if (underWay >= 2) return void (wanted = true);
    streak = performance.now() - last < 2 * pace() ? streak + 1 : 0;
    last = performance.now();
    underWay += 1;
    try {
      await load(signal);
    } catch (error) {
      if (error?.name !== 'AbortError') console.debug('A window was not read again:', error.message);
    } finally {
      underWay -= 1;
      if (wanted) {
        wanted = false;
        ask();
      }
    }
  };
  const ask = () => {
    if (!timer && !stopped) timer = setTimeout(run, Math.max(0, last + pace() - performance.now()));
  };
  const off = live.on('revision', ask);
  signal.addEventListener('abort', () => {
    stopped = true;
    clearTimeout(timer);
    off();
  }, { once: true });
}

/** The live stream. */
export const live = {
  state: { name: 'reconnecting' },
  stats: null,
  revision: null,
  samples: [],
  open(ns) {
    if (ns === namespace && (connection || isPaused)) return;
    if (ns !== namespace) Object.assign(live, { stats: null, revision: null, samples: [] });
    namespace = ns;
    disconnect();
    retries = 0;
    connect();
  },
  on(type, listener) {
    if (!listeners.has(type)) listeners.set(type, new Set());
    listeners.get(type).add(listener);
    return () => listeners.get(type).delete(listener);
  },
  refetch,
  get paused() {
    return isPaused;
  },
  set paused(value) {
    if (value === isPaused) return;
    isPaused = value;
    if (value) {
      disconnect();
      become({ name: 'paused' });
    } else {
      become({ name: 'reconnecting', at: Date.now() });
      connect();
    }
  },
};
