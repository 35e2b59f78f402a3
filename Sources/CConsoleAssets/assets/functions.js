// Functions: what there is, pause, resume, retry, run by hand.

import { commitDiff } from './diff.js';
import { append, clear, h, shown } from './dom.js';
import { parse } from './json.js';
import {
  act, area, badge, code, col, copyButton, empty, errorPanel, eventLink, facts, field, functionLink, heading, inline, input, num, pathLink,
  quiet, table, to, toast, when,
} from './ui.js';
import { number, span, time } from './time.js';
import { again, change, command, copies, copying, follow, link, listing, tabbed } from './parts.js';

const WINDOWS = ['1h', '6h', '24h'];

/** The page's title. */
export const title = ({ name }) => (name ? `${name} · Functions` : 'Functions');

/** Draws the page. */
export async function mount(root, page) {
  await (page.params.name ? mountOne : mountList)(root, page);
}

const list = async (page) => (await page.get('functions', {}, { trees: ['settings'] })).functions;
const path = (name, act) => `functions/${encodeURIComponent(name)}/${act}`;
const nanoseconds = (count) => (count ? span(Number(count) / 1e6) : '—');
const lately = ({ recent }) => (recent ? h('span', { class: 'row wrap' }, number(recent.runs), Object.entries(recent.outcomes).filter(([, count]) => count > 0)
  .map(([outcome, count]) => badge(outcome === 'repeated' ? 'skipped' : outcome, `${number(count)} ${outcome}`))) : '—');
const failures = (page, row, found, outcome) => (found ? h('a', { href: page.url('events', null, { outcome, function: row.name }) },
  badge(outcome, number(found.count))) : '0');

async function operate(page, name, kind) {
  const isPause = kind === 'pause';
  const told = { pause: 'A run that is going on is finished. Events wait from now on; nothing is lost.',
    resume: 'It goes on, with the events that waited.', retry: 'For when the cause is removed. What the function did already is not done twice.' }[kind];
  const verb = { pause: 'Pause', resume: 'Resume', retry: 'Retry the dead letters of' }[kind];
  const answer = await change({
    title: `${verb} ${shown(name)}`, verb: `${verb} ${shown(name)}`, reason: isPause, danger: isPause, preview: h('p', told),
    words: (reason) => command(page, `functions ${kind}`, [name], { reason: isPause && reason, ns: kind === 'retry' ? undefined : false }),
    ask: (reason) => ({ path: path(name, kind), params: kind === 'retry' ? { ns: page.ns } : {}, body: isPause ? { reason } : {} }),
  });
  if (!answer) return;
  toast(kind === 'retry' ? `${number(answer.retried)} dead letters of ${name} are tried again.` : isPause ? `${name} is paused; its events wait.` : `${name} goes on.`);
  again(page);
}

const controls = (page, row, small) => [
  act(page, 'support', row.paused ? 'Resume…' : 'Pause…', () => operate(page, row.name, row.paused ? 'resume' : 'pause'), { small }),
  row.deadLetters && act(page, 'support', 'Retry…', () => operate(page, row.name, 'retry'), { small }),
];

async function mountList(root, page) {
  root.append(heading('Functions', {
    sub: 'What runs when a path changes. They are Swift, built into the program.',
    actions: [copying(page, 'functions list', [], { ns: false }, 'functions')],
  }));
  const made = follow(page, listing(page, 'All functions', async () => table({
    caption: 'Functions', rows: await list(page), columns: [
      col('Name', (row) => functionLink(page, row.name)), col('Runs on', 'kinds'), col('Path', (row) => code(row.pattern)),
      col('State', (row) => (row.paused ? badge('paused') : row.pace ? badge('ok', 'listening') : badge('none', 'only remembered'))),
      num('Dead', (row) => failures(page, row, row.deadLetters, 'dead')), num('Retrying', (row) => failures(page, row, row.retries, 'waiting')),
      col('Runs, 24 h', lately, true), num('p50', (row) => nanoseconds(row.recent?.p50Nanoseconds)), num('p95', (row) => nanoseconds(row.recent?.p95Nanoseconds)), col('Do', (row) => h('span', { class: 'actions' }, controls(page, row, true))),
    ], empty: empty('This server runs no functions. They stand in Functions/ of the deployment; Examples/OwnGame shows some.'),
  })));
  root.append(made.element);
  await made.first;
}

