// Accounts: the list, one account, disable and enable, erase and merge with their previews.

import { get, post } from './api.js';
import { h, shown } from './dom.js';
import {
  area, badge, button, check, copyButton, empty, facts, field, guard, heading, input, jsonView, pathLink, playerLink, table,
  toast,
} from './ui.js';
import { number, time } from './time.js';
import { again, amounts, change, col, command, copies, link, panel, queryForm, tabbed, to } from './parts.js';

/** The title of the browser's tab. */
export const title = ({ uid }) => (uid ? `${uid} · Accounts` : 'Accounts');

/** Draws the page. */
export async function mount(root, page) {
  root.classList.add('two-line');
  await (page.params.uid ? mountOne : mountList)(root, page);
}

const providers = (row) => (row.providerUserInfo ?? []).map((item) => item.providerId).join(', ')
  || (row.email || row.phoneNumber ? '—' : 'anonymous');
const state = (row) => (row.disabled ? badge('disabled') : badge('ok', 'enabled'));

function listPanel(page) {
  const [email, cursor] = [page.query.get('email'), page.query.get('cursor')];
  return panel({
    title: email ? `With ${shown(email)}` : 'All accounts', plain: true, signal: page.signal, load: async (signal) => {
      const { accounts, count, next } = await get('accounts', { email, cursor, limit: 50 }, { signal });
      return [h('p', { class: 'muted meta' }, `${number(count)} in all, by uid`), table({
        caption: 'Accounts', rows: accounts, columns: [
          col('Uid', (row) => to(page.url('accounts', row.localId), shown(row.localId))),
          col('Name', (row) => row.displayName ?? ''), col('E-mail', (row) => row.email ?? ''),
          col('Providers', providers), col('State', state),
          col('Created', (row) => time(row.createdAt)), col('Last sign-in', (row) => time(row.lastLoginAt)),
        ], empty: email ? empty('No account has this e-mail address.', { name: 'All accounts', href: page.url('accounts') })
          : empty('No account yet. An app makes one when a player signs in: signInAnonymously(), or doubloon accounts create.'),
      }), (next || cursor) && h('p', { class: 'row pager' }, cursor && h('a', { class: 'button small', href: link(page, { cursor: null }) }, 'First'),
        next && h('a', { class: 'button small', href: link(page, { cursor: next }) }, 'More'))];
    },
  });
}

const erasedPanel = (page) => panel({
  title: 'Players who were erased', plain: true, signal: page.signal, load: async (signal) => {
    const { erasures } = await get('erasures', { ns: page.ns, limit: 200 }, { signal });
    return table({
      caption: 'Erasures', rows: erasures, empty: 'Nobody was erased. What was erased is gone; who ordered it, and why, stays here.', columns: [
        col('Player', (row) => playerLink(page, row.uid)),
        col('State', (row) => badge(row.state === 'done' ? 'done' : 'running', row.state)),
        col('Ordered', (row) => time(row.orderedAt)), col('By', (row) => row.by), col('Reason', (row) => row.reason, true),
      ],
    });
  },
});

async function mountList(root, page) {
  const asked = input({ value: page.query.get('email') ?? '', placeholder: 'bob or bob@acme.test' });
  root.append(heading('Accounts', {
    sub: 'Who can sign in. Accounts are the server\'s: all namespaces share them.',
    actions: [copyButton(copies(command(page, 'accounts list', [], { email: page.query.get('email'), ns: false }), 'GET', '/admin/v1/accounts',
      { email: page.query.get('email'), limit: 50 }))],
  }), queryForm(page, 'Find an account', field('Uid or e-mail', asked), () => {
    const text = asked.value.trim();
    return text && !text.includes('@') ? page.url('accounts', text) : { email: text, cursor: null, tab: null };
  }, 'Find'));
  await tabbed(root, page, 'Lists', [{ id: 'all', name: 'Accounts' }, { id: 'erased', name: 'Erased' }],
    (id, scope) => (id === 'all' ? listPanel : erasedPanel)(scope));
}

