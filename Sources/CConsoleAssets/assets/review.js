// Rewards that wait for a person, looked through and ended many at a time; and tables of payments, each line once.

import { post } from './api.js';
import { h, shown } from './dom.js';
import {
  act, area, badge, button, check, code, coins, col, copyButton, empty, entryLink, facts, field, heading, note, num, playerLink, quiet,
  table, to, toast, when,
} from './ui.js';
import { counted, number, parseTime } from './time.js';
import { again, amounts, cause, change, command, copies, copying, cursorPager, filters, section } from './parts.js';
import { views } from './rewards.js';

const FILTERS = ['uid', 'unit', 'reason', 'until'];
const DEEDS = { release: ['Release', 'released'], void: ['Give back', 'given back'] };
const FILE_MAX = 4 << 20;

/** The page's title. */
export const title = ({ route }) => (route === 'rewards/review' ? 'Review' : 'Compensation');

/** Draws the page. */
export async function mount(root, page) {
  await (page.params.route === 'rewards/review' ? mountReview : mountCompensation)(root, page);
}

const notes = (rows, name) => rows.length > 0 && h('ul', { class: 'lines' }, rows.map((row) => h('li', badge('refused', `${name} ${row.hold ?? row.line}`), ' ', shown(row.error))));

function filterOf(page) {
  const filter = Object.fromEntries(FILTERS.map((name) => [name, page.query.get(name)]).filter(([, value]) => value));
  if (filter.until) filter.until = parseTime(filter.until) ?? undefined;
  return filter;
}

/** Ends holds: those given, or all that match the filter, a thousand at a time. What begins to wait meanwhile is left alone. */
async function end(page, action, holds, progress) {
  const [verb, done] = DEEDS[action];
  const matching = filterOf(page);
  const params = { ns: page.ns };
  const look = (more) => page.post('ledger/holds/preview', { action, ...(holds ? { holds } : { matching: { ...matching, ...more } }) });
  const order = (plan, reason) => ({ path: 'ledger/holds/end', params, body: { action, holds: plan?.holds ?? [], reason } });
  let plan = null;
  let reason = '';
  const { uid, unit, reason: why } = matching;
  const first = await change({
    title: `${verb} ${holds ? 'those chosen' : 'all that match'}`, danger: action === 'void',
    verb: () => `${verb} ${plan ? counted(plan.count, 'hold') : '…'}`,
    words: (text) => command(page, `ledger holds ${action}`, holds ?? [], { ...(holds ? {} : { all: true, uid, unit, why, until: page.query.get('until'), yes: true }), reason: text }),
    ask: (text) => {
      reason = text;
      return order(plan, text);
    },
    preview: async () => {
      plan = await look();
      return { blocked: plan.holds.length === 0, node: [facts([['Holds', number(plan.count)], ['Coins', amounts(plan.coins)],
        ['Would be refused', plan.refused > 0 && number(plan.refused)]]), h('p', action === 'release' ? 'Each goes to the player for whom it waits.' : 'Each goes back to where it came from; nobody is paid.'),
      notes(plan.refusals, 'hold'), plan.next && h('p', 'They end a thousand at a time; leaving the page stops after what is on its way.')] };
    },
  });
  if (!first) return;
  const all = { ended: first.ended.length, refusals: first.refusals };
  const { count, through } = plan;
  try {
    while (plan.next && !page.signal.aborted) {
      progress.textContent = `${number(all.ended)} of ${counted(count, 'hold')} ${done}…`;
      plan = await look({ after: plan.next, through });
      if (plan.holds.length === 0) break;
      const { path, ...options } = order(plan, reason);
      const part = await post(path, options);
      all.ended += part.ended.length;
      all.refusals.push(...part.refusals);
    }
  } catch (error) {
    if (!page.signal.aborted) toast(`After ${counted(all.ended, 'hold')}: ${error.message} Do it again for the rest: none ends twice.`, { error: true });
    return;
  }
  const refused = all.refusals.length > 0;
  toast(`${counted(all.ended, 'hold')} ${done}.${refused ? ` ${number(all.refusals.length)} refused: hold ${all.refusals[0].hold}: ${all.refusals[0].error}` : ''}`, { error: refused });
  again(page);
}

