// Messages: campaigns of in-app messages, devices, events that wait, settings; a campaign with its preview, tests, reasons and results.
// The form is in messageform.js.

import { get, post } from './api.js';
import { append, clear, h, shown } from './dom.js';
import { badge, button, choice, copyButton, copyIcon, empty, facts, field, guard, heading, input, jsonView, playerLink, table, toast } from './ui.js';
import { number, time } from './time.js';
import { again, change, col, command, copies, cursorPager, listing, num, queryForm, quiet, saveTable, section, spans, tabbed, to } from './parts.js';

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
  const chosen = choice([['', 'all'], 'draft', 'published', 'stopped'], given.state ?? '');
  const text = input({ value: given.q ?? '', placeholder: 'summer' });
  const made = listing(page, 'Campaigns', async (signal) => {
    const { campaigns: rows, next } = await get('messages', { ...given, limit: 50, cursor: page.query.get('cursor') }, { signal });
    return [table({
      caption: 'In the order in which they are shown', rows, columns: [
        col('Campaign', (row) => to(showing(page, row.id), shown(row.name)), true), col('State', state), col('Layout', (row) => row.layout),
        col('Appears on', (row) => row.triggers.join(', '), true), num('Priority', (row) => number(row.priority)),
        col('Published', (row) => (row.publishedAt ? time(row.publishedAt) : '')), col('Id', (row) => row.id)],
      empty: given.state || given.q ? empty('No campaign is like this.', { name: 'Clear filters', href: page.url('messages') })
        : empty('No campaign yet. One says what is shown, when, to whom and how often, without a line of code.', { name: 'New campaign', href: page.url('messages', 'new') }),
    }), cursorPager(page, next)];
  });
  return [{ element: queryForm(page, 'Filter', [field('State', chosen), field('Text', text)], () => ({ cursor: null, state: chosen.value || null, q: text.value.trim() || null }), 'Filter') }, made];
}

/** Whose devices or events are looked for. */
const player = (page) => page.query.get('uid') || undefined;
const ofPlayer = (page) => {
  const uid = input({ value: player(page) ?? '', placeholder: 'alice' });
  return { element: queryForm(page, 'Of a player', [field('Player', uid)], () => ({ uid: uid.value.trim() })) };
};

async function forget(page, { instance }) {
  const answer = await change({
    title: `Forget ${shown(instance)}`, verb: 'Forget the device', danger: true, fields: h('p', 'What it has seen is forgotten, too: it may see the same campaigns again.'),
    words: (reason) => words(page, 'devices', [], { forget: instance, reason }),
    ask: (reason) => ({ method: 'DELETE', path: `messages/devices/${encodeURIComponent(instance)}`, params: { reason } }),
  });
  if (answer) again(page);
}

const devices = (page) => [ofPlayer(page), listing(page, 'Devices', async (signal) => table({
  caption: 'The last fetch first', rows: (await get('messages/devices', { uid: player(page), limit: 50 }, { signal })).devices, columns: [
    col('Device', (row) => h('code', shown(row.instance))), col('App', (row) => shown(`${row.platform} ${row.appVersion}`), true), col('Language', (row) => shown(row.language)),
    col('Player', (row) => (row.uid ? playerLink(page, row.uid) : '')), col('First seen', (row) => time(row.firstSeen)), col('Last fetch', (row) => time(row.lastSeen)),
    num('Visits', (row) => number(row.sessions)), col('Do', (row) => guard(button('Forget…', () => forget(page, row), { small: true }), page, 'admin')),
  ], empty: NO_DEVICE,
}))];

const events = (page) => [ofPlayer(page), listing(page, 'Events', async (signal) => (!player(page) ? empty('What happened to a player and waits for a message, or was shown by one.') : table({
  caption: 'The oldest first', rows: (await get('messages/events', { uid: player(page) }, { signal, trees: ['params'] })).events, columns: [
    col('Event', (row) => shown(row.name)), col('Values', (row) => jsonView(row.params), true), col('Time', (row) => time(row.at)),
    col('State', (row) => (row.shownAt ? badge('done', 'shown') : badge('waiting'))), col('Campaign', (row) => row.campaign && to(showing(page, row.campaign), shown(row.campaign))),
    col('Waits until', (row) => (row.shownAt ? '' : time(row.expires))),
  ], empty: 'No event waits, and none was shown. One is kept only where a published campaign waits for it.',
})))];

const settings = (page) => listing(page, 'Settings of messages', async (signal) => [
  facts(Object.entries(await get('messages/settings', {}, { signal })).map(([name, value]) => [name, shown([value].flat().join(', ')) || 'none'])),
  quiet('They are changed by ', h('code', 'doubloon messages settings FILE'), '.')]);

