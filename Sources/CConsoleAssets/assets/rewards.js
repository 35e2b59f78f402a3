// Rewards: who brought most, what was paid by code, every entry, one entry.

import { h, shown } from './dom.js';
import {
  act, badge, button, code, col, copyButton, empty, eventLink, facts, field, functionLink, heading, input, note, num, pathLink, playerLink,
  table, to,
} from './ui.js';
import { number, parseTime, time } from './time.js';
import {
  accountLink, again, amounts, cause, command, copies, copying, cursorPager, entryColumns, filters, follow, link, pager, panel, reverse,
  section,
} from './parts.js';

const END = Number.MAX_SAFE_INTEGER;

/** The page's title. */
export const title = ({ route, sequence }) => (sequence ? `Entry ${sequence}` : route === 'rewards' ? 'Rewards' : 'Entries');

/** Draws the page. */
export async function mount(root, page) {
  const { route, sequence } = page.params;
  await (sequence ? mountEntry : route === 'rewards' ? mountTop : mountEntries)(root, page);
}

/** The ways to the pages of rewards. */
export const views = (page, current) => h('nav', { class: 'toolbar', aria: { label: 'Views of rewards' } }, [
  ['top', 'Leaderboard', page.url('rewards')], ['entries', 'Entries', page.url('rewards/entries')],
  ['review', 'Review', page.url('rewards/review')], ['compensation', 'Compensation', page.url('rewards/compensation')],
].map(([id, name, href]) => h('a', { class: 'chip', href, aria: { current: id === current ? 'true' : null } }, name)));

function playerForm(page) {
  const uid = input({ placeholder: 'bob', required: true });
  return h('form', {
    class: 'toolbar', role: 'search', aria: { label: 'A player' }, on: {
      submit: (event) => {
        event.preventDefault();
        if (uid.value.trim()) page.go(page.url('rewards/u', uid.value.trim()));
      },
    },
  }, field('Player', uid), button('Why?', undefined, { type: 'submit', primary: true }));
}

function topPanel(page) {
  const [unit, days] = ['unit', 'days'].map((name) => page.query.get(name));
  const since = days && Math.max(0, Date.now() - Number(days) * 86_400_000);
  return follow(page, panel({
    title: 'Who brought most', class: 'leaders', load: async () => {
      const { leaders, goal, complete } = await page.get('referrals', { limit: 50, unit, since });
      const units = [...new Set(leaders.flatMap((row) => Object.keys(row.coins)))];
      const chip = (changes, name, isOn) => h('a', { class: 'chip', href: link(page, changes), aria: { current: isOn ? 'true' : null } }, shown(name));
      return [h('p', { class: 'row wrap' }, [['', 'ever'], ['7', '7 days'], ['30', '30 days']].map(([id, name]) => chip({ days: id }, name, id === (days ?? ''))),
        units.length > 1 && units.map((name) => chip({ unit: name }, name, name === unit))), table({
        caption: 'Referrers, by what the ledger says', rows: leaders, columns: [
          col('Player', (row) => to(page.url('rewards/u', row.player, { tab: 'tree' }), shown(row.player))), num('Referred', 'referred'), num('Signed up', 'signedUp'),
          num(shown(goal?.name ?? 'Goal'), 'reached'), num('Coins for it', (row) => amounts(row.coins)),
          num('Reversed', (row) => amounts(row.reversed)), num('Clicks', 'clicks'), num('Installs', 'installs'),
        ], empty: empty('Nobody was referred yet. A player counts as referred when the record names a referrer: referred_by "alice".',
          { name: 'Start', href: page.url('start') }),
      }), !complete && note('warn', 'Too much for one look: 100,000 entries and 20,000 players are counted, not what is behind them.')];
    },
  }));
}

function accountsPanel(page, name, prefix, none) {
  const key = `after-${prefix}`;
  return follow(page, section(page, name, async () => {
    const { accounts, next } = await page.get('ledger/accounts', { prefix, limit: 50, after: page.query.get(key) });
    return [table({
      caption: `${name}: accounts`, rows: accounts, empty: none, columns: [
        col('Account', (row) => accountLink(page, row.account)), num('Balance', 'balance'), col('Unit', 'unit'), num('Entries', 'entries'),
      ],
    }), cursorPager(page, next, undefined, key)];
  }));
}

