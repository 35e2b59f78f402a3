// One account: what it is, edit, claims, sessions, codes; disable, erase and merge with their previews.

import { h, shown } from './dom.js';
import { parse, write } from './json.js';
import {
  act, actorLink, area, badge, check, code, col, copyButton, empty, eventLink, facts, field, heading, inline, input, jsonView, note, num,
  pathLink, playerLink, quiet, table, to, toast, when,
} from './ui.js';
import { number, time } from './time.js';
import { amounts, change, command, copies, listing, panel, tabbed } from './parts.js';

/** The page's title. */
export const title = ({ uid }) => `${uid} · Accounts`;

const at = (uid, rest = '') => `accounts/${encodeURIComponent(uid)}${rest}`;
const isOn = (box) => box.querySelector('input').checked;

async function erase(page, uid) {
  const paths = area({ rows: 2, placeholder: '/leaderboard/{uid}' });
  const silent = check('Functions do not hear of the removal');
  const list = () => paths.value.split('\n').map((line) => line.trim()).filter(Boolean);
  const answer = await change({
    title: `Erase ${shown(uid)}`, danger: true, typed: uid, verb: `Erase ${shown(uid)}`, wide: true,
    fields: [note('warn', 'This cannot be undone. The record, the account and their past go; the ledger and the chains of hashes stay.'),
      field('More places of the player, one a line', paths), silent],
    words: (reason) => command(page, 'accounts erase', [uid], { reason, path: list(), 'no-triggers': isOn(silent), yes: true }),
    ask: (reason) => ({ path: at(uid, '/erase'), params: { ns: page.ns }, body: { reason, paths: list(), triggers: !isOn(silent) } }),
    preview: async () => {
      const plan = await page.post(at(uid, '/erase/preview'), { paths: list() });
      return { blocked: plan.waiting.length > 0, node: [facts([
        ['Account', plan.account ? 'goes' : 'there is none'], ['Past', `${number(plan.commits)} commits lose what was the player's`],
        ['Links and invitations', number(plan.rows)], ['Identities remembered, as hashes', number(plan.rememberedIdentities)],
        ['Coins taken back', amounts(Object.fromEntries(plan.balances.filter((row) => row.balance !== 0).map((row) => [row.unit, -row.balance])))],
        ['Holds given back', plan.holds.length > 0 && number(plan.holds.length)],
      ]), h('ul', plan.places.map((row) => h('li', pathLink(page, row.path), ` ${number(row.leaves)} leaves`))),
      plan.waiting.length > 0 && note('bad', `First: ${shown(plan.waiting.join(' '))}`)] };
    },
  });
  if (!answer) return;
  toast(`${uid} is erased (${answer.state}).`);
  page.go(page.url('accounts', null, { tab: 'erased' }));
}

async function merge(page, uid) {
  const into = input({ placeholder: 'uid or e-mail' });
  const [coinsToo, recordToo] = [check('The coins go along', { checked: true }), check('What the other record does not have is copied', { checked: true })];
  const body = () => ({ into: into.value.trim(), balances: isOn(coinsToo), record: isOn(recordToo) });
  const path = at(uid, '/merge');
  const answer = await change({
    title: `Merge ${shown(uid)} into another account`, danger: true, typed: uid, wide: true,
    verb: () => `Merge ${shown(uid)} into ${shown(into.value.trim() || '…')}`, check: () => !into.value.trim() && 'Say into which account.',
    fields: [note('warn', `This cannot be undone. ${shown(uid)} is the account that the player leaves.`), field('Into', into), coinsToo, recordToo],
    words: (reason) => command(page, 'accounts merge', [uid, into.value.trim()], { balances: isOn(coinsToo), record: isOn(recordToo), reason }),
    ask: (reason) => ({ path, params: { ns: page.ns }, body: { ...body(), reason } }),
    preview: async () => {
      const plan = await page.post(`${path}/preview`, body());
      return { blocked: (plan.waiting ?? []).length > 0 || Boolean(plan.at), node: [facts([
        ['Done already', plan.at && time(plan.at)], ['Invited by', plan.referrer && playerLink(page, plan.referrer)],
        ['Coins that move', amounts(Object.fromEntries(plan.balances.map((row) => [row.unit, row.amount])))],
        ['Reward that waits', plan.held && pathLink(page, plan.held)],
        ['Not paid again', plan.spent.length > 0 && shown(plan.spent.join(', '))],
        ['Copied', plan.copied.length > 0 && plan.copied.map((place) => h('div', pathLink(page, place)))],
      ]), plan.waiting?.length > 0 && note('bad', `First: ${shown(plan.waiting.join(' '))}`)] };
    },
  });
  if (!answer) return;
  toast(`${answer.from} was merged into ${answer.into}.`);
  page.go(page.url('accounts', answer.into));
}

