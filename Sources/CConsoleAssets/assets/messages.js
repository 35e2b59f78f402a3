// Messages: campaigns of in-app messages, devices, events that wait, settings; a campaign with its preview, tests, reasons and results.
// The form is in messageform.js.

import { append, clear, h, shown } from './dom.js';
import {
  act, badge, button, choice, code, col, copyButton, copyIcon, empty, facts, field, guard, heading, input, jsonView, num, playerLink,
  quiet, table, to, toast, when,
} from './ui.js';
import { number, time } from './time.js';
import { change, command, copies, cursorPager, filters, listing, saveTable, section, spans, tabbed } from './parts.js';

/** The page's title. */
export const title = ({ view }) => ({ show: 'Campaign', new: 'New campaign', edit: 'Edit campaign' }[view] ?? 'Messages');

const word = (row) => (row.ended ? 'ended' : row.state);
const state = (row) => badge({ draft: 'pending', published: 'ok', stopped: 'disabled', deleted: 'cancelled', ended: 'skipped' }[word(row)], word(row));
const NO_DEVICE = 'No app has fetched messages yet. Start one that is connected to this server.';
const showing = (page, id) => page.url('messages', 'show', { id });
const words = (page, verb, args, options) => command(page, `messages ${verb}`, args, { ...options, ns: false });
const moments = { launch: 'when the app starts', foreground: 'when the app comes to the foreground' };

function campaigns(page) {
  const given = { state: page.query.get('state'), q: page.query.get('q') };
  const made = listing(page, 'Campaigns', async () => {
    const { campaigns: rows, next } = await page.get('messages', { ...given, limit: 50, cursor: page.query.get('cursor') });
    return [table({
      caption: 'In the order in which they are shown', rows, columns: [
        col('Campaign', (row) => to(showing(page, row.id), shown(row.name)), true), col('State', state), col('Layout', 'layout'),
        col('Appears on', (row) => row.triggers.join(', '), true), num('Priority', 'priority'),
        col('Published', (row) => (row.publishedAt ? time(row.publishedAt) : '')), col('Id', 'id')],
      empty: given.state || given.q ? empty('No campaign is like this.', { name: 'Clear filters', href: page.url('messages') })
        : empty('No campaign yet. One says what is shown, when, to whom and how often, without a line of code.', { name: 'New campaign', href: page.url('messages', 'new') }),
    }), cursorPager(page, next)];
  });
  return [{ element: filters(page, 'Filter', { state: ['State', [['', 'all'], 'draft', 'published', 'stopped']], q: ['Text', 'summer'] }) }, made];
}

const player = (page) => page.query.get('uid') || undefined;
const ofPlayer = (page, tab) => ({ element: filters(page, 'Of a player', { uid: ['Player', 'alice'] }, 'Show', { tab: { value: tab } }) });

async function forget(page, { instance }) {
  await change({ then: page,
    title: `Forget ${shown(instance)}`, verb: 'Forget the device', danger: true, fields: h('p', 'What it has seen is forgotten, too: it may see the same campaigns again.'),
    words: (reason) => words(page, 'devices', [], { forget: instance, reason }),
    ask: (reason) => ({ method: 'DELETE', path: `messages/devices/${encodeURIComponent(instance)}`, params: { reason } }),
  });
}

const devices = (page) => [ofPlayer(page, 'devices'), listing(page, 'Devices', async () => table({
  caption: 'The last fetch first', rows: (await page.get('messages/devices', { uid: player(page), limit: 50 })).devices, columns: [
    col('Device', (row) => code(row.instance)), col('App', (row) => shown(`${row.platform} ${row.appVersion}`), true), col('Language', (row) => shown(row.language)),
    col('Player', (row) => (row.uid ? playerLink(page, row.uid) : '')), when('First seen', 'firstSeen'), when('Last fetch', 'lastSeen'),
    num('Visits', 'sessions'), col('Do', (row) => act(page, 'admin', 'Forget…', () => forget(page, row), { small: true })),
  ], empty: NO_DEVICE,
}))];