const overview = (page, name) => follow(page, listing(page, 'State and settings', async () => {
  let found;
  try {
    found = await page.get(`functions/${encodeURIComponent(name)}`, { window: page.query.get('window') ?? '24h' }, { trees: ['value', 'default'] });
  } catch (error) {
    if (error.status !== 404) throw error;
    return empty('There is no such function.', { name: 'All functions', href: page.url('functions') });
  }
  const { function: row, runs, deliveries } = found;
  const count = (state, outcome = state) => to(page.url('events', null, { function: name, outcome }), badge(state, `${number(deliveries[state])}${deliveries.complete ? '' : ' or more'} ${state}`));
  const { oldestWaiting: oldest, lastError: last } = deliveries;
  return [h('div', { class: 'actions' }, controls(page, row)), facts([
    ['State', row.paused ? badge('paused', `paused: ${row.pauseReason ?? ''}`) : badge('ok', 'listening')], ['Changed', time(row.updatedAt)],
    ['Runs on', shown(row.kinds)], ['Path', code(row.pattern)],
    ['Events', h('span', { class: 'row wrap' }, count('waiting'), count('paused'), count('dead'))],
    ['Waits longest', oldest && [eventLink(page, oldest.event), ' since ', time(oldest.since)]],
    ['Last error', last && [eventLink(page, last.event), `: ${shown(last.error)}`]],
    ['Runs lately', row.recent && [lately(row), ' since ', time(row.recent.since), ' ', WINDOWS.map((name) => h('a', { class: 'chip', href: link(page, { window: name }), aria: { current: name === row.recent.window ? 'true' : null } }, name))]],
    ['Time of these', row.recent?.p50Nanoseconds && `half within ${nanoseconds(row.recent.p50Nanoseconds)}, 95 of 100 within ${nanoseconds(row.recent.p95Nanoseconds)}`],
    ['Runs since the start', runs && (Object.entries(runs.outcomes).map(([outcome, times]) => `${outcome} ${number(times)}`).join(', ') || 'none')],
    ['Time of a run', runs?.measured > 0 && `half within ${nanoseconds(runs.p50Nanoseconds)}, 95 of 100 within ${nanoseconds(runs.p95Nanoseconds)}, 99 within ${nanoseconds(runs.p99Nanoseconds)}, the slowest of ${number(runs.measured)} ${nanoseconds(runs.slowestNanoseconds)}`],
    ['Where', row.pace && `${row.pace.inline ? 'on the writer' : 'beside the writer'}; ${number(row.pace.inlineRuns)} runs on the writer`],
  ]), table({
    caption: 'Settings in force', rows: found.settings, empty: 'It has no settings.', columns: [
      col('Setting', (item) => code(item.name)), col('Value', (item) => inline(item.value)), col('Default', (item) => inline(item.default)),
      col('From', (item) => (item.overridden ? 'the configuration' : 'the program')),
    ],
  })];
}));

/** A JSON text as its value; nothing for an empty text. */
function valueOf(name, text) {
  if (text.trim() === '') return undefined;
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`${name} is no JSON: ${error.message} A text is written "like this".`);
  }
}