/** A change of the account that has no preview of the server. */
function simple(page, uid, { name, words, path = '', method, role, typed, danger, told }) {
  return act(page, role, `${name}…`, async () => {
    await change({ then: page,
      title: `${name} ${shown(uid)}`, verb: `${name} ${shown(uid)}`, reason: method === 'DELETE', danger, typed: typed && uid,
      preview: h('p', told), words: (reason) => command(page, `accounts ${words}`, [uid], { reason: method === 'DELETE' && reason }),
      ask: (reason) => ({ method, path: at(uid, path), params: { ns: page.ns, reason: method === 'DELETE' ? reason : null }, body: method ? undefined : {} }),
    });
  }, { danger });
}

async function patched(page, uid, { title: name, fields, changed, words, check: fault }) {
  await change({ then: page,
    title: name, verb: 'Save', fields, check: () => fault?.() || (Object.keys(changed()).length === 0 && 'Nothing is changed.'),
    words: (reason) => words && command(page, 'accounts update', [uid], { ...words(), reason }),
    ask: (reason) => ({ method: 'PATCH', path: at(uid), params: { ns: page.ns }, body: { ...changed(), reason } }),
  });
}

function edit(page, account) {
  const [name, email, phone] = [account.displayName, account.email, account.phoneNumber].map((value) => input({ value: value ?? '' }));
  const verified = check('The address is confirmed', { checked: account.emailVerified === true });
  const password = input({ type: 'password', autocomplete: 'new-password' });
  const changed = () => Object.fromEntries([
    ['displayName', name.value.trim(), account.displayName ?? ''], ['email', email.value.trim(), account.email ?? ''],
    ['phoneNumber', phone.value.trim(), account.phoneNumber ?? ''], ['emailVerified', isOn(verified), account.emailVerified === true],
    ['password', password.value, ''],
  ].filter(([, value, before]) => value !== before).map(([member, value]) => [member, value]));
  return patched(page, account.localId, {
    title: 'Edit the account', changed, fields: h('div', { class: 'form' }, field('Name', name),
      field('E-mail', email, { help: 'Another address ends the sessions.' }), verified, field('Telephone', phone, { help: 'With its plus.' }),
      field('New password', password, { help: 'None: it stays. Another one ends the sessions.' })),
    words: () => (password.value ? null : {
      name: changed().displayName, email: changed().email, phone: changed().phoneNumber, verified: changed().emailVerified === true, unverified: changed().emailVerified === false,
    }),
  });
}

/** The claims as an object; throws where the text is none. */
function claimsOf(text) {
  const value = text.trim() === '' ? new Map() : parse(text);
  if (!(value instanceof Map)) throw new Error('Claims are an object: {"guild": "pirates"}.');
  if (write(value).length > 1000) throw new Error(`Claims have at most 1000 characters; these have ${number(write(value).length)}.`);
  return value;
}