/** Erases a player, after the plan. */
async function erase(page, uid) {
  const paths = area({ rows: 2, placeholder: '/leaderboard/{uid}' });
  const quiet = check('Functions do not hear of the removal');
  const list = () => paths.value.split('\n').map((line) => line.trim()).filter(Boolean);
  const isQuiet = () => quiet.querySelector('input').checked;
  const answer = await change({
    title: `Erase ${shown(uid)}`, danger: true, typed: uid, verb: `Erase ${shown(uid)}`, wide: true,
    fields: [h('p', { class: 'note warn' }, 'This cannot be undone. The record, the account and their past go; the ledger and the chains of hashes stay.'),
      field('More places of the player, one a line', paths), quiet],
    words: (reason) => command(page, 'accounts erase', [uid], { reason, path: list(), 'no-triggers': isQuiet(), yes: true }),
    ask: (reason) => ({ path: `accounts/${encodeURIComponent(uid)}/erase`, params: { ns: page.ns }, body: { reason, paths: list(), triggers: !isQuiet() } }),
    preview: async () => {
      const plan = await post(`accounts/${encodeURIComponent(uid)}/erase/preview`, { params: { ns: page.ns }, body: { paths: list() } });
      return { blocked: plan.waiting.length > 0, node: [facts([
        ['Account', plan.account ? 'goes' : 'there is none'], ['Past', `${number(plan.commits)} commits lose what was the player's`],
        ['Links and invitations', number(plan.rows)], ['Identities remembered, as hashes', number(plan.rememberedIdentities)],
        ['Coins taken back', amounts(Object.fromEntries(plan.balances.filter((row) => row.balance !== 0).map((row) => [row.unit, -row.balance])))],
        ['Holds given back', plan.holds.length > 0 && number(plan.holds.length)],
      ]), h('ul', plan.places.map((row) => h('li', pathLink(page, row.path), ` ${number(row.leaves)} leaves`))),
      plan.waiting.length > 0 && h('p', { class: 'note bad' }, `First: ${shown(plan.waiting.join(' '))}`)] };
    },
  });
  if (!answer) return;
  toast(`${uid} is erased (${answer.state}).`);
  page.go(page.url('accounts', null, { tab: 'erased' }));
}

/** Makes two accounts of one player one, after the plan. */
async function merge(page, uid) {
  const into = input({ placeholder: 'uid or e-mail' });
  const [coinsToo, recordToo] = [check('The coins go along', { checked: true }), check('What the other record does not have is copied', { checked: true })];
  const on = (box) => box.querySelector('input').checked;
  const body = () => ({ into: into.value.trim(), balances: on(coinsToo), record: on(recordToo) });
  const path = `accounts/${encodeURIComponent(uid)}/merge`;
  const answer = await change({
    title: `Merge ${shown(uid)} into another account`, danger: true, typed: uid, wide: true,
    verb: () => `Merge ${shown(uid)} into ${shown(into.value.trim() || '…')}`, check: () => !into.value.trim() && 'Say into which account.',
    fields: [h('p', { class: 'note warn' }, `This cannot be undone. ${shown(uid)} is the account that the player leaves.`), field('Into', into), coinsToo, recordToo],
    words: (reason) => command(page, 'accounts merge', [uid, into.value.trim()], { balances: on(coinsToo), record: on(recordToo), reason }),
    ask: (reason) => ({ path, params: { ns: page.ns }, body: { ...body(), reason } }),
    preview: async () => {
      const plan = await post(`${path}/preview`, { params: { ns: page.ns }, body: body() });
      return { blocked: (plan.waiting ?? []).length > 0 || Boolean(plan.at), node: [facts([
        ['Done already', plan.at && time(plan.at)], ['Invited by', plan.referrer && playerLink(page, plan.referrer)],
        ['Coins that move', amounts(Object.fromEntries(plan.balances.map((row) => [row.unit, row.amount])))],
        ['Reward that waits', plan.held && pathLink(page, plan.held)],
        ['Not paid again', plan.spent.length > 0 && shown(plan.spent.join(', '))],
        ['Copied', plan.copied.length > 0 && plan.copied.map((place) => h('div', pathLink(page, place)))],
      ]), plan.waiting?.length > 0 && h('p', { class: 'note bad' }, `First: ${shown(plan.waiting.join(' '))}`)] };
    },
  });
  if (!answer) return;
  toast(`${answer.from} was merged into ${answer.into}.`);
  page.go(page.url('accounts', answer.into));
}