async function mountReview(root, page) {
  const ask = { ns: page.ns, ...filterOf(page), after: page.query.get('after'), limit: 100 };
  const chosen = new Set();
  const progress = h('p', { role: 'status' });
  const deeds = ['release', 'void'].map((action) => act(page, 'support', `${DEEDS[action][0]} chosen…`, () => end(page, action, [...chosen], progress), { danger: action === 'void' }));
  const wide = ['release', 'void'].map((action) => act(page, 'support', `${DEEDS[action][0]} all that match…`, () => end(page, action, null, progress), { danger: action === 'void' }));
  const judge = () => {
    for (const one of deeds) one.disabled = chosen.size === 0 || !page.needs('support');
  };
  judge();
  const list = section(page, 'What waits, oldest first', async () => {
    const { holds, count, next } = await page.get('ledger/holds', ask);
    for (const one of wide) one.hidden = count === 0;
    const boxes = [];
    const pick = (box, hold) => {
      chosen[box.checked ? 'add' : 'delete'](hold.sequence);
      judge();
    };
    const box = (hold) => {
      const made = h('input', { type: 'checkbox', aria: { label: `Choose hold ${hold.sequence}` }, on: { change: () => pick(made, hold) } });
      boxes.push([made, hold]);
      return h('label', { class: 'check' }, made);
    };
    const every = check(`All ${number(holds.length)} shown`, { on: {
      change: ({ target }) => {
        for (const [made, hold] of boxes) {
          made.checked = target.checked;
          pick(made, hold);
        }
      },
    } });
    return [h('p', `${counted(count, 'hold')}${FILTERS.some((name) => page.query.get(name)) ? ' match' : ''}.`), holds.length > 0 && every, table({
      caption: 'Holds', rows: holds, columns: [
        col('Choose', box), num('Hold', (row) => to(page.url('rewards/entry', row.sequence), number(row.sequence))),
        col('For', (row) => playerLink(page, row.credit.replace(/^hold:/, ''))), num('Amount', (row) => coins(row.amount, row.unit)),
        when('Since', 'time'), col('Why', (row) => cause(page, row), true), col('About', (row) => (row.subject ? playerLink(page, row.subject) : '—')),
      ],
      empty: empty('Nothing waits. A reward waits where its function\'s limits say that a person shall look at it.', FILTERS.some((name) => page.query.get(name)) && { name: 'Clear filters', href: page.url('rewards/review') }),
    }), cursorPager(page, next, ['Newer', 'Oldest'], 'after')];
  });
  root.append(heading('Review', {
    sub: 'Rewards that wait for a person: release them to their players, or give them back.',
    actions: [copying(page, 'ledger holds list', [], { uid: ask.uid, unit: ask.unit, why: ask.reason, until: page.query.get('until') }, 'ledger/holds', ask)],
  }), views(page, 'review'), filters(page, 'Filter of holds', {
    uid: ['Player', 'bob'], unit: ['Unit'], reason: ['Reason has', 'limit'], until: ['Made before', '2h, 2026-11-26 10:00'] }, 'Show'),
  h('div', { class: 'row wrap' }, deeds, wide), progress, list.element);
  await list.first;
}

const LINES = (page) => [num('Line', 'line'), col('Player', (row) => playerLink(page, row.account.replace(/^[^:]*:/, ''))),
  num('Amount', (row) => coins(row.amount, row.unit)), col('Key', (row) => code(row.key))];

function planOf(page, plan) {
  const part = (count, name, rows, columns) => count > 0 && [h('h3', `${name}: ${number(count)}`), table({ caption: name, rows, columns }),
    count > rows.length && quiet(`The first ${number(rows.length)} are shown.`)];
  return [facts([['Would be paid', h('span', { class: 'big' }, number(plan.pays))], ['Coins', amounts(plan.coins)], ['Paid before', number(plan.repeated)], ['Faults', number(plan.faultCount)]]),
    plan.faultCount > 0 && note('bad', 'Nothing is paid while a line is at fault.'),
    part(plan.faultCount, 'Faults', plan.faults, [num('Line', 'line'), col('Column', 'column'), col('What is wrong', (row) => shown(row.error), true)]),
    part(plan.unknown, 'Players without account and record', plan.unknownPlayers, LINES(page)),
    part(plan.pays, 'Payments', plan.payments, [...LINES(page), col('Reason', (row) => (row.reason ? shown(row.reason) : '—'), true)]),
    part(plan.repeated, 'Paid before', plan.repeats, [...LINES(page), col('By', (row) => entryLink(page, row.entry))])];
}