function editClaims(page, account) {
  const before = account.customAttributes ? write(parse(account.customAttributes), 2) : '';
  const text = area({ rows: 8, placeholder: '{"guild": "pirates"}' }, before);
  const fault = () => {
    try {
      return void claimsOf(text.value);
    } catch (error) {
      return error.message;
    }
  };
  return patched(page, account.localId, {
    title: 'Claims', check: fault, changed: () => (text.value === before ? {} : { claims: claimsOf(text.value) }),
    words: () => ({ claims: write(claimsOf(text.value)) }),
    fields: field('Claims, as JSON', text, { help: 'Rules see them as auth.token. Tokens bear them from the next refresh on, within an hour. Empty: none.' }),
  });
}

const sessions = (page, uid) => panel({
  title: 'Sessions', plain: true, actions: [simple(page, uid, {
    name: 'End all sessions of', words: 'sessions --end', path: '/sessions', method: 'DELETE', role: 'support', danger: true,
    told: 'Every device is signed out: its tokens are void at once. The player can sign in again.',
  })], load: async () => {
    const { sessions: rows, count } = await page.get(at(uid, '/sessions'));
    return [count > rows.length && quiet(`The newest ${number(rows.length)} of ${number(count)}.`), table({
      caption: 'Sessions', rows, empty: 'The player is signed in nowhere.', columns: [
        col('Signed in by', 'provider'), col('Second factor', (row) => row.secondFactor ?? '—'), when('Signed in', 'signedInAt'), when('Last used', 'usedAt'),
      ],
    })];
  },
});

const codes = (page, uid) => listing(page, 'Codes that were sent', async () => table({
  caption: 'Codes', rows: (await page.get(at(uid, '/oob-codes'))).codes,
  empty: 'No code is on its way. In development nothing is mailed: codes are shown here instead.', columns: [
    col('For', 'kind'), col('To', 'to'), col('Code', (row) => h('code', row.code), true),
    col('Link', (row) => (row.link ? h('a', { href: row.link, target: '_blank', rel: 'noopener noreferrer' }, 'open') : '')),
  ],
}));

const record = (page, uid) => listing(page, 'Record', async () => {
  const { rows, next } = await page.get('data/children', { path: `/users/${uid}`, limit: 100 });
  return [table({
    caption: 'Record', rows, empty: 'The tree has no record of this player.', columns: [
      col('Key', (row) => to(page.url('data', `/users/${uid}`, { sel: row.key }), shown(row.key))),
      col('Value', (row) => (row.kind === 'node' ? `{${row.children ?? '…'}}` : inline(row.value, 80)), true), when('Changed', 'time')],
  }), next && quiet('There is more in ', to(page.url('data', `/users/${uid}`), 'Data'), '.')];
});

const history = (page, uid) => listing(page, 'History', async () => table({
  caption: 'Commits that changed the record', rows: (await page.get('data/log', { path: `/users/${uid}`, limit: 50, changes: 0 })).commits,
  empty: 'No commit that is remembered changed the record.', columns: [
    col('Commit', (row) => to(page.url('data', `/users/${uid}`, { at: `r${row.revision}` }), `r${row.revision}`)), when('Time', 'time', 'moment'),
    col('By', (row) => actorLink(page, row.actor)), col('Because of', (row) => row.cause && eventLink(page, row.cause.event)), num('Changes', 'changeCount')],
}));

const rewards = (page, uid) => listing(page, 'Rewards', async () => [await (await import('./player.js')).statement(page, uid),
  h('p', to(page.url('rewards/u', uid), 'Why paid, or not'))]);

