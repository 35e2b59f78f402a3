// The one way to the server: /admin/v1 with the session's cookie. Answers are read exactly (json.js), faults are ApiErrors.

import { parse, write } from './json.js';

const ROOT = '/admin/v1/';
let current = null;
let signInDialog = null;
let waitingSignIn = null;
let lastInput = Date.now();
for (const type of ['pointerdown', 'keydown']) {
  addEventListener(type, () => { lastInput = Date.now(); }, { capture: true, passive: true });
}

/** What went wrong with a request: `status` (0: no answer), `code`, `message` (the server's sentence), `retryAfter` (s), `answer`. */
export class ApiError extends Error {
  constructor(status, code, message, { retryAfter, answer } = {}) {
    super(message);
    this.name = 'ApiError';
    Object.assign(this, { status, code, retryAfter, answer });
  }
}

/** The address of a request, with its parameters. */
export function address(path, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return (path.startsWith('/') ? path : ROOT + path) + (text ? `?${text}` : '');
}

function sentence(status, answer) {
  const told = answer?.message ?? answer?.error;
  if (typeof told === 'string' && told !== '') return told;
  if (status === 404) return 'This server does not know that address, or there is nothing at it.';
  if (status === 429) return 'Too many requests. Wait a moment.';
  if (status >= 500) return `The server could not answer (${status}).`;
  return `The server refused this (${status}).`;
}

async function exchange(method, path, { params, body, signal, active, toPlain = true, trees } = {}) {
  const headers = { 'X-Doubloon-Console': '1' };
  if (active ?? Date.now() - lastInput < 5000) headers['X-Doubloon-Active'] = '1';
  if (method !== 'GET') {
    if (current?.csrf) headers['X-Doubloon-CSRF'] = current.csrf;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
  }
  let response;
  let text;
  try {
    response = await fetch(address(path, params), {
      method, headers, signal, cache: 'no-store', credentials: 'same-origin', redirect: 'error',
      body: method === 'GET' || body === undefined ? undefined : typeof body === 'string' ? body : write(body),
    });
    text = await response.text();
  } catch (error) {
    if (error.name === 'AbortError' || signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'The server does not answer. Is it running, and is the network there?');
  }
  let answer;
  try {
    answer = text === '' ? null : parse(text, toPlain || !response.ok ? { plain: true, trees } : {});
  } catch {
    if (response.ok) throw new ApiError(response.status, 'malformed', 'The answer is no complete JSON. It may have been cut off.');
  }
  if (response.ok) return answer;
  const after = Number(response.headers.get('Retry-After'));
  throw new ApiError(response.status, answer?.code ?? answer?.error, sentence(response.status, answer), {
    retryAfter: after > 0 ? after : undefined, answer,
  });
}

async function request(method, path, options = {}) {
  try {
    return await exchange(method, path, options);
  } catch (error) {
    if (error.status === 403 && /csrf/i.test(error.code ?? '') && !options.again) {
      await session({ fresh: true });
      return request(method, path, { ...options, again: true });
    }
    const proof = error.code === 'proof_needed';
    if ((error.status !== 401 && !proof) || !signInDialog || options.active === false || options.signedIn) throw error;
    waitingSignIn ??= signInDialog({ proof }).finally(() => { waitingSignIn = null; });
    if (!(await waitingSignIn)) throw error;
    return request(method, path, { ...options, signedIn: true });
  }
}

/** Reads. */
export const get = (path, params, options = {}) => request('GET', path, { ...options, params });
/** Orders something. */
export const post = (path, options = {}) => request('POST', path, { body: {}, ...options });
/** Writes in place of what was there. */
export const put = (path, options = {}) => request('PUT', path, options);
/** Changes parts. */
export const patch = (path, options = {}) => request('PATCH', path, options);
/** Removes. */
export const del = (path, options = {}) => request('DELETE', path, options);

/** The session: `{signedIn, mode, ways, actor, role, csrf, idleUntil, until, namespace, version}`; asked for once, or `fresh`. */
export async function session({ fresh = false } = {}) {
  if (!current || fresh) current = await exchange('GET', 'session', { active: fresh ? undefined : true });
  return current;
}

/** Signs in, `{as: 'owner'}`, `{key}` or `{idToken}`; gives the session. */
export async function signIn(credential) {
  current = await exchange('POST', 'session', { body: credential, active: true });
  return current;
}

/** Signs out, here and in the other tabs. */
export async function signOut() {
  await exchange('DELETE', 'session', { active: true });
  current = null;
}

/** Says what asks for a sign-in when a request is refused with 401, or with `{proof}` for what cannot be undone: a promise of whether it was done. */
export function askForSignIn(dialog) {
  signInDialog = dialog;
}

/** A stream of the server, or a download: the response, whose body is read by the caller. */
export function stream(path, params, signal, accept = 'text/event-stream') {
  return fetch(address(path, params), {
    headers: { 'X-Doubloon-Console': '1', Accept: accept }, signal, cache: 'no-store', credentials: 'same-origin',
  });
}

/** A word for a POSIX shell, quoted where it must be. */
export function quote(word) {
  const text = String(word);
  return /^[A-Za-z0-9_\/.,:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// What a program takes as one argument is bounded (128 KiB on Linux); what a shell itself writes is not.
const ARGUMENT = 60_000;
const piped = (quoted, command) => `printf %s ${quoted} | ${command}`;

/** A command that is given a text: as an argument, where `command(text)` puts it, or on its input where that is too long. */
export const given = (text, command) => (text.length > ARGUMENT ? piped(quote(text), command('-')) : command(text));

/** The request as a curl command; the credential stands as $DOUBLOON_KEY. */
export function curl(method, path, params, body) {
  const words = ['curl', '-sS'];
  if (method !== 'GET') words.push('-X', method);
  words.push('-H', '"Authorization: Bearer $DOUBLOON_KEY"', quote(location.origin + address(path, params)));
  const sent = body !== undefined && quote(typeof body === 'string' ? body : write(body));
  if (sent.length > ARGUMENT) return piped(sent, [...words, '--data-binary', '@-'].join(' '));
  if (sent) words.push('-d', sent);
  return words.join(' ');
}

/** A command of the program: cli('why', 'alice') -> doubloon why alice. */
export function cli(...words) {
  return ['doubloon', ...words.filter((word) => word !== undefined && word !== null && word !== '')].map(quote).join(' ');
}