const events = (page) => [ofPlayer(page, 'events'), listing(page, 'Events', async () => (!player(page) ? empty('What happened to a player and waits for a message, or was shown by one.') : table({
  caption: 'The oldest first', rows: (await page.get('messages/events', { uid: player(page) }, { trees: ['params'] })).events, columns: [
    col('Event', (row) => shown(row.name)), col('Values', (row) => jsonView(row.params), true), when('Time', 'at'),
    col('State', (row) => (row.shownAt ? badge('done', 'shown') : badge('waiting'))), col('Campaign', (row) => row.campaign && to(showing(page, row.campaign), shown(row.campaign))),
    col('Waits until', (row) => (row.shownAt ? '' : time(row.expires))),
  ], empty: 'No event waits, and none was shown. One is kept only where a published campaign waits for it.',
})))];

const settings = (page) => listing(page, 'Settings of messages', async () => [
  facts(Object.entries(await page.get('messages/settings')).map(([name, value]) => [name, shown([value].flat().join(', ')) || 'none'])),
  quiet('They are changed by ', h('code', 'doubloon messages settings FILE'), '.')]);

const LISTS = { campaigns, devices, events, settings };

const trigger = (item) => (item.on ? moments[item.on] ?? item.on : item.server ? ['the server\'s event ', code(item.server), copyIcon(item.server, 'Copy event id')]
  : ['the app\'s event ', code(item.event ?? '?'), copyIcon(String(item.event), 'Copy event id')]);

const list = (items) => h('ul', { class: 'lines' }, items.map((item) => h('li', item)));
const has = (value) => value !== undefined && value !== null && Object.keys(value).length > 0;
const part = (value) => (has(value) ? jsonView(value, { open: 3 }) : null);

function said(one) {
  const { start, end, timeZone } = one.schedule ?? {};
  return facts([
    ['State', state(one)], ['Layout', one.layout], ['Appears', list((one.triggers ?? []).map((item) => [trigger(item), has(item.where) && [' where ', code(JSON.stringify(item.where))]]))],
    ['From', start ? shown(start) : 'its publication'], ['Until', end ? shown(end) : 'it is stopped'], ['In the time of', shown(timeZone ?? 'the device')],
    ['Priority', number(one.priority ?? 5)], ['For', part(one.audience) ?? 'everybody'], ['How often', part(one.frequency) ?? 'once a device'],
    ['Custom data', part(one.data) ?? 'none'], ['Conversion', part(one.conversion) ?? 'none'], ['Variants', part(one.variants)],
    ['Test devices', has(one.testDevices) && list(one.testDevices.map((id) => code(id)))],
    ['Made', time(one.createdAt)], ['Published', one.publishedAt && time(one.publishedAt)], ['Stopped', one.stoppedAt && time(one.stoppedAt)], ['Last changed by', one.by && shown(one.by)], ['Version', number(one.version)],
  ]);
}

/** What the document says, without what the server adds. */
export function written(one) {
  const { version, state: _, ended, createdAt, publishedAt, stoppedAt, deletedAt, by, warnings, ...document } = one;
  return document;
}

/** Faults or doubts as notes. */
export const notes = (items, tone = 'warn') => items.map((item) => h('p', { class: `note ${tone}` }, item.path && code(item.path), ' ', shown(item.message), ' ', code(item.code)));

const STEPS = {
  publish: ['Publish', 'publish', 'From now on it is shown to those whom it is for. It does not change any more: it can be stopped, and duplicated.'],
  stop: ['Stop', 'stop', 'It is shown to nobody any more, for good. A duplicate of it can be published.'],
};

async function step(page, one, verb) {
  const [name, path, says] = STEPS[verb];
  await change({ then: page,
    title: `${name} ${shown(one.name)}`, verb: `${name} ${shown(one.id)}`, danger: verb === 'stop',
    preview: async () => {
      if (verb === 'stop') return h('p', says);
      const told = await page.post('messages/check', written(one));
      return { blocked: !told.sound, node: [h('p', says), list(one.triggers.map(trigger)), h('p', 'For ', has(one.audience) ? code(JSON.stringify(one.audience)) : 'everybody', '.'),
        notes(told.faults, 'bad'), notes(told.warnings)] };
    },
    words: (reason) => words(page, verb, [one.id], { 'if-version': one.version, reason }),
    ask: (reason) => ({ path: `messages/${one.id}/${path}`, body: { version: one.version, reason } }),
  });
}