const whole = (page, account) => {
  const { passwordHash, salt, ...told } = account;
  const factors = account.mfaInfo ?? [];
  const providers = (account.providerUserInfo ?? []).map((item) => item.providerId).join(', ');
  return [{ element: h('section', { class: 'panel', aria: { label: 'Account' } }, h('div', { class: 'panel-body' }, facts([
    ['Uid', code(account.localId)], ['State', account.disabled ? badge('disabled') : badge('ok', 'enabled')],
    ['Name', account.displayName && shown(account.displayName)],
    ['E-mail', account.email && `${shown(account.email)} (${account.emailVerified ? 'confirmed' : 'not confirmed'})`],
    ['Telephone', account.phoneNumber && shown(account.phoneNumber)],
    ['Providers', shown(providers || (account.email || account.phoneNumber ? '—' : 'anonymous'))],
    ['Password', passwordHash && (account.passwordUpdatedAt ? ['set ', time(account.passwordUpdatedAt)] : 'set')],
    ['Second factors', factors.length > 0 && factors.map((item) => shown(item.displayName ?? item.phoneInfo ?? 'one')).join(', ')],
    ['Created', time(account.createdAt)], ['Last sign-in', time(account.lastLoginAt)],
    ['Sessions from before are void', account.validSince && time(Number(account.validSince) * 1000)],
    ['Claims', account.customAttributes && code(account.customAttributes)],
  ]))) }, panel({ title: 'As JSON', load: async () => jsonView(told, { open: 1 }) })];
};

/** Draws the page. */
export async function mount(root, page) {
  const { uid } = page.params;
  const links = [playerLink(page, uid), ' (rewards) · ', to(page.url('data', `/users/${uid}`), 'record'), ' · ',
    to(page.url('events', null, { uid }), 'events')];
  const crumbs = to(page.url('accounts'), 'Accounts');
  const leaving = (of) => [act(page, 'admin', 'Merge…', () => merge(page, of), { danger: true }),
    act(page, 'admin', 'Erase…', () => erase(page, of), { danger: true })];
  let account;
  try {
    account = await page.get(at(uid));
  } catch (error) {
    if (error.status !== 404) throw error;
    root.append(heading(shown(uid), { crumbs, sub: links, actions: leaving(uid) }),
      empty('There is no such account. A player may have a record and coins all the same; merging and erasing work without an account.'));
    return;
  }
  const id = account.localId;
  root.append(heading(shown(account.displayName || account.email || id), {
    crumbs, sub: [account.disabled && [badge('disabled'), ' '], links], actions: [act(page, 'admin', 'Edit…', () => edit(page, account)),
      act(page, 'admin', 'Claims…', () => editClaims(page, account)), account.disabled
        ? simple(page, id, { name: 'Enable', words: 'enable', path: '/enable', role: 'support', told: 'The player can sign in again.' })
        : simple(page, id, { name: 'Disable', words: 'disable', path: '/disable', role: 'support', danger: true,
          told: 'Nobody can sign in to the account, and what was issued to it is void at once. Record and coins stay.' }),
      account.mfaInfo?.length > 0 && simple(page, id, { name: 'Remove second factors of', words: 'remove-factors', path: '/second-factors', method: 'DELETE',
        role: 'admin', danger: true, typed: true, told: 'Every second factor goes; the sessions end. For a player who lost the telephone.' }),
      ...leaving(id), simple(page, id, { name: 'Delete', words: 'delete', method: 'DELETE', role: 'admin', danger: true, typed: true,
        told: 'The account goes; the player\'s record and ledger stay. This cannot be undone. For a player who wants to be forgotten: Erase.' }),
      copyButton([{ name: 'Uid', text: id }, ...copies(command(page, 'accounts show', [id]), 'GET', `/admin/v1/${at(id)}`, { ns: page.ns })])],
  }));
  const isDevelopment = page.session.mode === 'development';
  await tabbed(root, page, 'About the account', [{ id: 'account', name: 'Account' }, { id: 'sessions', name: 'Sessions' }, { id: 'record', name: 'Record' },
    { id: 'rewards', name: 'Rewards' }, { id: 'history', name: 'History' }, ...isDevelopment ? [{ id: 'codes', name: 'Codes' }] : []],
  (tab, scope) => tab === 'account' ? whole(scope, account) : { sessions, record, rewards, history, codes }[tab](scope, id));
}