/** A change of the account that has no preview of the server: disable, enable, delete, second factors. */
function simple(page, uid, { name, words, path, method, role, typed, danger, told }) {
  return guard(button(`${name}…`, async () => {
    const answer = await change({
      title: `${name} ${shown(uid)}`, verb: `${name} ${shown(uid)}`, reason: false, danger, typed: typed && uid,
      preview: async () => h('p', told), words: () => command(page, `accounts ${words}`, [uid], { ns: false }),
      ask: () => ({ method, path: `accounts/${encodeURIComponent(uid)}${path}`, body: method ? undefined : {} }),
    });
    if (answer) again(page);
  }, { danger }), page, role);
}

async function mountOne(root, page) {
  const { uid } = page.params;
  const links = [playerLink(page, uid), ' (rewards) · ', to(page.url('data', `/users/${uid}`), 'record'), ' · ',
    to(page.url('events', null, { uid }), 'events')];
  const crumbs = to(page.url('accounts'), 'Accounts');
  const leaving = (of) => [guard(button('Merge…', () => merge(page, of), { danger: true }), page, 'admin'),
    guard(button('Erase…', () => erase(page, of), { danger: true }), page, 'admin')];
  let account;
  try {
    account = await get(`accounts/${encodeURIComponent(uid)}`, {}, { signal: page.signal });
  } catch (error) {
    if (error.status !== 404) throw error;
    root.append(heading(shown(uid), { crumbs, sub: links, actions: leaving(uid) }),
      empty('There is no such account. A player may have a record and coins all the same; merging and erasing work without an account.'));
    return;
  }
  const id = account.localId;
  const factors = account.mfaInfo ?? [];
  root.append(heading(shown(account.displayName || account.email || id), {
    crumbs, sub: links, actions: [account.disabled
      ? simple(page, id, { name: 'Enable', words: 'enable', path: '/enable', role: 'support', told: 'The player can sign in again.' })
      : simple(page, id, { name: 'Disable', words: 'disable', path: '/disable', role: 'support', danger: true,
        told: 'Nobody can sign in to the account, and what was issued to it is void at once. Record and coins stay.' }),
    factors.length > 0 && simple(page, id, { name: 'Remove second factors of', words: 'remove-factors', path: '/second-factors', method: 'DELETE',
      role: 'admin', danger: true, typed: true, told: 'Every second factor goes; the sessions end. For a player who lost the telephone.' }),
    ...leaving(id), simple(page, id, { name: 'Delete', words: 'delete', path: '', method: 'DELETE', role: 'admin', danger: true, typed: true,
      told: 'The account goes; the player\'s record and ledger stay. This cannot be undone. For a player who wants to be forgotten: Erase.' }),
    copyButton([{ name: 'Uid', text: id }, ...copies(command(page, 'accounts show', [id], { ns: false }), 'GET', `/admin/v1/accounts/${encodeURIComponent(id)}`)])],
  }));
  const { passwordHash, salt, ...told } = account;
  root.append(h('section', { class: 'panel', aria: { label: 'Account' } }, h('div', { class: 'panel-body' }, facts([
    ['Uid', h('code', shown(id))], ['State', state(account)], ['Name', account.displayName && shown(account.displayName)],
    ['E-mail', account.email && `${shown(account.email)} (${account.emailVerified ? 'confirmed' : 'not confirmed'})`],
    ['Telephone', account.phoneNumber && shown(account.phoneNumber)], ['Providers', shown(providers(account))],
    ['Password', passwordHash && (account.passwordUpdatedAt ? ['set ', time(account.passwordUpdatedAt)] : 'set')],
    ['Second factors', factors.length > 0 && factors.map((item) => shown(item.displayName ?? item.phoneInfo ?? 'one')).join(', ')],
    ['Created', time(account.createdAt)], ['Last sign-in', time(account.lastLoginAt)],
    ['Sessions from before are void', account.validSince && time(Number(account.validSince) * 1000)],
    ['Claims', account.customAttributes && h('code', shown(account.customAttributes))],
  ]))), panel({ title: 'As JSON', load: async () => jsonView(told, { open: 1 }) }).element);
}
