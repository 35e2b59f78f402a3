// Signing in: with a key, the key file of a service account, or a player's account that has a role. Loaded when it is needed.

import * as api from './api.js';
import { h } from './dom.js';
import { parse, write } from './json.js';
import { now } from './time.js';
import { dialog, field, input } from './ui.js';

const IDENTITY = '/identitytoolkit.googleapis.com';
const bytes = (text) => new TextEncoder().encode(text);
const base64url = (data) => btoa(String.fromCharCode(...data)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

async function sent(path, body, headers) {
  const response = await fetch(path, { method: 'POST', body, headers, cache: 'no-store', credentials: 'omit', redirect: 'error' });
  const answer = parse(await response.text(), { plain: true });
  if (!response.ok) throw new Error(answer.error_description ?? answer.error?.message ?? `The server refused this (${response.status}).`);
  return answer;
}

/** An access token for the key file of a service account. The key signs here; what leaves the page is the signature. */
export async function accessToken(text) {
  let file = {};
  try {
    file = parse(text, { plain: true });
  } catch {
    // What was chosen is no JSON.
  }
  if (file?.type !== 'service_account' || !file.private_key || !file.token_uri) throw new Error('This is not the key file of a service account.');
  if (!crypto.subtle) throw new Error('A browser signs over https, or on localhost, only: open the console there.');
  const der = Uint8Array.from(atob(file.private_key.replace(/-----[^-]+-----|\s/g, '')), (character) => character.charCodeAt(0));
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  const second = Math.floor(now() / 1000);
  const claims = { iss: file.client_email, sub: file.client_email, aud: file.token_uri, iat: second, exp: second + 300 };
  const signed = [{ alg: 'RS256', typ: 'JWT', kid: file.private_key_id }, claims].map((part) => base64url(bytes(write(part)))).join('.');
  const signature = base64url(new Uint8Array(await crypto.subtle.sign(algorithm, key, bytes(signed))));
  const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: `${signed}.${signature}` };
  return (await sent('/token', new URLSearchParams(grant))).access_token;
}

/** The fields of a player's account; credential() gives its ID token, and asks for the second factor on the way. */
function accountFields() {
  const email = input({ type: 'email', autocomplete: 'username' });
  const password = input({ type: 'password', autocomplete: 'current-password' });
  const code = input({ inputmode: 'numeric', autocomplete: 'one-time-code' });
  const codeField = field('Code of the authenticator', code);
  codeField.hidden = true;
  let pending = null;
  const call = (method, body) => sent(`${IDENTITY}/${method}?key=console`, write(body), { 'Content-Type': 'application/json' });
  const credential = async () => {
    if (!pending) {
      const answer = await call('v1/accounts:signInWithPassword', { email: email.value.trim(), password: password.value, returnSecureToken: true });
      if (answer.idToken) return answer.idToken;
      const factor = (answer.mfaInfo ?? []).find((item) => item.totpInfo);
      if (!factor) throw new Error('The account\'s second factor is a telephone. Here only an authenticator will do.');
      pending = { mfaPendingCredential: answer.mfaPendingCredential, mfaEnrollmentId: factor.mfaEnrollmentId };
    }
    if (!code.value) {
      codeField.hidden = false;
      code.focus();
      throw new Error('Now the code that the authenticator shows.');
    }
    const shown = { ...pending, totpVerificationInfo: { verificationCode: code.value.trim() } };
    code.value = '';
    return (await call('v2/accounts/mfaSignIn:finalize', shown)).idToken;
  };
  for (const one of [email, password]) one.addEventListener('input', () => { pending = null; });
  return { email, credential, nodes: [field('E-mail', email), field('Password', password), codeField] };
}

const WORDS = {
  proof: ['Show your credential again', 'This cannot be undone, and your sign-in is more than 30 minutes old. What you typed is kept.'],
  first: ['Sign in', 'Your session ended, or there was none. What you typed on this page is kept.'],
};

/** The sign-in dialog for these ways; a promise of whether somebody signed in. `fixed`: it stays until then; `proof`: it is for what cannot be undone. */
export async function askForCredential(ways, { fixed, proof }) {
  const key = input({ type: 'password', autocomplete: 'current-password' });
  const file = input({ type: 'file', accept: '.json,application/json' });
  const account = ways?.includes('account') ? accountFields() : null;
  const credential = async () => {
    if (key.value) return { key: key.value.trim() };
    if (file.files[0]) return { key: await accessToken(await file.files[0].text()) };
    if (account?.email.value) return { idToken: await account.credential() };
    throw new Error('The key is missing.');
  };
  const [title, told] = WORDS[proof ? 'proof' : 'first'];
  const question = dialog({
    title, fixed, body: h('div', { class: 'form' }, h('p', told),
      field('Key', key, { help: 'An administrator’s token, or the access token of a service account.' }),
      field('Or a key file', file, { help: 'Of a service account. It stays in this browser: the page signs with it.' }),
      account && [h('p', 'Or with your account:'), ...account.nodes]),
    actions: [!fixed && { name: 'Not now', value: null }, {
      name: 'Sign in', primary: true, run: async () => {
        const shown = await credential();
        try {
          await api.signIn(shown);
        } catch (error) {
          key.select();
          const after = error.retryAfter ? ` Again possible in ${error.retryAfter} s.` : '';
          const known = shown.idToken ? 'The password is right, but the account has no role here, or it has no second factor and needs one.'
            : 'This credential is not known, or it is not valid any more.';
          throw new Error(error.status === 401 ? known : error.message + after);
        }
        return true;
      },
    }].filter(Boolean),
  });
  key.focus();
  return Boolean(await question.closed);
}
