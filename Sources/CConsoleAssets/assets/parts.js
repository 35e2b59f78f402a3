// What the pages of rewards, accounts, functions, rules and settings share: changes with a preview, tabs, pages of rows, entries.

import { cli, curl, del, patch, post } from './api.js';
import { append, clear, h, later, shown } from './dom.js';
import {
  button, check, choice, code, coins, col, copyButton, copyText, dialog, empty, entryLink, eventLink, field, functionLink, input, num,
  panel as plainPanel, tabs, to, toast,
} from './ui.js';
import { number, signed, time } from './time.js';

const ORDERS = { POST: post, PATCH: patch, DELETE: del };

/** A command of the program that can be pasted: command(page, 'ledger reverse', [2], {reason: 'season'}). */
export function command(page, words, args = [], options = {}) {
  const all = page.ns === page.session.namespace || options.ns === false ? options : { ...options, ns: page.ns };
  const named = Object.entries(all).flatMap(([name, value]) => [value].flat().flatMap((item) => {
    if (item === undefined || item === null || item === false || item === '') return [];
    if (item === true) return [`--${name}`];
    return String(item).startsWith('-') ? [`--${name}=${item}`] : [`--${name}`, item];
  }));
  const behind = args.some((word) => String(word).startsWith('-')) ? [...named, '--', ...args] : [...args, ...named];
  return cli(...words.split(' '), ...behind);
}

/** The two texts of a copy menu for a request: the command and curl. */
export const copies = (words, method, path, params, body) => [
  words && { name: 'Command', text: words }, { name: 'curl', text: () => curl(method, path, params, body) },
].filter(Boolean);

/** The copy menu of what a page shows: a command, and a request for a path below /admin/v1/. */
export const copying = (page, words, given, options, path, params) => copyButton(copies(command(page, words, given, options), 'GET', `/admin/v1/${path}`, params));

/** What a question has to copy: its command, `words()`, and the request that `order()` is, as curl; where there is no command, curl. */
export function copyRow(words, order) {
  const asCurl = async () => {
    const { method = 'POST', path, params, body = {} } = await order();
    return curl(method, `/admin/v1/${path}`, params, method === 'DELETE' && Object.keys(body).length === 0 ? undefined : body);
  };
  const copy = (label, text) => button(label, () => copyText(text).catch((error) => toast(error.message, { error: true })), { small: true, quiet: true, icon: 'copy' });
  return h('div', { class: 'row wrap' }, words && copy('Copy as command', async () => (await words()) ?? asCurl()), copy('Copy as curl', asCurl));
}

/**
 * Asks for a change with what it will do, then orders it: change({title, fields: Node, preview: Node or async () => Node, verb: text or () => text,
 * ask: (reason) => ({method, path, params, body}), words: (reason) => command, check: () => fault, reason, typed, danger, then: page}).
 * -> the answer, or null. The preview is read again when a field changes; the dialog stays open with the fault until it worked. With
 * `run: async (reason) => answer` in place of `ask` it waits for the preview; `then` is a page that is mounted again afterwards.
 */
export async function change({ title, fields, preview, verb, ask, run, words, check: fault, reason = true, typed, danger, wide, then }) {
  const opener = document.activeElement;
  const why = input({ maxlength: 500 });
  const name = input();
  const before = h('div', { class: 'preview', role: 'status' });
  const given = () => why.value.trim();
  const order = () => ask(given() || 'REASON');
  const body = h('div', fields, preview && before, reason && field('Reason, for the record', why),
    typed && field(['Type ', code(typed), ' to confirm'], name),
    ask && copyRow(words && (() => words(given() || 'REASON')), order));
  let answer = null;
  const isAsked = typeof preview === 'function';
  let blocked = Boolean(run) && isAsked;
  const text = () => (typeof verb === 'function' ? verb() : verb);
  const question = dialog({
    title, body, wide, actions: [{ name: 'Cancel', value: null }, {
      name: text(), primary: true, danger, run: async () => {
        const wrong = fault?.() || (reason && !given() && 'A reason is needed: it stands in the audit log.');
        if (reason && !given()) why.focus();
        if (wrong) throw new Error(wrong);
        if (run) return (answer = await run(given()) ?? {}) && true;
        const { method = 'POST', ...rest } = order();
        const { path, ...options } = rest;
        answer = await ORDERS[method](path, options) ?? {};
        return true;
      },
    }],
  });
  const [, go] = question.buttons;
  const judge = () => {
    go.textContent = text();
    go.disabled = blocked || (typed !== undefined && name.value !== typed);
  };
  let turn = 0;
  const look = async () => {
    const mine = (turn += 1);
    try {
      const content = fault?.() ? [] : await preview();
      if (mine !== turn) return;
      blocked = content?.blocked === true;
      append(clear(before), content?.node ?? content);
    } catch (error) {
      if (mine !== turn) return;
      if (run) blocked = false;
      clear(before).append(h('p', { class: 'field-fault' }, shown(error.message)));
    }
    judge();
  };
  const soon = later(300, look);
  body.addEventListener('input', (event) => {
    judge();
    if (isAsked && event.target !== why && event.target !== name) soon();
  });
  judge();
  if (isAsked) look();
  else append(before, preview);
  (body.querySelector('.input, input') ?? go).focus();
  await question.closed;
  // The button that asked can take the focus only once it is enabled again.
  setTimeout(() => document.activeElement === document.body && opener?.focus());
  if (answer && then) again(then);
  return answer;
}

