// Links: the list, one link with what came of it, claims, invitations, settings. The form for a new link is in linkform.js.

import { address } from './api.js';
import { h, shown } from './dom.js';
import { act, badge, button, code, col, copyButton, empty, facts, heading, jsonView, note, num, playerLink, quiet, table, to, when } from './ui.js';
import { number, time } from './time.js';
import { amounts, change, command, copies, copying, cursorPager, filters, listing, panel, save, section, spans } from './parts.js';

const VIEWS = { links: ['Short links', 'links'], invites: ['Invitations', 'invites'], claims: ['Claims', 'links', 'claims'], settings: ['Settings', 'links', 'settings'] };
const STATES = ['queued', 'sent', 'failed', 'opened', 'clicked', 'converted'];
const DAY = 86_400_000;

/** The page's title. */
export const title = ({ view, route }) => ({ show: 'Link', new: 'New link', edit: 'Edit link' }[view] ?? (route === 'invites' ? 'Invitations' : 'Links'));

const state = (row) => (row.disabledAt ? badge('disabled', 'off') : badge('ok', 'on'));
const bare = (link) => link.replace(/^https?:\/\//, '');
const showing = (page, link) => page.url('links', 'show', { link: bare(link) });
const asked = (page, ...names) => Object.fromEntries(names.map((name) => [name, page.query.get(name)]));
const more = (page, next, scanned, rows) => [next && rows.length === 0 && h('p', `None among ${number(scanned)}.`), cursorPager(page, next)];

function all(page) {
  const given = asked(page, 'q', 'inviter', 'campaign');
  const isFiltered = Object.values(given).some(Boolean);
  const made = listing(page, 'Short links', async () => {
    const { links, next, scanned } = await page.get('links', { ...given, limit: 50, cursor: page.query.get('cursor') });
    return [table({
      caption: 'By address', rows: links, columns: [
        col('Link', (row) => to(showing(page, row.shortLink), shown(bare(row.shortLink)))), col('Name', 'name', true),
        col('Opens', (row) => String(row.info?.link ?? row.longLink), true), col('Inviter', (row) => (row.inviter ? playerLink(page, row.inviter) : '')),
        col('Code', 'code'), col('State', state), when('Made', 'createdAt'),
      ], empty: isFiltered ? empty('No link is like this.', { name: 'Clear filters', href: page.url('links') })
        : empty('No short link yet. An app makes one for a signed-in player (POST /v1/shortLinks), or you do here.', { name: 'New link', href: page.url('links', 'new') }),
    }), more(page, next, scanned, links)];
  });
  return [{ element: filters(page, 'Filter', { q: ['Text', 'summer'], inviter: ['Inviter', 'alice'], campaign: ['Campaign'] }) },
    (given.inviter || given.campaign) && !given.q && funnel(page, given.inviter ? { inviter: given.inviter } : { campaign: given.campaign }), made].filter(Boolean);
}

function invites(page) {
  const given = asked(page, 'state', 'sender', 'campaign');
  const made = listing(page, 'Invitations', async () => {
    const { invites: rows, next, scanned } = await page.get('invites', { ...given, limit: 50, cursor: page.query.get('cursor') });
    return [table({
      caption: 'Newest first', rows, columns: [
        when('Time', 'createdAt'), col('State', (row) => badge({ failed: 'failed', queued: 'waiting', converted: 'done' }[row.state] ?? 'pending', row.state)),
        col('Sender', (row) => playerLink(page, row.sender)), col('To', 'to', true), col('Channel', 'channel'),
        col('Campaign', 'campaign'), col('Link', (row) => to(showing(page, row.link), shown(bare(row.link)))), col('Fault', 'lastError', true),
      ], empty: Object.values(given).some(Boolean) ? empty('No invitation is like this.', { name: 'Clear filters', href: page.url('invites') })
        : 'No invitation yet. An app sends one for a player: POST /v1/invites.',
    }), more(page, next, scanned, rows)];
  });
  return [{ element: filters(page, 'Filter', { state: ['State', [['', 'any'], ...STATES]], sender: ['Sender', 'alice'], campaign: ['Campaign'] }) }, made];
}

function claims(page) {
  const uid = page.query.get('uid') ?? '';
  const made = listing(page, 'How a player came', async () => {
    if (!uid) return empty('Which link, click or code a player came by, and who invited the player.');
    const { claim } = await page.get('links/claims', { uid });
    return claim ? facts([['Player', playerLink(page, claim.player)], ['Inviter', playerLink(page, claim.inviter)], ['Link', to(showing(page, claim.link), shown(claim.link))],
      ['By', shown(claim.how)], ['Click', claim.clickedAt && time(claim.clickedAt)], ['Platform', claim.platform], ['Code', claim.code && shown(claim.code)], ['Claimed', time(claim.at)]])
      : empty(`No claim of ${shown(uid)}: the player came without a link, or the app never told.`);
  });
  return [{ element: filters(page, 'Find a claim', { uid: ['Player', 'bob'] }, 'Show') }, made];
}

/** What the phones' systems are told about the apps, and whether each app is in it. */
async function association(told, signal) {
  const read = (name) => fetch(`/.well-known/${name}`, { signal }).then((answer) => (answer.ok ? answer.json() : null));
  const [apple, android] = await Promise.all(['apple-app-site-association', 'assetlinks.json'].map(read));
  const ios = (apple?.applinks?.details ?? []).map((item) => String(item.appID));
  const names = (android ?? []).map((item) => String(item?.target?.package_name));
  const rows = [...told.apps.ios.map((app) => ['iPhone', ios.find((id) => id.endsWith(`.${app.bundleId}`)) ?? app.bundleId, ios.some((id) => id.endsWith(`.${app.bundleId}`)), 'has no appIdPrefix, so iOS never opens it by a link']),
    ...told.apps.android.map((app) => ['Android', app.packageName, names.includes(app.packageName), 'has no sha256Fingerprints, so Android asks before it opens it'])];
  return table({
    caption: 'Apps in the files for phones', rows, empty: 'No app is registered: links open in browsers only.', columns: [
      col('Phone', ([phone]) => phone), col('App', ([, name]) => name),
      col('In the file', ([, , isIn, why]) => (isIn ? badge('ok', 'yes') : [badge('failed', 'no'), ` ${why}`]), true)],
  });
}

const settings = (page) => listing(page, 'Settings of links', async (signal) => {
  const told = await page.get('links/settings');
  const list = (items) => (items.length > 0 ? h('ul', items.map((item) => h('li', code(item)))) : 'none');
  return [told.warnings.map((text) => note('warn', shown(text))), facts([
    ['Domains', list(told.domains)], ['May lead to hosts', list(told.hosts)], ['Patterns', list(told.allowPatterns)],
    ['Keys of apps', number(told.apiKeys.length)], ['Proof of a click is good for', `${number(told.clickDays)} days`],
  ]), h('h3', 'Files for phones'), await association(told, signal), told.domains.length > 0 && quiet('This server gives these. Whether your domain does: ',
    h('code', `curl ${new URL(told.domains[0]).origin}/.well-known/apple-app-site-association`)), h('h3', 'All'), jsonView(Object.fromEntries(Object.entries(told).filter(([name]) => !['apiKeys', 'warnings'].includes(name)))),
  quiet('They are changed by ', h('code', 'doubloon links settings links.json'), ', or stand in the configuration file.')];
});

async function toggle(page, row) {
  const isOff = Boolean(row.disabledAt);
  const verb = `Switch ${isOff ? 'on' : 'off'} ${shown(bare(row.shortLink))}`;
  await change({ then: page,
    title: verb, verb, reason: false, danger: !isOff,
    preview: h('p', isOff ? 'It opens again what it says, and names its inviter.' : 'It opens nothing, and names no inviter. What was claimed by it stays.'),
    words: () => command(page, `links ${isOff ? 'enable' : 'disable'}`, [row.shortLink], { ns: false }),
    ask: () => ({ method: 'PATCH', path: 'links/link', params: { link: row.shortLink }, body: { disabled: !isOff } }),
  });
}

const funnel = (page, of) => section(page, 'What came of it', async () => {
  const days = Number(page.query.get('days')) || 30;
  const told = await page.get('links/funnel', { ...of, since: Math.max(0, Date.now() - days * DAY) });
  const { totals, goal } = told;
  const stages = [['Click', 'clicks'], ['Install', 'installs'], ['Claim', 'claims'], ['Sign-up', 'signedUp'], [goal?.name ?? 'Goal', 'reached']]
    .map(([name, id]) => ({ name: shown(name), id, count: totals[id] }));
  const most = Math.max(1, ...stages.map((stage) => Number(stage.count)));
  return [h('dl', { class: 'funnel' }, stages.map(({ name, id, count }) => h('div', { dataset: { stage: id } }, h('dt', name), h('dd', { class: 'number' }, number(count)),
    h('dd', { class: 'bar-meter', aria: { hidden: 'true' } }, h('span', { style: { width: `${(100 * Number(count)) / most}%` } })))),
  h('div', { dataset: { stage: 'coins' } }, h('dt', 'Coins'), h('dd', amounts(totals.coins)))),
  !told.complete && note('warn', 'There is too much for one look: the first 1,000 links and 20,000 players are counted.'),
  h('h3', 'By day'), spans(page, [7, 30, 365], days),
  table({
    caption: 'By day and platform', rows: told.days, empty: 'Nothing in these days.', columns: [col('Day', 'day'), col('Platform', 'platform'),
      ...stages.map(({ name, id }) => num(name, (row) => number(row.stages[id]))), num('Coins', (row) => amounts(row.stages.coins))],
  })];
});

const picture = async (link, signal, format) => {
  const answer = await fetch(address('links/qr', { link, format }), { headers: { 'X-Doubloon-Console': '1' }, signal });
  if (!answer.ok) throw new Error('The server could not draw the code.');
  return answer.blob();
};

const qrCode = (link, signal) => panel({
  title: 'QR code', signal, load: async () => {
    const source = URL.createObjectURL(await picture(link, signal));
    signal.addEventListener('abort', () => URL.revokeObjectURL(source), { once: true });
    const saving = (format) => button(`Save as ${format.toUpperCase()}`, async () => save(`link.${format}`, await picture(link, signal, format)), { small: true, icon: 'download' });
    return [h('img', { class: 'qr', src: source, alt: `QR code of ${link}`, width: 200, height: 200 }), h('p', { class: 'row wrap' }, saving('svg'), saving('png'))];
  },
});

async function mountOne(root, page) {
  const link = page.query.get('link') ?? '';
  const row = await page.get('links/link', { link }, { trees: ['info'] });
  const { previewPanel } = await import('./linkform.js');
  root.append(heading(shown(bare(row.shortLink)), {
    crumbs: to(page.url('links'), 'Links'), sub: row.name && shown(row.name), actions: [
      act(page, 'support', 'Edit…', () => page.go(page.url('links', 'edit', { link: bare(row.shortLink) }))),
      act(page, 'support', row.disabledAt ? 'Switch on…' : 'Switch off…', () => toggle(page, row)),
      copyButton([{ name: 'Link', text: row.shortLink }, ...copies(command(page, 'links show', [row.shortLink], { ns: false }), 'GET', '/admin/v1/links/link', { link })])],
  }), h('section', { class: 'panel', aria: { label: 'Link' } }, h('div', { class: 'panel-body' }, facts([
    ['State', state(row)], ['Inviter', row.inviter && playerLink(page, row.inviter)], ['Code', row.code && shown(row.code)],
    ['Made', time(row.createdAt)], ['Changed', row.changedAt && time(row.changedAt)], ['Kind', shown(row.option)], ['Long link', code(row.longLink)],
  ]))), h('div', { class: 'grid2' }, [funnel(page, { link }), qrCode(row.shortLink, page.signal)].map((item) => item.element)),
  previewPanel(page, async () => ({ link: row.shortLink })).element);
}

/** Draws the page. */
export async function mount(root, page) {
  const { view, route } = page.params;
  if (view === 'show') return mountOne(root, page);
  if (view === 'new' || view === 'edit') return (await import('./linkform.js')).mount(root, page);
  const id = route === 'invites' ? 'invites' : VIEWS[view] ? view : 'links';
  const words = { links: 'links list', invites: 'invites list', settings: 'links settings' }[id];
  const home = page.session.namespace;
  root.append(heading('Links', {
    sub: `Invitation links on your own domain.${home && home !== page.ns ? ` They are kept in ${home}, whose players they bring, whichever namespace is open.` : ''}`,
    actions: [act(page, 'support', 'New link', () => page.go(page.url('links', 'new')), { primary: true }),
      words && copying(page, words, [], { ns: false }, `${id === 'settings' ? 'links/settings' : id}`)],
  }), h('nav', { class: 'toolbar', aria: { label: 'Views of links' } }, Object.entries(VIEWS).map(([name, [text, ...rest]]) => h('a', {
    class: 'chip', href: page.url(...rest), aria: { current: name === id ? 'true' : null } }, text))));
  const made = [{ links: all, invites, claims, settings }[id](page)].flat();
  root.append(...made.map((item) => item.element));
  await Promise.all(made.map((item) => item.first));
  return undefined;
}