function invoke(page, name) {
  const { query } = page;
  const at = (key) => query.get(key) ?? '';
  const fields = { path: input({ value: at('path'), placeholder: '/users/bob/level' }), before: area({ rows: 2, placeholder: '4' }, at('before')),
    after: area({ rows: 2, placeholder: '5' }, at('after')), as: input({ value: at('as'), placeholder: 'user:bob' }) };
  const text = (key) => fields[key].value.trim();
  const result = h('div', { role: 'status' });
  const body = (reason) => ({ path: text('path'), before: valueOf('Before', text('before')), after: valueOf('After', text('after')), as: text('as') || undefined, reason });
  const run = async () => {
    page.setQuery(Object.fromEntries(Object.keys(fields).map((key) => [key, text(key)])), { replace: true });
    try {
      body();
    } catch (error) {
      return result.replaceChildren(errorPanel(error));
    }
    const answer = await change({
      title: `Run ${shown(name)} by hand`, verb: `Run ${shown(name)}`, danger: true,
      check: () => (!text('path') ? 'Say where the change is to have happened.' : !text('before') && !text('after') && 'Give what stood there before, or after, or both.'),
      preview: async () => [h('p', pathLink(page, text('path')), ': ', inline(valueOf('', text('before'))), ' → ', inline(valueOf('', text('after')))),
        h('p', 'The function sees this change and the tree as it is now; what it pays and writes is committed, once. A key that was paid before pays nothing.')],
      words: (reason) => command(page, 'functions invoke', [name], { path: text('path'), before: text('before'), after: text('after'), as: text('as'), reason }),
      ask: (reason) => ({ path: path(name, 'invoke'), params: { ns: page.ns }, body: body(reason) }),
    });
    if (!answer) return null;
    append(clear(result), [h('p', badge(answer.outcome), answer.reason && ` ${shown(answer.reason)}`, ' ', eventLink(page, answer.event)),
      h('p', answer.effect ? ['It committed ', to(page.url('commits', answer.effect), `r${answer.effect}`), ':'] : 'It changed nothing.'),
      answer.effect && await commitDiff(page, Number(answer.effect))]);
    return past.reload();
  };
  const past = listing(page, 'Run by hand before', async () => {
    const { invocations } = await page.get('invocations', { limit: 100 }, { trees: ['before', 'after'] });
    return table({
      caption: 'Invocations', rows: invocations.filter((row) => row.function === name), empty: 'Nobody ran it by hand lately.', columns: [
        when('Time', 'time'), col('Event', (row) => eventLink(page, row.event)), col('Before', (row) => inline(row.before, 40)), col('After', (row) => inline(row.after, 40)),
        col('As', 'as'), col('By', 'actor'), col('Reason', 'reason', true),
      ],
    });
  });
  return [{ element: h('form', { class: 'form', on: { submit: (event) => { event.preventDefault(); run(); } } },
    quiet('A change that never happened, for this function alone.'), field('Path', fields.path),
    h('div', { class: 'fields' }, field('Before, as JSON', fields.before, { help: 'Empty: a creation.' }), field('After, as JSON', fields.after, { help: 'Empty: a deletion.' })),
    field('As', fields.as, { help: 'Who is to have written: user:bob, anonymous.' }),
    h('div', { class: 'actions' }, act(page, 'admin', 'Run…', undefined, { type: 'submit', primary: true })), result) }, past];
}

async function mountOne(root, page) {
  const { name } = page.params;
  root.append(heading(shown(name), {
    crumbs: to(page.url('functions'), 'Functions'),
    sub: [to(page.url('events', null, { function: name }), 'its events'), ' · ',
      to(page.url('events', null, { function: name, outcome: 'dead' }), 'dead letters'), ' · ',
      to(page.url('replays/new', null, { function: name }), 'replay')],
    actions: [copyButton([{ name: 'Name', text: name }, ...copies(command(page, 'functions list', [], { ns: false }), 'GET', '/admin/v1/functions')])],
  }));
  await tabbed(root, page, 'About the function', [{ id: 'state', name: 'State' }, { id: 'invoke', name: 'Invoke by hand' }],
    (id, scope) => (id === 'state' ? overview : invoke)(scope, name));
}