/** This page's address with other parameters; null takes one away. */
export function link(page, changes) {
  const query = new URLSearchParams(page.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '' || value === false) query.delete(name);
    else query.set(name, value);
  }
  return location.pathname + (query.size > 0 ? `?${query}` : '');
}

/** A panel; where the namespace does not exist yet it says so, as an empty state. */
export const panel = (options) => plainPanel({
  ...options, load: (signal) => options.load(signal).catch((error) => {
    if (error.status === 404 && /no database/.test(error.message)) return empty('Nothing was written in this namespace yet. It appears with the first write.');
    throw error;
  }),
});

/** A panel: section(page, 'Ledger', async (signal) => …). */
export const section = (page, title, load) => panel({ title, signal: page.signal, load });
/** The same of a table. */
export const listing = (page, title, load) => panel({ title, plain: true, signal: page.signal, load });

/** A panel whose window is read again when commits came, unless somebody is in it. */
export function follow(page, made) {
  page.live?.refetch(async () => {
    if (!made.body.contains(document.activeElement) && !made.body.matches(':hover')) await made.reload(true);
  }, { signal: page.signal, gap: 1000 });
  return made;
}

/** "Older" and "Newest" below a page of rows; `older` are the parameters of the next one, `key` is the one that leads to it. */
export const pager = (page, older, isFirst, names = ['Older', 'Newest'], key = 'before') => (older || !isFirst) && h('p', { class: 'row wrap pager' },
  !isFirst && h('a', { class: 'button small', href: link(page, { before: null, after: null, [key]: null }) }, names[1]), older && h('a', { class: 'button small', href: link(page, older) }, names[0]));

/** "First" and "More" below a page of rows that goes on at a cursor, which stands in the URL by its name. */
export const cursorPager = (page, next, [more, first] = ['More', 'First'], name = 'cursor') => pager(page, next && { [name]: next }, !page.query.get(name), [more, first], name);

/** Mounts the page once more, as after a change. */
export function again(page) {
  page.again();
  document.getElementById('main').focus({ preventScroll: true });
}

/** Tabs that stand in the URL; draw(id, page) gives a panel, whose page ends with the tab. */
export async function tabbed(root, page, label, items, draw) {
  const [{ id: fallback }] = items;
  let open = null;
  const show = async () => {
    open?.abort();
    const mine = open = new AbortController();
    const asked = page.query.get('tab');
    const id = items.some((item) => item.id === asked) ? asked : fallback;
    const made = draw(id, Object.create(page, { signal: { value: mine.signal } }));
    group.select(id);
    group.panel.replaceChildren(...[made].flat().map((item) => item.element ?? item));
    await Promise.all([made].flat().map((item) => item.first));
  };
  const group = tabs({
    label, items, current: fallback, change: (id) => {
      page.setQuery({ ...Object.fromEntries([...page.query.keys()].map((name) => [name, null])), tab: id === fallback ? null : id });
      show();
    },
  });
  page.signal.addEventListener('abort', () => open?.abort(), { once: true });
  page.changed = show;
  group.panel.classList.add('stack');
  root.append(group.element, group.panel);
  await show();
}

/** Ways to look so many days back, as they stand in the URL. */
export const spans = (page, all, days) => h('p', { class: 'row wrap' }, all.map((count) => h('a', {
  class: 'chip', href: link(page, { days: count }), aria: { current: count === days ? 'true' : null } }, `${count} days`)));

/** Amounts by unit: +50 pieces_of_eight, +2 gems. */
export const amounts = (byUnit) => {
  const units = Object.entries(byUnit ?? {});
  return units.length === 0 ? h('span', { class: 'muted' }, '0') : units.map(([unit, amount], index) => [index > 0 && ', ', coins(amount, unit)]);
};

/** An account of the ledger as a link: the player, or the account's entries; an entry without one is broken, and its cell says so. */
export function accountLink(page, account) {
  if (typeof account !== 'string') throw new TypeError('no account');
  const [, , name] = /^(user|hold):(.+)$/s.exec(account) ?? [];
  return h('a', { href: name ? page.url('rewards/u', name) : page.url('rewards/entries', null, { account }) }, shown(account));
}

/** What caused an entry: the event, the function, the entry that it reverses, the reason. */
export const cause = (page, entry) => h('span', { class: 'cause' }, [
  entry.function && functionLink(page, entry.function), entry.event && eventLink(page, entry.event),
  entry.reverses && ['reverses ', entryLink(page, entry.reverses)], entry.reason && h('span', shown(entry.reason)),
].filter(Boolean).map((part, index) => [index > 0 && ' · ', part]));

