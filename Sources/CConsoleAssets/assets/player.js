// One player: why paid or not, the statement, who brought whom; pay, hold, release, give back, reverse.

import { quote } from './api.js';
import { parse } from './json.js';
import { h, shown } from './dom.js';
import {
  act, badge, button, choice, code, coins, col, copyButton, copyIcon, empty, entryLink, eventLink, facts, field, functionLink, heading,
  inline, input, num, pathLink, playerLink, quiet, table, to, toast, when,
} from './ui.js';
import { number, time } from './time.js';
import { again, amountOn, amounts, balances, cause, change, command, copies, entryColumns, follow, pager, panel, reverse, tabbed } from './parts.js';

/** The page's title. */
export const title = (params) => `${params.uid} · Rewards`;

const reverseButton = (page, entry) => act(page, 'support', 'Reverse…', async () => {
  if (await reverse(page, entry)) again(page);
}, { small: true, danger: true });

/** What the player has, by unit; asks for the accounts whose name is exactly the player's. */
async function balancesOf(page, uid) {
  const account = `user:${uid}`;
  const { accounts } = await page.get('ledger/accounts', { prefix: account, limit: 100 });
  return accounts.filter((row) => row.account === account);
}

const outcome = (page, rows, refusal) => ({ blocked: Boolean(refusal), node: [balances(page, rows), refusal && h('p', { class: 'field-fault' }, shown(refusal.error))] });

/** A whole number above zero, exactly; null if the text is none. */
const amountIn = (text) => (/^[1-9]\d{0,18}$/.test(text) && BigInt(text) < 2n ** 63n ? BigInt(text) : null);

/** Pay or hold: the fields, what it makes of the balance, and the order. */
async function move(page, uid, held, isHold) {
  const amount = input({ inputmode: 'numeric', value: '50' });
  const units = held.map((row) => row.unit);
  const unit = units.length > 1 ? choice(units) : input({ value: units[0] ?? 'pieces_of_eight' });
  const from = input({ value: 'issuance:support' });
  const key = input({ value: `support/${crypto.randomUUID()}` });
  const parsed = () => amountIn(amount.value.trim());
  const body = (reason) => ({ ...(isHold ? { from: from.value.trim(), owner: uid } : { debit: from.value.trim(), credit: `user:${uid}`, code: 'support' }),
    amount: parsed(), unit: unit.value, key: key.value.trim(), reason });
  const answer = await change({
    title: isHold ? `Set coins aside for ${shown(uid)}` : `Pay ${shown(uid)}`,
    fields: h('div', { class: 'fields' }, field('Amount', amount), field('Unit', unit), field('From', from),
      field('Key', key, { help: 'Unique for ever: the same key pays only once.', wide: true })),
    check: () => (parsed() === null ? 'The amount must be a whole number above zero.' : !key.value.trim() && 'A key is needed.'),
    verb: () => `${isHold ? 'Hold' : 'Pay'} ${parsed() ?? '…'} ${isHold ? 'for' : 'to'} ${shown(uid)}`,
    words: isHold ? null : (reason) => command(page, 'ledger transfer', [from.value.trim(), `user:${uid}`, parsed()],
      { unit: unit.value, code: 'support', once: key.value.trim(), reason }),
    ask: (reason) => ({ path: isHold ? 'ledger/holds' : 'ledger/transfers', params: { ns: page.ns }, body: body(reason) }),
    preview: async () => {
      const { entries: [taken] } = await page.get('ledger/entries', { key: key.value.trim() });
      if (taken) return h('p', 'The key was used, by ', entryLink(page, taken.sequence), ': nothing would be paid again.');
      const plan = await page.post(isHold ? 'ledger/holds/preview' : 'ledger/transfer/preview', isHold ? { hold: body() } : body());
      return outcome(page, plan.balances, plan.refusal ?? plan.refusals?.[0]);
    },
  });
  if (!answer) return;
  toast(answer.repeated ? `Repeated: entry ${number(answer.entry.sequence)} was made under this key before; nothing was posted.`
    : `Entry ${number(answer.entry.sequence)} was made.`);
  again(page);
}