async function duplicate(page, one) {
  const id = input({ placeholder: `${one.id}-b`, maxlength: 64 });
  const answer = await change({
    title: `Duplicate ${shown(one.name)}`, verb: 'Duplicate', reason: false, fields: field('Id of the copy', id, { help: 'Without one the server makes it.' }),
    words: () => words(page, 'duplicate', [one.id], { as: id.value.trim() }),
    ask: () => ({ path: `messages/${one.id}/duplicate`, body: { id: id.value.trim() || undefined } }),
  });
  if (answer) page.go(showing(page, answer.id));
}

async function remove(page, one) {
  const answer = await change({
    title: `Delete ${shown(one.name)}`, verb: `Delete ${shown(one.id)}`, danger: true, typed: one.id,
    preview: h('p', 'It is shown to nobody any more. What was counted stays; its id is never used again.'),
    words: (reason) => words(page, 'delete', [one.id], { 'if-version': one.version, reason }),
    ask: (reason) => ({ method: 'DELETE', path: `messages/${one.id}`, params: { version: one.version, reason } }),
  });
  if (answer) page.go('messages');
}

const deviceName = (row) => [row.platform, row.appVersion, row.language, row.uid].filter(Boolean).map(shown).join(', ') || 'unknown';

const trying = (page, one) => section(page, 'On your own device', async () => {
  const { devices } = await page.get('messages/devices', { limit: 50 });
  if (devices.length === 0) return empty(NO_DEVICE);
  const device = choice(devices.map((row) => [row.instance, `${row.instance.slice(0, 8)}… ${deviceName(row)}`]), devices[0].instance);
  const variant = has(one.variants) && choice([['', 'by chance'], ...one.variants.map((item) => item.name)], '');
  const order = () => ({ devices: [device.value], variant: variant?.value || undefined });
  const go = button('Show it there', async () => {
    try {
      await page.post(`messages/${one.id}/test`, order());
      toast('It appears there once: now if the app is open, else at its next fetch.');
    } catch (error) {
      toast(shown(error.message), { error: true });
    }
  });
  return h('div', { class: 'fields' }, field('Device, the last fetch first', device), variant && field('Variant', variant), h('div', { class: 'row wrap' }, guard(go, page, 'support'),
    copyButton([{ name: 'Command', text: () => words(page, 'test', [one.id], { device: device.value, variant: variant?.value }) }])));
});

function reasons(page, one) {
  const who = input({ placeholder: 'alice, or a device', value: page.query.get('who') ?? '' });
  const kind = choice([['uid', 'Player'], ['instance', 'Device']], page.query.get('as') ?? 'uid');
  const answer = h('div', { role: 'status' });
  const look = async () => {
    const name = who.value.trim();
    page.setQuery({ who: name, as: kind.value === 'uid' ? null : kind.value }, { replace: true });
    if (!name) return;
    try {
      const told = await page.post(`messages/${one.id}/explain`, { [kind.value]: name });
      append(clear(answer), h('p', { class: `note ${told.eligible ? 'good' : 'warn'}` }, told.eligible ? 'The next fetch brings it.' : ['It is not shown: ', code(told.failed), ' fails.']), table({
        caption: 'Conditions', rows: told.conditions, columns: [col('Condition', 'name'), col('Holds', (row) => (row.holds ? badge('ok', 'yes') : badge('failed', 'no'))),
          col('Found', (row) => (typeof row.value === 'object' && row.value ? jsonView(row.value) : shown(String(row.value))), true)] }));
    } catch (error) {
      append(clear(answer), h('p', { class: 'field-fault' }, shown(error.message)));
    }
  };
  const made = section(page, 'Who gets it', async () => {
    if (who.value) await look();
    return [h('form', { class: 'toolbar', aria: { label: 'Explain' }, on: { submit: (event) => { event.preventDefault(); look(); } } }, field('Of', kind), field('Name', who), button('Explain', undefined, { type: 'submit' }),
      copyButton([{ name: 'Command', text: () => words(page, 'explain', [one.id], { [kind.value === 'uid' ? 'player' : 'device']: who.value.trim() }) }])), answer];
  });
  return made;
}

