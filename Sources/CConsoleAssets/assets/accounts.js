// Accounts: the list with its search, new accounts, the players who were erased.

import { get, post } from './api.js';
import { h, shown } from './dom.js';
import { badge, button, choice, copyButton, empty, field, guard, heading, input, playerLink, table, toast } from './ui.js';
import { number, time } from './time.js';
import { change, col, command, copies, cursorPager, listing, queryForm, saveTable, tabbed, to } from './parts.js';

/** The page's title. */
export const title = () => 'Accounts';

const providers = (row) => (row.providerUserInfo ?? []).map((item) => item.providerId).join(', ')
  || (row.email || row.phoneNumber ? '—' : 'anonymous');
const FILTERS = ['q', 'provider', 'state', 'sort'];

/** What is looked for, as the server's parameters: a number is looked up whole, uids and addresses by their beginning. */
function wanted(page) {
  const { q, ...rest } = Object.fromEntries(FILTERS.filter((name) => page.query.get(name)).map((name) => [name, page.query.get(name)]));
  return /^\+\d+$/.test(q ?? '') ? { phone: q } : q ? { q, ...rest } : rest;
}

function listPanel(page) {
  const cursor = page.query.get('cursor');
  const isFiltered = FILTERS.some((name) => page.query.get(name));
  return listing(page, isFiltered ? 'Found' : 'All accounts', async (signal) => {
    const { accounts, scanned, next } = await get('accounts', { ...wanted(page), ns: page.ns, cursor, limit: 50, count: false }, { signal });
    return [scanned !== undefined && h('p', { class: 'muted meta' }, `${number(accounts.length)} of ${number(scanned)} that were looked at`), table({
      caption: 'Accounts', rows: accounts, columns: [
        col('Uid', (row) => to(page.url('accounts', row.localId), shown(row.localId))),
        col('Name', (row) => row.displayName ?? ''), col('E-mail', (row) => row.email ?? ''), col('Providers', providers),
        col('State', (row) => (row.disabled ? badge('disabled') : badge('ok', 'enabled'))),
        col('Created', (row) => time(row.createdAt)), col('Last sign-in', (row) => time(row.lastLoginAt)),
      ], empty: isFiltered ? empty(next ? 'None of those that were looked at.' : 'No account matches.', !next && { name: 'Clear filters', href: page.url('accounts') })
        : empty('No account yet. An app makes one when a player signs in: signInAnonymously(), or doubloon accounts create.'),
    }), cursorPager(page, next, [accounts.length > 0 ? 'More' : 'Look further', 'First'])];
  });
}

const erasedPanel = (page) => listing(page, 'Players who were erased', async (signal) => {
  const { erasures } = await get('erasures', { ns: page.ns, limit: 200 }, { signal });
  return table({
    caption: 'Erasures', rows: erasures, empty: 'Nobody was erased. What was erased is gone; who ordered it, and why, stays here.', columns: [
      col('Player', (row) => playerLink(page, row.uid)),
      col('State', (row) => badge(row.state === 'done' ? 'done' : 'running', row.state)),
      col('Ordered', (row) => time(row.orderedAt)), col('By', (row) => row.by), col('Reason', (row) => row.reason, true),
    ],
  });
});

async function make(page) {
  const fields = { uid: input(), email: input({ type: 'email' }), password: input({ type: 'password', autocomplete: 'new-password' }), displayName: input(), phoneNumber: input() };
  const given = () => Object.fromEntries(Object.entries(fields).flatMap(([name, item]) => (item.value ? [[name, item.value]] : [])));
  const made = await change({
    title: 'Create an account', verb: 'Create', fields: h('div', { class: 'form' }, field('E-mail', fields.email),
      field('Password', fields.password, { help: 'None: the player signs in by a mailed link, or sets one by it.' }), field('Name', fields.displayName),
      field('Telephone', fields.phoneNumber, { help: 'With its plus: +4915112345678.' }), field('Uid', fields.uid, { help: 'None: a random one.' })),
    check: () => fields.password.value && !fields.email.value && 'A password needs an e-mail address to sign in with.',
    words: () => fields.password.value ? null : command(page, 'accounts create', [], { uid: fields.uid.value, email: fields.email.value, name: fields.displayName.value, phone: fields.phoneNumber.value, ns: undefined }),
    ask: (reason) => ({ path: 'accounts', params: { ns: page.ns }, body: { ...given(), reason } }),
  });
  if (made) page.go(page.url('accounts', made.localId));
}

async function download(page) {
  const rows = [['uid', 'name', 'email', 'telephone', 'providers', 'disabled', 'created', 'last sign-in']];
  const when = (ms) => (ms ? new Date(Number(ms)).toISOString() : '');
  let cursor;
  for (let turn = 0; turn === 0 || (cursor && turn < 50); turn += 1) {
    const { accounts, next } = await post('accounts/export', { params: { ns: page.ns }, body: { ...wanted(page), cursor, limit: 1000, count: false }, signal: page.signal });
    for (const row of accounts) {
      rows.push([row.localId, row.displayName, row.email, row.phoneNumber, providers(row), row.disabled, when(row.createdAt), when(row.lastLoginAt)]);
    }
    cursor = next;
  }
  saveTable('accounts.csv', rows);
  toast(`${number(rows.length - 1)} accounts, without passwords${cursor ? '; there are more: narrow the filter' : ''}. With them: doubloon accounts export.`);
}

/** Draws the page. */
export async function mount(root, page) {
  root.classList.add('two-line');
  const asked = (name) => page.query.get(name) ?? '';
  const fields = {
    q: input({ value: asked('q'), placeholder: 'bob, bob@acme.test or +49…', dataset: { filter: '' } }),
    provider: choice([['', 'any'], 'password', 'phone', 'google.com', 'apple.com', 'facebook.com'], asked('provider')),
    state: choice([['', 'any'], 'enabled', 'disabled', 'anonymous'], asked('state')),
    sort: choice([['', 'uid'], ['email', 'e-mail, who has one']], asked('sort')),
  };
  root.append(heading('Accounts', {
    sub: 'Who can sign in. Uids and addresses are found by their beginning.',
    actions: [guard(button('Create…', () => make(page)), page, 'admin'), button('CSV', () => download(page), { icon: 'download' }),
      copyButton(copies(command(page, 'accounts list', [], { q: asked('q'), provider: asked('provider'), state: asked('state'), sort: asked('sort') }), 'GET', '/admin/v1/accounts',
        { ...wanted(page), ns: page.ns, limit: 50 }))],
  }), queryForm(page, 'Find an account', [field('Uid, e-mail or number', fields.q), field('Provider', fields.provider), field('State', fields.state), field('Sort', fields.sort)],
    () => ({ ...Object.fromEntries(Object.entries(fields).map(([name, item]) => [name, item.value.trim()])), cursor: null, tab: null }), 'Find'));
  await tabbed(root, page, 'Lists', [{ id: 'all', name: 'Accounts' }, { id: 'erased', name: 'Erased' }],
    (id, scope) => (id === 'all' ? listPanel : erasedPanel)(scope));
}