/** What an entry does to an account: minus where it gives. */
export const amountOn = (entry, account) => (entry.credit === account ? entry.amount : -entry.amount);

/** Columns of entries: of an account's statement, or of the whole ledger. */
export const entryColumns = (page, account) => [
  num('Entry', (row) => to(page.url('rewards/entry', row.sequence), number(row.sequence))), col('Time', (row) => time(row.time, 'moment')),
  num('Amount', (row) => coins(account ? amountOn(row, account) : row.amount, row.unit)),
  account && num('Balance', (row) => number(row.credit === account ? row.creditAfter : row.debitAfter)),
  col('Code', (row) => row.code),
  account && col('Other side', (row) => accountLink(page, row.credit === account ? row.debit : row.credit)),
  !account && col('From', (row) => accountLink(page, row.debit)),
  !account && col('To', (row) => accountLink(page, row.credit)),
  col('Cause', (row) => cause(page, row), true),
].filter(Boolean);

/** Balances before and after, one line each. */
export const balances = (page, rows) => h('ul', { class: 'lines' }, rows.map((row) => h('li', accountLink(page, row.account), ' ',
  number(row.before), ' → ', h('b', number(row.after)), h('span', { class: 'unit' }, ` ${shown(row.unit)}`))));

const short = (account) => account.replace(/^user:/, '');

/** Takes an entry back, after its preview; tells and gives the answer, or null. */
export async function reverse(page, entry) {
  const refuse = check('Refuse if the coins were spent (else the balance may go below zero)', { checked: true });
  const policy = () => (refuse.querySelector('input').checked ? 'refuse' : 'allowNegative');
  const body = (reason) => ({ sequence: entry.sequence, reason, policy: policy() });
  const answer = await change({
    title: `Reverse entry ${number(entry.sequence)}`, danger: true, fields: refuse,
    verb: `Reverse ${number(entry.amount)} from ${shown(short(entry.credit))}`,
    words: (reason) => command(page, 'ledger reverse', [entry.sequence], { reason, 'if-spent': policy() }),
    ask: (reason) => ({ path: 'ledger/reverse', params: { ns: page.ns }, body: body(reason) }),
    preview: async () => {
      const plan = await post('ledger/reverse/preview', { params: { ns: page.ns }, body: body('preview') });
      if (plan.reversedBy) return { blocked: true, node: h('p', 'It is reversed already, by ', entryLink(page, plan.reversedBy), '.') };
      const refused = plan.spent && policy() === 'refuse';
      return { blocked: refused, node: [balances(page, plan.balances), h('p', !plan.spent ? 'Not spent.'
        : refused ? 'The coins were spent: this would be refused.' : 'The coins were spent: the balance goes below zero.')] };
    },
  });
  if (answer) toast(`Entry ${number(answer.entry.sequence)}: ${signed(-entry.amount)} ${entry.unit} on ${short(entry.credit)}.${answer.repeated ? ' It was done before.' : ''}`);
  return answer;
}

/** A form whose fields stand in the URL: on submit it goes where values() says, an address or parameters. */
export function queryForm(page, label, fields, values, go = 'Show') {
  return h('form', {
    class: 'toolbar', role: 'search', aria: { label }, on: {
      submit: (event) => {
        event.preventDefault();
        const to = values();
        page.go(typeof to === 'string' ? to : link(page, to));
      },
    },
  }, fields, button(go, undefined, { type: 'submit' }));
}

/**
 * Filters that stand in the URL: filters(page, 'Filter', {q: ['Text', 'placeholder', props], state: ['State', [choices]]}, 'Find', extra);
 * members of `extra` are nodes, or values, beside them, by the parameter that their `value` is. -> the form
 */
export function filters(page, label, fields, go = 'Filter', extra = {}) {
  const asked = (id) => page.query.get(id) ?? '';
  const made = Object.entries(fields).map(([id, [name, how = '', props]]) => {
    const control = Array.isArray(how) ? choice(how, asked(id)) : input({ value: asked(id), placeholder: how, ...props });
    return [id, control, field(name, control)];
  });
  return queryForm(page, label, [made.map(([, , element]) => element), Object.values(extra).filter((item) => item instanceof Node)], () => ({
    cursor: null, before: null, after: null, tab: null, ...Object.fromEntries([...made, ...Object.entries(extra)].map(([id, control]) => [id, control.value.trim()])) }), go);
}

/** Saves a text as a file. */
export function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const csvCell = (value) => {
  const text = String(value ?? '');
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};

/** Saves rows of cells as a CSV file; what a spreadsheet would take for a formula is text. */
export const saveTable = (name, rows) => save(name, `${rows.map((row) => row.map(csvCell).join(',')).join('\r\n')}\r\n`, 'text/csv');