const LISTS = { campaigns, devices, events, settings };

/** Events by which campaigns appear. */
const trigger = (item) => (item.on ? moments[item.on] ?? item.on : item.server ? ['the server\'s event ', h('code', shown(item.server)), copyIcon(item.server, 'Copy event id')]
  : ['the app\'s event ', h('code', shown(item.event ?? '?')), copyIcon(String(item.event), 'Copy event id')]);

const list = (items) => h('ul', { class: 'lines' }, items.map((item) => h('li', item)));
const has = (value) => value !== undefined && value !== null && Object.keys(value).length > 0;
/** A part of a document, where there is one. */
const part = (value) => (has(value) ? jsonView(value, { open: 3 }) : null);

function said(one) {
  const { start, end, timeZone } = one.schedule ?? {};
  return facts([
    ['State', state(one)], ['Layout', one.layout], ['Appears', list((one.triggers ?? []).map((item) => [trigger(item), has(item.where) && [' where ', h('code', shown(JSON.stringify(item.where)))]]))],
    ['From', start ? shown(start) : 'its publication'], ['Until', end ? shown(end) : 'it is stopped'], ['In the time of', shown(timeZone ?? 'the device')],
    ['Priority', number(one.priority ?? 5)], ['For', part(one.audience) ?? 'everybody'], ['How often', part(one.frequency) ?? 'once a device'],
    ['Custom data', part(one.data) ?? 'none'], ['Conversion', part(one.conversion) ?? 'none'], ['Variants', part(one.variants)],
    ['Test devices', has(one.testDevices) && list(one.testDevices.map((id) => h('code', shown(id))))],
    ['Made', time(one.createdAt)], ['Published', one.publishedAt && time(one.publishedAt)], ['Stopped', one.stoppedAt && time(one.stoppedAt)], ['Last changed by', one.by && shown(one.by)], ['Version', number(one.version)],
  ]);
}

/** What the document says, without what the server adds. */
export function written(one) {
  const { version, state: _, ended, createdAt, publishedAt, stoppedAt, deletedAt, by, warnings, ...document } = one;
  return document;
}

/** Faults or doubts as notes. */
export const notes = (items, tone = 'warn') => items.map((item) => h('p', { class: `note ${tone}` }, item.path && h('code', shown(item.path)), ' ', shown(item.message), ' ', h('code', shown(item.code))));

const STEPS = {
  publish: ['Publish', 'publish', 'From now on it is shown to those whom it is for. It does not change any more: it can be stopped, and duplicated.'],
  stop: ['Stop', 'stop', 'It is shown to nobody any more, for good. A duplicate of it can be published.'],
};

async function step(page, one, verb) {
  const [name, path, says] = STEPS[verb];
  const answer = await change({
    title: `${name} ${shown(one.name)}`, verb: `${name} ${shown(one.id)}`, danger: verb === 'stop',
    preview: async () => {
      if (verb === 'stop') return h('p', says);
      const told = await post('messages/check', { body: written(one) });
      return { blocked: !told.sound, node: [h('p', says), list(one.triggers.map(trigger)), h('p', 'For ', has(one.audience) ? h('code', shown(JSON.stringify(one.audience))) : 'everybody', '.'),
        notes(told.faults, 'bad'), notes(told.warnings)] };
    },
    words: (reason) => words(page, verb, [one.id], { 'if-version': one.version, reason }),
    ask: (reason) => ({ path: `messages/${one.id}/${path}`, body: { version: one.version, reason } }),
  });
  if (answer) again(page);
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
    preview: async () => h('p', 'It is shown to nobody any more. What was counted stays; its id is never used again.'),
    words: (reason) => words(page, 'delete', [one.id], { 'if-version': one.version, reason }),
    ask: (reason) => ({ method: 'DELETE', path: `messages/${one.id}`, params: { version: one.version, reason } }),
  });
  if (answer) page.go('messages');
}

const deviceName = (row) => [row.platform, row.appVersion, row.language, row.uid].filter(Boolean).map(shown).join(', ') || 'unknown';