const CSV = ['day', 'variant', 'kind', 'detail', 'count'];
const rate = (value) => value !== undefined && `${(100 * Number(value)).toFixed(1)} %`;

const results = (page, one) => section(page, 'What came of it', async () => {
  const days = Number(page.query.get('days')) || 7;
  const told = await page.get(`messages/${one.id}/stats`, { days });
  return [h('div', { class: 'row wrap' }, spans(page, [7, 30, 400], days), told.days.length > 0 && button('Save as CSV', () => saveTable(`${one.id}.csv`, [CSV, ...told.days.map((row) => CSV.map((name) => row[name]))]), { small: true })),
  table({ caption: 'In all', rows: told.totals, empty: 'Nothing was counted yet.', columns: [col('What', 'kind'), col('Variant', 'variant'), col('Detail', 'detail', true), num('Count', 'count')] }),
  told.rates.length > 0 && table({ caption: 'Clicks of impressions', rows: told.rates, columns: [col('Variant', (row) => row.variant || 'all'), num('Impressions', 'impressions'), num('Clicks', 'clicks'),
    num('Rate', (row) => rate(row.rate)), num('95 % between', (row) => row.rate !== undefined && `${rate(row.low)} and ${rate(row.high)}`),
    num('Conversions', 'conversions'), num('Rate', (row) => rate(row.conversionRate)), num('95 % between', (row) => row.conversionRate !== undefined && `${rate(row.conversionLow)} and ${rate(row.conversionHigh)}`)] }),
  told.days.length > 0 && table({ caption: 'By day (UTC)', rows: told.days, columns: [col('Day', 'day'), col('What', 'kind'), col('Variant', 'variant'), col('Detail', 'detail', true), num('Count', 'count')] })];
});

async function mountOne(root, page) {
  const id = page.query.get('id') ?? '';
  const one = await page.get(`messages/${encodeURIComponent(id)}`);
  const { previewPanel } = await import('./messageform.js');
  const isDraft = one.state === 'draft';
  root.append(heading(shown(one.name), {
    crumbs: to(page.url('messages'), 'Messages'), sub: code(one.id), actions: [
      isDraft && act(page, 'admin', 'Publish…', () => step(page, one, 'publish'), { primary: true }),
      one.state === 'published' && act(page, 'admin', 'Stop…', () => step(page, one, 'stop')),
      ['draft', 'published'].includes(one.state) && act(page, 'admin', 'Edit…', () => page.go(page.url('messages', 'edit', { id }))),
      one.state !== 'deleted' && act(page, 'admin', 'Duplicate…', () => duplicate(page, one)),
      one.state !== 'deleted' && act(page, 'admin', 'Delete…', () => remove(page, one)),
      copyButton([...copies(words(page, 'show', [id]), 'GET', `/admin/v1/messages/${id}`), { name: 'Document', text: () => JSON.stringify(written(one), null, 2) }])],
  }), ...notes(one.warnings), h('section', { class: 'panel', aria: { label: 'Campaign' } }, h('div', { class: 'panel-body' }, said(one))),
  h('div', { class: 'grid2' }, [...(one.state === 'deleted' ? [] : [previewPanel(page, () => one), trying(page, one), reasons(page, one)]), results(page, one)].map((item) => item.element)));
}

/** Draws the page. */
export async function mount(root, page) {
  const { view } = page.params;
  if (view === 'show') return mountOne(root, page);
  if (view) return (await import('./messageform.js')).mount(root, page);
  root.append(heading('Messages', {
    sub: 'What players see in the app: campaigns, without a line of code.', actions: [act(page, 'admin', 'New campaign', () => page.go(page.url('messages', 'new')), { primary: true }),
      copyButton(copies(words(page, 'list', []), 'GET', '/admin/v1/messages'))] }));
  return tabbed(root, page, 'Lists', Object.keys(LISTS).map((id) => ({ id, name: id[0].toUpperCase() + id.slice(1) })), (id, scope) => LISTS[id](scope));
}
