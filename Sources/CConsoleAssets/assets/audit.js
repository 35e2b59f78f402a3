// The audit log: what administrators did and tried, refused or not; with filters and CSV.

import { cut, h, shown } from './dom.js';
import { get as member, write } from './json.js';
import { actorLink, badge, button, check, code, col, empty, heading, jsonView, table, toast, when } from './ui.js';
import { number, parseTime } from './time.js';
import { copying, filters, listing, pager, saveTable } from './parts.js';

/** The page's title. */
export const title = () => 'Audit';

const FILTERS = ['action', 'except', 'actor', 'result'];

function wanted(page) {
  const all = Object.fromEntries([...FILTERS, 'before'].map((name) => [name, page.query.get(name)]));
  return { ...all, since: parseTime(page.query.get('since')), until: parseTime(page.query.get('until')) };
}

const read = (page, more) => page.get('audits', { ...wanted(page), ...more }, { trees: ['detail'] });
const reasonOf = (row) => member(row.detail, 'body', 'reason') ?? member(row.detail, 'reason') ?? '';

async function download(page) {
  const lines = [['id', 'time', 'actor', 'action', 'result', 'reason', 'detail']];
  let before;
  let isAll = false;
  for (let turn = 0; turn < 20 && !isAll; turn += 1) {
    const { actions, next, complete } = await read(page, { limit: 1000, before });
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
  const asked = (name) => page.query.get(name) ?? '';
  const noData = check('Without writes to the tree', { checked: asked('except') === 'data' });
  Object.defineProperty(noData, 'value', { get: () => (noData.querySelector('input').checked ? 'data' : '') });
  const query = { ...wanted(page), limit: 100 };
  root.append(heading('Audit', {
    sub: 'Every change that was ordered, by whom, and those that were refused.',
    actions: [button('CSV', () => download(page), { icon: 'download' }), copying(page, 'audit list', [], { ...query, since: asked('since') || null, until: asked('until') || null, ns: false }, 'audits', query)],
  }), filters(page, 'Filter of the audit log', {
    action: ['Action', 'ledger.reverse'], actor: ['Actor', 'admin:ann'], result: ['Result', [['', 'all'], ['ok', 'done'], 'refused']],
    since: ['Since', '7d, or a date'], until: ['Until', 'now'],
  }, 'Filter', { except: noData }));
  const made = listing(page, 'Records', async () => {
    const { actions, next } = await read(page, { limit: 100 });
    const isFiltered = [...FILTERS, 'since', 'until'].some(asked);
    return [table({
      caption: 'Audit log', rows: actions, columns: [
        when('Time', 'time', 'moment'), col('Actor', (row) => actorLink(page, row.actor)), col('Action', (row) => code(row.action)),
        col('Result', (row) => (row.result === 'ok' ? badge('ok') : [badge('refused'), ` ${shown(row.result)}`])),
        col('Via', (row) => member(row.detail, 'via') ?? 'key'), col('Reason', (row) => String(reasonOf(row)), true), col('Detail', detail, true),
      ], empty: isFiltered ? empty('No record matches.', { name: 'Clear filters', href: page.url('audit') })
        : empty('Nothing was ordered yet. Reads are not recorded; changes are, refused ones too.'),
    }), pager(page, next && { before: next }, !asked('before'))];
  });
  root.append(made.element);
  await made.first;
}