const trying = (page, one) => section(page, 'On your own device', async (signal) => {
  const { devices } = await get('messages/devices', { limit: 50 }, { signal });
  if (devices.length === 0) return empty(NO_DEVICE);
  const device = choice(devices.map((row) => [row.instance, `${row.instance.slice(0, 8)}… ${deviceName(row)}`]), devices[0].instance);
  const variant = has(one.variants) && choice([['', 'by chance'], ...one.variants.map((item) => item.name)], '');
  const order = () => ({ devices: [device.value], variant: variant?.value || undefined });
  const go = button('Show it there', async () => {
    try {
      await post(`messages/${one.id}/test`, { body: order() });
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
      const told = await post(`messages/${one.id}/explain`, { body: { [kind.value]: name } });
      append(clear(answer), h('p', { class: `note ${told.eligible ? 'good' : 'warn'}` }, told.eligible ? 'The next fetch brings it.' : ['It is not shown: ', h('code', shown(told.failed)), ' fails.']), table({
        caption: 'Conditions', rows: told.conditions, columns: [col('Condition', (row) => row.name), col('Holds', (row) => (row.holds ? badge('ok', 'yes') : badge('failed', 'no'))),
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

const results = (page, one) => section(page, 'What came of it', async (signal) => {
  const days = Number(page.query.get('days')) || 7;
  const told = await get(`messages/${one.id}/stats`, { days }, { signal });
  return [h('div', { class: 'row wrap' }, spans(page, [7, 30, 400], days), told.days.length > 0 && button('Save as CSV', () => saveTable(`${one.id}.csv`, [CSV, ...told.days.map((row) => CSV.map((name) => row[name]))]), { small: true })),
  table({ caption: 'In all', rows: told.totals, empty: 'Nothing was counted yet.', columns: [col('What', (row) => row.kind), col('Variant', (row) => row.variant ?? ''), col('Detail', (row) => row.detail ?? '', true), num('Count', (row) => number(row.count))] }),
  told.rates.length > 0 && table({ caption: 'Clicks of impressions', rows: told.rates, columns: [col('Variant', (row) => row.variant || 'all'), num('Impressions', (row) => number(row.impressions)), num('Clicks', (row) => number(row.clicks)),
    num('Rate', (row) => rate(row.rate)), num('95 % between', (row) => row.rate !== undefined && `${rate(row.low)} and ${rate(row.high)}`),
    num('Conversions', (row) => number(row.conversions)), num('Rate', (row) => rate(row.conversionRate)), num('95 % between', (row) => row.conversionRate !== undefined && `${rate(row.conversionLow)} and ${rate(row.conversionHigh)}`)] }),
  told.days.length > 0 && table({ caption: 'By day (UTC)', rows: told.days, columns: [col('Day', (row) => row.day), col('What', (row) => row.kind), col('Variant', (row) => row.variant ?? ''), col('Detail', (row) => row.detail ?? '', true), num('Count', (row) => number(row.count))] })];
});

async function mountOne(root, page) {
  const id = page.query.get('id') ?? '';
  const one = await get(`messages/${encodeURIComponent(id)}`, {}, { signal: page.signal });
  const { previewPanel } = await import('./messageform.js');
  const isDraft = one.state === 'draft';
  root.append(heading(shown(one.name), {
    crumbs: to(page.url('messages'), 'Messages'), sub: h('code', shown(one.id)), actions: [
      isDraft && guard(button('Publish…', () => step(page, one, 'publish'), { primary: true }), page, 'admin'),
      one.state === 'published' && guard(button('Stop…', () => step(page, one, 'stop')), page, 'admin'),
      ['draft', 'published'].includes(one.state) && guard(button('Edit…', () => page.go(page.url('messages', 'edit', { id }))), page, 'admin'),
      one.state !== 'deleted' && guard(button('Duplicate…', () => duplicate(page, one)), page, 'admin'),
      one.state !== 'deleted' && guard(button('Delete…', () => remove(page, one)), page, 'admin'),
      copyButton([...copies(words(page, 'show', [id]), 'GET', `/admin/v1/messages/${id}`), { name: 'Document', text: () => JSON.stringify(written(one), null, 2) }])],
  }), ...notes(one.warnings), h('section', { class: 'panel', aria: { label: 'Campaign' } }, h('div', { class: 'panel-body' }, said(one))),
  h('div', { class: 'grid2' }, [...(one.state === 'deleted' ? [] : [previewPanel(page, () => one), trying(page, one), reasons(page, one)]), results(page, one)].map((item) => item.element)));
}

/** Draws the page. */
export async function mount(root, page) {
  const { view } = page.params;
  root.classList.add('two-line');
  if (view === 'show') return mountOne(root, page);
  if (view) return (await import('./messageform.js')).mount(root, page);
  root.append(heading('Messages', {
    sub: 'What players see in the app: campaigns, without a line of code.', actions: [guard(button('New campaign', () => page.go(page.url('messages', 'new')), { primary: true }), page, 'admin'),
      copyButton(copies(words(page, 'list', []), 'GET', '/admin/v1/messages'))] }));
  return tabbed(root, page, 'Lists', Object.keys(LISTS).map((id) => ({ id, name: id[0].toUpperCase() + id.slice(1) })), (id, scope) => LISTS[id](scope));
}