function verifyPanel(page) {
  const made = panel({
    title: 'Ledger', actions: [button('Verify now', () => made.reload(), { small: true })], load: async () => {
      const start = performance.now();
      const found = await page.get('ledger/verify');
      const took = Math.round(performance.now() - start);
      return [h('p', badge(found.sound ? 'sound' : 'failed', found.sound ? 'sound' : 'not sound'), ` ${number(found.entries)} entries, ${
        number(found.accounts)} accounts, verified in ${number(took)} ms.`), facts([
        ['Last hash', found.lastHash && h('code', { class: 'hash' }, found.lastHash)],
        ['First broken entry', found.firstBrokenEntry && to(page.url('rewards/entry', found.firstBrokenEntry), number(found.firstBrokenEntry))],
      ]), found.faults.length > 0 && h('ul', found.faults.map((fault) => h('li', shown(fault.message)))),
      found.faultCount > found.faults.length && h('p', `${number(found.faultCount)} faults in all.`),
      found.unbacked.length > 0 && h('div', h('p', `${number(found.unbackedCount)} values in the tree are no balances:`),
        h('ul', found.unbacked.map((row) => h('li', pathLink(page, row.path), ` holds ${shown(row.found)} (${shown(row.unit)})`)))), false];
    },
  });
  return made;
}

async function mountTop(root, page) {
  root.append(heading('Rewards', {
    sub: 'Who brought whom, what was paid for it, and why.',
    actions: [copying(page, 'referrals top', [], { limit: 50 }, 'referrals', { ns: page.ns, limit: 50 })],
  }), views(page, 'top'), playerForm(page));
  const panels = [topPanel(page), accountsPanel(page, 'Paid out, by code', 'issuance:',
    'Nothing was paid yet. Minus the balance of issuance:level5 is what was paid for level 5 in all.'),
  accountsPanel(page, 'Balances of players', 'user:', 'No player has coins yet.'), verifyPanel(page)];
  root.append(panels[0].element, h('div', { class: 'grid2' }, panels.slice(1).map((item) => item.element)));
  await Promise.all(panels.map((item) => item.first));
}

/** The listing that the address asks for, and its parameters. */
function entriesOf(page) {
  const [key, account, before] = ['key', 'account', 'before'].map((name) => page.query.get(name));
  if (key) return ['entries', { key }];
  const times = { since: parseTime(page.query.get('since')) ?? undefined, until: parseTime(page.query.get('until')) ?? undefined };
  return account ? ['statement', { account, before, limit: 100, ...times }] : ['entries', { before: before ?? END, limit: 100, ...times }];
}

async function mountEntries(root, page) {
  const { query } = page;
  const [key, account, since, until] = ['key', 'account', 'since', 'until'].map((name) => query.get(name));
  const [route, params] = entriesOf(page);
  const options = { limit: params.limit, before: query.get('before'), since: params.since && new Date(params.since).toISOString(), until: params.until && new Date(params.until).toISOString() };
  const words = key ? command(page, 'ledger entries', [], { once: key }) : command(page, `ledger ${route}`, account ? [account] : [], options);
  root.append(heading('Entries', {
    sub: 'What the ledger holds, newest first. Entries are never changed or removed; a mistake is taken back by another entry.',
    actions: [copyButton(copies(words, 'GET', `/admin/v1/ledger/${route}`, { ns: page.ns, ...params }))],
  }), views(page, 'entries'), filters(page, 'Filter of entries', {
    key: ['Business key', 'level5/bob'], account: ['Account', 'issuance:level5'], since: ['Since', '7d, or a date'], until: ['Until', 'now'] }, 'Show'));
  const list = follow(page, section(page, key ? `Made under ${shown(key)}` : account ? `On ${shown(account)}` : 'All entries', async () => {
    if (!key && [['since', since], ['until', until]].some(([name, typed]) => typed && params[name] === undefined)) return empty('This is no time. Write 7d, 2026-11-26 or 2026-11-26 10:00.', { name: 'Clear filters', href: page.url('rewards/entries') });
    const { entries, next } = await page.get(`ledger/${route}`, params);
    const none = key || account || since || until ? empty('No entry matches.', { name: 'Clear filters', href: page.url('rewards/entries') })
      : empty('No coins moved yet. The first reward of a function, or a transfer, makes entry 1.', { name: 'Start', href: page.url('start') });
    return [table({ caption: 'Entries', rows: entries, columns: entryColumns(page, key ? null : account), empty: none }),
      pager(page, next && { before: next }, !query.get('before'))];
  }));
  root.append(list.element);
  await list.first;
}