async function pay(page, csv, plan, result) {
  const strangers = plan.unknown > 0 && check(`Pay also the ${counted(plan.unknown, 'line')} of players without account and record`);
  const allowUnknown = () => (strangers && strangers.querySelector('input').checked) || undefined;
  const answer = await change({
    title: 'Pay this table', fields: strangers, verb: `Pay ${counted(plan.pays, 'line')}`,
    check: () => plan.unknown > 0 && !allowUnknown() && 'Some players are not known: take them out of the table, or say that they are paid too.',
    words: (reason) => command(page, 'ledger compensate', ['FILE'], { reason, 'allow-unknown': allowUnknown() }),
    ask: (reason) => ({ path: 'ledger/compensation', params: { ns: page.ns }, body: { csv, reason, allowUnknown: allowUnknown() } }),
    preview: async () => [h('p', counted(plan.pays, 'line'), ' from ', h('code', 'issuance:compensation'), ': ', amounts(plan.coins)), h('p', 'Should it be cut off in the middle, pay again: no line is paid twice.')],
  });
  if (!answer) return;
  const said = answer.paid === 0 && answer.refused.length === 0 ? `Nothing was paid: ${counted(answer.repeated, 'line')} had been paid before.`
    : `${counted(answer.paid, 'line')} paid; ${number(answer.repeated)} had been paid before.`;
  toast(said, { error: answer.refused.length > 0 });
  result.replaceChildren(h('p', { class: `note ${answer.refused.length > 0 ? 'bad' : 'good'}` }, said, ' ', amounts(answer.coins)), notes(answer.refused, 'line') || '');
}

async function mountCompensation(root, page) {
  const file = h('input', { type: 'file', class: 'input', accept: '.csv,text/csv,text/plain' });
  const lines = area({ rows: 6, class: 'input mono', placeholder: 'account,amount,unit,key,reason\nbob,50,,outage-3/bob,' });
  const chosen = field('File', file, { help: 'UTF-8, at most 10,000 lines; the first names the columns: account, amount, key, perhaps unit and reason.' });
  const typed = field('Or the lines themselves', lines, { wide: true });
  const result = h('div', { class: 'stack', role: 'status' });
  const body = h('div', { class: 'stack' });
  const look = button('Preview', async () => {
    body.replaceChildren();
    const csv = lines.value;
    typed.fault(csv.trim() ? '' : 'Choose a file, or write the lines.');
    if (!csv.trim()) return;
    const made = section(page, 'What it would do', async () => {
      const plan = await page.post('ledger/compensation/preview', { csv });
      const go = act(page, 'admin', `Pay ${counted(plan.pays, 'line')}…`, async () => {
        await pay(page, csv, plan, result);
        await made.reload();
      }, { primary: true });
      go.hidden = plan.faultCount > 0 || plan.pays === 0;
      return [h('p', go), plan.pays === 0 && plan.repeated > 0 && note('good', 'Every line was paid before: nothing is paid again.'), planOf(page, plan)].flat(9).filter(Boolean);
    });
    body.append(made.element);
    await made.first;
  }, { primary: true });
  file.addEventListener('change', async () => {
    const [given] = file.files;
    if (!given) return;
    try {
      if (given.size > FILE_MAX) throw new RangeError('larger than 4 MiB: cut it in parts');
      lines.value = new TextDecoder('utf-8', { fatal: true }).decode(await given.arrayBuffer());
      chosen.fault('');
    } catch (error) {
      chosen.fault(error instanceof RangeError ? `The file is ${error.message}.` : 'The file is no text in UTF-8.');
      return;
    }
    look.click();
  });
  root.append(heading('Compensation', {
    sub: 'Players who are owed something, as a table. Each line is paid once, by its key.',
    actions: [copyButton(copies(command(page, 'ledger compensate', ['FILE'], { 'dry-run': true }), 'POST', '/admin/v1/ledger/compensation/preview', { ns: page.ns }, { csv: 'account,amount,unit,key,reason\nbob,50,,outage-3/bob,' }))],
  }), views(page, 'compensation'), h('div', { class: 'form' }, chosen, typed, h('div', { class: 'row wrap' }, look)), result, body);
}