async function endHold(page, uid, hold, isRelease) {
  const amount = input({ inputmode: 'numeric', value: String(hold.amount) });
  const parsed = () => amountIn(amount.value.trim());
  await change({ then: page,
    title: `${isRelease ? 'Release' : 'Give back'} hold ${number(hold.sequence)}`, danger: !isRelease,
    fields: isRelease && field('Amount', amount, { help: 'With less than all, the rest goes back to where it came from.' }),
    check: () => isRelease && (parsed() === null || parsed() > BigInt(hold.amount)) && `The amount must be 1 to ${number(hold.amount)}.`,
    verb: () => (isRelease ? `Release ${parsed() ?? '…'} to ${shown(uid)}` : `Give ${number(hold.amount)} back`),
    words: (reason) => (isRelease && parsed() !== BigInt(hold.amount) ? null
      : command(page, `ledger holds ${isRelease ? 'release' : 'void'}`, [hold.sequence], { reason })),
    ask: (reason) => ({ path: `ledger/holds/${hold.sequence}/${isRelease ? 'release' : 'void'}`, params: { ns: page.ns },
      body: isRelease ? { amount: parsed(), reason } : { reason } }),
    preview: async () => {
      const plan = await page.post('ledger/holds/preview', { action: isRelease ? 'release' : 'void', holds: [hold.sequence], amount: isRelease ? parsed() : undefined });
      return outcome(page, plan.balances, plan.refusals[0]);
    },
  });
}

function holdsTable(page, uid, holds) {
  return holds.length > 0 && [h('h3', 'What waits'), table({
    caption: 'Holds', rows: holds, columns: [
      num('Hold', (row) => to(page.url('rewards/entry', row.sequence), number(row.sequence))), num('Amount', (row) => coins(row.amount, row.unit)),
      when('Since', 'time'), col('Why', (row) => cause(page, row)), col('About', (row) => (row.subject ? playerLink(page, row.subject) : '—')),
      col('Do', (row) => h('span', { class: 'actions' },
        act(page, 'support', 'Release…', () => endHold(page, uid, row, true), { small: true }),
        act(page, 'support', 'Give back…', () => endHold(page, uid, row, false), { small: true, danger: true }))),
    ],
  })];
}

const FATES = { paid: 'done', unheard: 'none', suppressed: 'skipped', unwanted: 'skipped' };