const referralOf = (page, given) => given && [playerLink(page, given.player), ' was invited by ', playerLink(page, given.inviter),
  `: ${shown(given.how)} of ${shown(given.link)}`, given.platform && ` on ${shown(given.platform)}`, given.code && `, code ${shown(given.code)}`];

async function mountEntry(root, page) {
  const { ns } = page;
  const sequence = Number(page.params.sequence);
  const [{ entries: [entry] }, { entries: [reversal] }] = await Promise.all([
    page.get('ledger/entries', { after: sequence - 1, limit: 1 }),
    page.get('ledger/entries', { key: `reversal/${sequence}` }),
  ]);
  if (entry?.sequence !== sequence) {
    root.append(heading(`Entry ${number(sequence)}`), empty('There is no such entry.', { name: 'All entries', href: page.url('rewards/entries') }));
    return;
  }
  const undo = act(page, 'support', 'Reverse…', async () => {
    if (await reverse(page, entry)) again(page);
  }, { danger: true });
  root.append(heading(`Entry ${number(sequence)}`, {
    crumbs: [to(page.url('rewards'), 'Rewards'), ' / ', to(page.url('rewards/entries'), 'Entries')],
    actions: [!reversal && !entry.reverses && undo, copyButton([{ name: 'Business key', text: entry.key }, { name: 'Hash', text: entry.hash },
      ...copies(command(page, 'ledger statement', [entry.credit], { before: sequence + 1, limit: 1 }), 'GET', '/admin/v1/ledger/entries',
        { ns, after: sequence - 1, limit: 1 })])],
  }));
  root.append(h('section', { class: 'panel' }, h('div', { class: 'panel-body' }, facts([
    ['Amount', amounts({ [entry.unit]: entry.amount })],
    ['From', [accountLink(page, entry.debit), ` has ${number(entry.debitAfter)} after it`]],
    ['To', [accountLink(page, entry.credit), ` has ${number(entry.creditAfter)} after it`]],
    ['When', time(entry.time, 'moment')],
    ['Commit', to(page.url('commits', entry.revision), `r${entry.revision}`)],
    ['Code', entry.code], ['Business key', code(entry.key)],
    ['Event', entry.event && eventLink(page, entry.event)], ['Function', entry.function && functionLink(page, entry.function)],
    ['About', entry.subject && playerLink(page, entry.subject)],
    ['Reverses', entry.reverses && to(page.url('rewards/entry', entry.reverses), `entry ${number(entry.reverses)}`)],
    ['Reversed', reversal && ['by ', to(page.url('rewards/entry', reversal.sequence), `entry ${number(reversal.sequence)}`),
      ' · ', cause(page, { reason: reversal.reason })]],
    ['Reason', entry.reason && shown(entry.reason)], ['Goes back by itself', entry.expiresAt && time(entry.expiresAt)],
    ['Invitation', referralOf(page, entry.referral)], ['Hash', h('code', { class: 'hash' }, entry.hash)],
  ]))), h('p', { class: 'row wrap pager' }, sequence > 1 && h('a', { class: 'button small', href: page.url('rewards/entry', sequence - 1) }, 'Older'),
    h('a', { class: 'button small', href: page.url('rewards/entry', sequence + 1) }, 'Newer')));
}
