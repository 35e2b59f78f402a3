// The audit log: what administrators did and tried, refused or not; with filters and CSV.

import { get } from './api.js';
import { cut, h, shown } from './dom.js';
import { get as member, write } from './json.js';
import {
  actorLink, badge, button, check, choice, copyButton, empty, field, heading, input, jsonView, table, toast,
} from './ui.js';
import { number, parseTime, time } from './time.js';
import { col, command, copies, listing, pager, queryForm, saveTable } from './parts.js';

/** The page's title. */
export const title = () => 'Audit';

const FILTERS = ['action', 'except', 'actor', 'result'];

function wanted(page) {
  const all = Object.fromEntries([...FILTERS, 'before'].map((name) => [name, page.query.get(name)]));
  return { ...all, since: parseTime(page.query.get('since')), until: parseTime(page.query.get('until')) };
}

const read = (page, more, signal) => get('audits', { ...wanted(page), ...more }, { signal, trees: ['detail'] });
const reasonOf = (row) => member(row.detail, 'body', 'reason') ?? member(row.detail, 'reason') ?? '';

async function download(page) {
  const lines = [['id', 'time', 'actor', 'action', 'result', 'reason', 'detail']];
  let before;
  let isAll = false;
  for (let turn = 0; turn < 20 && !isAll; turn += 1) {
    const { actions, next, complete } = await read(page, { limit: 1000, before }, page.signal);
    for (const row of actions) lines.push([row.id, new Date(Number(row.time)).toISOString(), row.actor, row.action, row.result, reasonOf(row), write(row.detail)]);
    isAll = complete || !next;
    before = next;
  }
  saveTable('audit.csv', lines);
  toast(`${number(lines.length - 1)} records${isAll ? '' : ', the newest; narrow the filter for older ones'}.`);
}

function detail(row) {
  const box = h('details', h('summary', h('code', cut(shown(write(row.detail)), 60))));
  box.addEventListener('toggle', () => box.childElementCount === 1 && box.append(jsonView(row.detail)), { once: true });
  return box;
}

/** Draws the page. */
export async function mount(root, page) {
  root.classList.add('two-line');
  const asked = (name) => page.query.get(name) ?? '';
  const fields = {
    action: input({ value: asked('action'), placeholder: 'ledger.reverse' }), actor: input({ value: asked('actor'), placeholder: 'admin:ann' }),
    result: choice([['', 'all'], ['ok', 'done'], ['refused', 'refused']], asked('result')),
    since: input({ value: asked('since'), placeholder: '7d, or a date' }), until: input({ value: asked('until'), placeholder: 'now' }),
  };
  const noData = check('Without writes to the tree', { checked: asked('except') === 'data' });
  const query = { ...wanted(page), limit: 100 };
  root.append(heading('Audit', {
    sub: 'Every change that was ordered, by whom, and those that were refused.',
    actions: [button('CSV', () => download(page), { icon: 'download' }), copyButton(copies(
      command(page, 'audit list', [], { ...query, since: asked('since') || null, until: asked('until') || null, ns: false }), 'GET', '/admin/v1/audits', query))],
  }), queryForm(page, 'Filter of the audit log', [field('Action', fields.action), field('Actor', fields.actor), field('Result', fields.result),
    field('Since', fields.since), field('Until', fields.until), noData], () => ({
    ...Object.fromEntries(Object.entries(fields).map(([name, item]) => [name, item.value.trim()])),
    except: noData.querySelector('input').checked ? 'data' : '', before: null,
  }), 'Filter'));
  const made = listing(page, 'Records', async (signal) => {
    const { actions, next } = await read(page, { limit: 100 }, signal);
    const isFiltered = [...FILTERS, 'since', 'until'].some(asked);
    return [table({
      caption: 'Audit log', rows: actions, columns: [
        col('Time', (row) => time(row.time, 'moment')), col('Actor', (row) => actorLink(page, row.actor)),
        col('Action', (row) => h('code', shown(row.action))),
        col('Result', (row) => (row.result === 'ok' ? badge('ok') : [badge('refused'), ` ${shown(row.result)}`])),
        col('Reason', (row) => String(reasonOf(row)), true), col('Detail', detail, true),
      ], empty: isFiltered ? empty('No record matches.', { name: 'Clear filters', href: page.url('audit') })
        : empty('Nothing was ordered yet. Reads are not recorded; changes are, refused ones too.'),
    }), pager(page, next && { before: next }, !asked('before'))];
  });
  root.append(made.element);
  await made.first;
}