/** The words of a command behind the program's name. */
const wordsOf = (text) => [...text.matchAll(/'((?:'\\''|[^'])*)'|\S+/g)].map(([whole, quoted]) => (quoted ?? whole).replaceAll("'\\''", "'")).slice(1);

/** What the command of a repair orders, as `change` takes it, and the role that it takes; null where a person must complete it. */
function repairOf(page, text) {
  const [verb, ...words] = wordsOf(text);
  const given = Object.fromEntries(words.flatMap((word, at) => (word.startsWith('--') ? [[word.slice(2), words[at + 1]?.startsWith('--') ?? true ? true : words[at + 1]]] : [])));
  const params = { ns: page.ns };
  if (verb === 'replay') {
    const order = { mode: given.gaps ? 'gaps' : 'all', function: given.function, event: given.event, uid: given.uid, suppressed: given.suppressed };
    return { role: 'support', ask: (reason) => ({ path: 'replays', params, body: { ...order, reason } }), preview: async () => {
      const { survey, coins: paid } = await page.post('replays/preview', { ...order, reason: 'preview' });
      return { blocked: survey.run === 0, node: [facts([['Would run', number(survey.run)], ['Done already', number(survey.alreadyDone)], ['Coins', amounts(paid)]]),
        survey.run === 0 && quiet('Nothing would run: it is done, or on its way.')] };
    } };
  }
  if (verb !== 'functions') return null;
  const path = `functions/${encodeURIComponent(words[1])}/${words[0]}`;
  if (words[0] === 'resume') return { role: 'support', reason: false, ask: () => ({ path }), preview: h('p', 'It goes on, with the events that waited.') };
  const [before, after] = [given.before, given.after].map((value) => (value === undefined ? undefined : parse(value)));
  return { role: 'admin', ask: (reason) => ({ path, params, body: { path: given.path, before, after, reason } }),
    preview: h('p', pathLink(page, given.path), ': ', inline(before), ' → ', inline(after), '. The function sees this change, and the tree as it is now.') };
}

function repairLine(page, text) {
  const { role, ...plan } = repairOf(page, text) ?? {};
  return h('p', { class: 'repair' }, code(text), copyIcon(text, 'Copy the repair command'), role && act(page, role, 'Repair…', () => change({
    title: 'Repair', verb: 'Repair', words: (reason) => text.replace(/TEXT$/, () => quote(reason)), then: page, ...plan }), { small: true }));
}

/** What a function made of the changes at one place. */
function story(page, given) {
  return h('section', { class: 'story' },
    h('p', functionLink(page, given.function), ` runs on ${shown(given.runsOn)} at `, pathLink(page, given.place), '. ',
      given.paused && badge('paused', `paused: ${given.pauseReason ?? ''}`)),
    given.changes.length === 0 ? quiet('Nothing was ever written there.') : h('ul', { class: 'lines' }, given.changes.map((item) => h('li',
      badge(FATES[item.fate] ?? item.fate, item.fate), ' ', shown(item.text), ' ', eventLink(page, item.event, 'event'),
      (item.entries ?? []).map((entry) => [' ', entryLink(page, entry.sequence)]),
      item.repair && repairLine(page, item.repair)))),
    !given.complete && quiet('There may be more: older changes are not shown or were pruned.'));
}

async function why(page, uid) {
  const [told, waiting] = await Promise.all([
    page.get('why', { uid, beforeEntry: page.query.get('before') }, { trees: ['before', 'after'] }),
    page.get('ledger/holds', { uid }),
  ]);
  if (!told.known && !told.erasure) return empty(told.lines[0] ?? `There is no player ${shown(uid)}.`, { name: 'Accounts', href: page.url('accounts') });
  return [
    told.erasure && h('p', badge('disabled', 'erased'), ` This player left: ${shown(told.erasure.reason)} (`, time(told.erasure.orderedAt), ').'),
    h('h3', 'On the account'), told.payments.length === 0 ? quiet('No coins moved on this account.')
      : h('ul', { class: 'lines' }, told.payments.map(({ entry, received, reversedBy, text }) => h('li',
        shown(text).replace(/ -(?=\d)/g, ' −'), ' ', entryLink(page, entry.sequence), ' ',
        entry.event && [eventLink(page, entry.event, 'event'), ' '],
        reversedBy ? ['reversed by ', entryLink(page, reversedBy)] : received && !entry.reverses && reverseButton(page, entry)))),
    pager(page, told.nextPayment && { before: told.nextPayment }, !page.query.get('before')),
    holdsTable(page, uid, waiting.holds), h('h3', 'What the functions say'), told.functions.map((item) => story(page, item)),
    told.spread.length > 0 && quiet(`Not looked at, for the places are spread over the tree: ${shown(told.spread.join(', '))}.`),
    told.mentions.length > 0 && h('h3', 'Players whose record names this one'),
    told.mentions.map((item) => h('div', h('p', playerLink(page, item.player), ' at ', pathLink(page, item.place)), item.functions.map((one) => story(page, one)))),
    !told.sawAllMentions && quiet('There are more; the referral tree shows them all.'),
    told.deadLetters.length > 0 && [h('h3', 'Given up on'), h('ul', { class: 'lines' }, told.deadLetters.map((item) => h('li', badge('dead'), ' ',
      functionLink(page, item.function), ' ', eventLink(page, item.event), ` ${number(item.attempts)} attempts: ${shown(item.lastError)}`)))],
  ];
}

/** What moved on a player's account. */
export async function statement(page, uid) {
  const account = `user:${uid}`;
  const before = page.query.get('before');
  const { entries, next } = await page.get('ledger/statement', { account, before, limit: 50 });
  return [table({
    caption: `Statement of ${uid}`, rows: entries, columns: [...entryColumns(page, account), {
      name: 'Do', cell: (row) => (row.reversedBy ? h('span', { class: 'cause' }, 'reversed by ', entryLink(page, row.reversedBy))
        : amountOn(row, account) > 0 && !row.reverses && reverseButton(page, row)),
    }].map((column) => ({ ...column, cell: (row) => column.cell(row) || '' })),
    empty: empty('No coins moved on this account. A reward, or a payment by an administrator, makes its first entry.'),
  }), pager(page, next && { before: next }, !before)];
}

const brought = (page, uid, params) => page.get(`referrals/${encodeURIComponent(uid)}`, { limit: 50, ...params });

/** The players below one, of an answer that goes levels deep; fifty at a time, what is not in it is asked for. */
function branch(page, uid, told) {
  const list = h('ul', { class: 'referrals' });
  const ask = (label, small, player, params, place) => button(label, async () => {
    const found = await brought(page, player, params);
    place(branch(page, player, found));
  }, { small: true, quiet: true, label: small });
  for (const row of told.referrals.filter((item) => item.by === uid)) {
    const item = h('li', playerLink(page, row.player), ' ', badge(row.state === 'paid' ? 'done' : row.state === 'held' ? 'waiting' : 'pending', row.state),
      row.signedUp && ' signed up', row.reached && ` · ${shown(told.goal.name)}`, row.since && [' · ', time(row.since)], ' ', Object.keys(row.coins).length > 0 && amounts(row.coins),
      Object.keys(row.held).length > 0 && [', held ', amounts(row.held)], Object.keys(row.reversed).length > 0 && [', reversed ', amounts(row.reversed)], ' ');
    if (row.shown > 0) item.append(branch(page, row.player, { ...told, next: null }));
    if (row.brought > row.shown) {
      const last = told.referrals.findLast((one) => one.by === row.player)?.player;
      const rest = ask(`${number(row.brought - row.shown)}${row.brought >= 1000 ? ' or more' : ''} ${row.shown > 0 ? 'more' : 'brought'}`, `Whom ${shown(row.player)} brought`,
        row.player, { depth: 1, cursor: last }, (made) => rest.replaceWith(made));
      item.append(rest);
    }
    list.append(item);
  }
  if (told.next) {
    const item = h('li', ask('50 more', undefined, uid, { cursor: told.next }, (made) => item.replaceWith(...made.childNodes)));
    list.append(item);
  }
  return list;
}

async function tree(page, uid) {
  const told = await brought(page, uid, { depth: 3 });
  const { claim } = await page.get('links/claims', { uid }).catch(() => ({}));
  return [h('h3', 'Who invited'), told.up.length === 0 ? quiet(`No record says that anybody invited ${shown(uid)}.`)
    : h('p', told.up.toReversed().map((player) => [playerLink(page, player), ' → ']), h('b', shown(uid))),
  claim && facts([['By', shown(claim.how)], ['Link', to(page.url('links', 'show', { link: claim.link }), shown(claim.link))], ['Inviter', playerLink(page, claim.inviter)],
    ['Claimed', time(claim.at)], ['Click', claim.clickedAt && [time(claim.clickedAt), ` on ${shown(claim.platform)}`]], ['Code', claim.code && shown(claim.code)]]),
  h('h3', `Whom ${shown(uid)} brought`), told.referrals.length > 0 ? branch(page, uid, told) : quiet('Nobody yet.'),
  h('p', to(page.url('links', null, { inviter: uid }), `Links of ${shown(uid)}, and what came of them`))];
}

const TABS = { why: ['Why', why], statement: ['Statement', statement], tree: ['Referral tree', tree] };

/** Draws the page. */
export async function mount(root, page) {
  const { uid } = page.params;
  const held = await balancesOf(page, uid).catch(() => []);
  const has = h('span', held.length === 0 ? 'no coins' : held.map((row, index) => [index > 0 && ', ', h('b', number(row.balance)), ` ${shown(row.unit)}`]));
  root.append(heading(shown(uid), {
    crumbs: [to(page.url('rewards'), 'Rewards')],
    sub: [has, ' · ', to(page.url('accounts', uid), 'account'), ' · ', to(page.url('data', `/users/${uid}`), 'record'), ' · ',
      to(page.url('events', null, { uid }), 'events')],
    actions: [act(page, 'admin', 'Pay…', () => move(page, uid, held, false)), act(page, 'admin', 'Hold…', () => move(page, uid, held, true)),
      copyButton([{ name: 'Player id', text: uid }, { name: 'Why, as command', text: command(page, 'why', [uid]) },
        { name: 'Statement, as command', text: command(page, 'ledger statement', [uid.includes(':') ? `user:${uid}` : uid]) },
        ...copies(null, 'GET', '/admin/v1/why', { ns: page.ns, uid })])],
  }));
  await tabbed(root, page, 'About the player', Object.entries(TABS).map(([id, [name]]) => ({ id, name })), (id, scope) => {
    const made = panel({ title: TABS[id][0], plain: true, load: () => TABS[id][1](scope, uid) });
    return id === 'tree' ? made : follow(scope, made);
  });
}
