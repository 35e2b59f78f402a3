// Accounts: the list with its search, new accounts, the players who were erased.

import { h, shown } from './dom.js';
import { act, badge, button, col, empty, field, heading, input, playerLink, table, to, toast, when } from './ui.js';
import { number } from './time.js';
import { change, command, copying, cursorPager, filters, listing, saveTable, tabbed } from './parts.js';

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
  return listing(page, isFiltered ? 'Found' : 'All accounts', async () => {
    const { accounts, scanned, next } = await page.get('accounts', { ...wanted(page), cursor, limit: 50, count: false });
    return [scanned !== undefined && h('p', { class: 'muted meta' }, `${number(accounts.length)} of ${number(scanned)} that were looked at`), table({
      caption: 'Accounts', rows: accounts, columns: [
        col('Uid', (row) => to(page.url('accounts', row.localId), shown(row.localId))), col('Name', 'displayName'), col('E-mail', 'email'), col('Providers', providers),
        col('State', (row) => (row.disabled ? badge('disabled') : badge('ok', 'enabled'))), when('Created', 'createdAt'), when('Last sign-in', 'lastLoginAt'),
      ], empty: isFiltered ? empty(next ? 'None of those that were looked at.' : 'No account matches.', !next && { name: 'Clear filters', href: page.url('accounts') })
        : empty('No account yet. An app makes one when a player signs in: signInAnonymously(), or doubloon accounts create.'),
    }), cursorPager(page, next, [accounts.length > 0 ? 'More' : 'Look further', 'First'])];
  });
}

const erasedPanel = (page) => listing(page, 'Players who were erased', async () => {
  const { erasures } = await page.get('erasures', { limit: 200 });
  return table({
    caption: 'Erasures', rows: erasures, empty: 'Nobody was erased. What was erased is gone; who ordered it, and why, stays here.', columns: [
      col('Player', (row) => playerLink(page, row.uid)), col('State', (row) => badge(row.state === 'done' ? 'done' : 'running', row.state)),
      when('Ordered', 'orderedAt'), col('By', 'by'), col('Reason', 'reason', true),
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
  const iso = (ms) => (ms ? new Date(Number(ms)).toISOString() : '');
  let cursor;
  for (let turn = 0; turn === 0 || (cursor && turn < 50); turn += 1) {
    const { accounts, next } = await page.post('accounts/export', { ...wanted(page), cursor, limit: 1000, count: false });
    for (const row of accounts) {
      rows.push([row.localId, row.displayName, row.email, row.phoneNumber, providers(row), row.disabled, iso(row.createdAt), iso(row.lastLoginAt)]);
    }
    cursor = next;
  }
  saveTable('accounts.csv', rows);
  toast(`${number(rows.length - 1)} accounts, without passwords${cursor ? '; there are more: narrow the filter' : ''}. With them: doubloon accounts export.`);
}

/** Draws the page. */
export async function mount(root, page) {
  const asked = (name) => page.query.get(name) ?? '';
  root.append(heading('Accounts', {
    sub: 'Who can sign in. Uids and addresses are found by their beginning.',
    actions: [act(page, 'admin', 'Create…', () => make(page)), button('CSV', () => download(page), { icon: 'download' }),
      copying(page, 'accounts list', [], { q: asked('q'), provider: asked('provider'), state: asked('state'), sort: asked('sort') }, 'accounts', { ...wanted(page), ns: page.ns, limit: 50 })],
  }), filters(page, 'Find an account', {
    q: ['Uid, e-mail or number', 'bob, bob@acme.test or +49…', { dataset: { filter: '' } }],
    provider: ['Provider', [['', 'any'], 'password', 'phone', 'google.com', 'apple.com', 'facebook.com']],
    state: ['State', [['', 'any'], 'enabled', 'disabled', 'anonymous']], sort: ['Sort', [['', 'uid'], ['email', 'e-mail, who has one']]],
  }, 'Find'));
  await tabbed(root, page, 'Lists', [{ id: 'all', name: 'Accounts' }, { id: 'erased', name: 'Erased' }],
    (id, scope) => (id === 'all' ? listPanel : erasedPanel)(scope));
}
