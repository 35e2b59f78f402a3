// Links: the list, one link with its counts and QR code, how a player came. Links are made by apps and by the program.

import { address, get } from './api.js';
import { h, shown } from './dom.js';
import { badge, button, copyButton, empty, facts, field, guard, heading, input, jsonView, playerLink, table } from './ui.js';
import { number, time } from './time.js';
import { again, change, col, command, copies, link as here, num, panel, queryForm, save, tabbed, to } from './parts.js';

/** The title of the browser's tab. */
export const title = () => 'Links';

const state = (row) => (row.disabledAt ? badge('disabled', 'off') : badge('ok', 'on'));
const bare = (link) => link.replace(/^https?:\/\//, '');
const showing = (page, link) => page.url('links', 'show', { link: bare(link) });

const all = (page) => panel({
  title: 'Short links', plain: true, signal: page.signal, load: async (signal) => {
    const { links, next } = await get('links', { limit: 50, cursor: page.query.get('cursor') }, { signal });
    return [table({
      caption: 'By address', rows: links, columns: [
        col('Link', (row) => to(showing(page, row.shortLink), shown(bare(row.shortLink)))), col('Name', (row) => row.name ?? '', true),
        col('Opens', (row) => String(row.info?.link ?? row.longLink), true), col('Inviter', (row) => (row.inviter ? playerLink(page, row.inviter) : '')),
        col('Code', (row) => row.code ?? ''), col('State', state), col('Made', (row) => time(row.createdAt)),
      ], empty: 'No short link yet. An app makes one for a signed-in player (POST /v1/shortLinks), or: doubloon links create ADDRESS --short.',
    }), next && h('p', { class: 'row pager' }, h('a', { class: 'button small', href: here(page, { cursor: next }) }, 'More'))];
  },
});

function claims(page) {
  const uid = page.query.get('uid') ?? '';
  const asked = input({ value: uid, placeholder: 'bob' });
  const made = panel({
    title: 'How a player came', plain: true, signal: page.signal, load: async (signal) => {
      if (!uid) return empty('Which link, click or code a player came by, and who invited the player.');
      const { claim } = await get('links/claims', { uid }, { signal });
      return claim ? facts([['Player', playerLink(page, claim.player)], ['Inviter', playerLink(page, claim.inviter)], ['Link', to(showing(page, claim.link), shown(claim.link))],
        ['By', shown(claim.how)], ['Click', claim.clickedAt && time(claim.clickedAt)], ['Platform', claim.platform], ['Code', claim.code && shown(claim.code)], ['Claimed', time(claim.at)]])
        : empty(`No claim of ${shown(uid)}: the player came without a link, or the app never told.`);
    },
  });
  return [{ element: queryForm(page, 'Find a claim', field('Player', asked), () => ({ uid: asked.value.trim() })) }, made];
}

/** Switches a link on or off. */
async function toggle(page, row) {
  const isOff = Boolean(row.disabledAt);
  const verb = `Switch ${isOff ? 'on' : 'off'} ${shown(bare(row.shortLink))}`;
  const answer = await change({
    title: verb, verb, reason: false, danger: !isOff,
    preview: async () => h('p', isOff ? 'It opens again what it says, and names its inviter.' : 'It opens nothing, and names no inviter. What was claimed by it stays.'),
    words: () => command(page, `links ${isOff ? 'enable' : 'disable'}`, [row.shortLink], { ns: false }),
    ask: () => ({ method: 'PATCH', path: 'links/link', params: { link: row.shortLink }, body: { disabled: !isOff } }),
  });
  if (answer) again(page);
}

const counts = (page, link) => panel({
  title: 'Counted', signal: page.signal, load: async (signal) => {
    const days = Number(page.query.get('days')) || 30;
    const told = await get('links/stats', { link, days }, { signal });
    if (told.totals.length === 0) return empty('Nobody opened it yet.');
    return [table({ caption: 'In all', rows: told.totals, columns: [col('Event', (row) => row.event), col('Platform', (row) => row.platform),
      num('Count', (row) => number(BigInt(row.count)))] }), h('h3', `By day, the last ${number(days)}`), table({
      caption: 'By day', rows: told.days, empty: 'Nothing in these days.', columns: [col('Day', (row) => row.day), col('Event', (row) => row.event),
        col('Platform', (row) => row.platform), num('Count', (row) => number(row.count))],
    })];
  },
});

const code = (page, link) => panel({
  title: 'QR code', signal: page.signal, load: async (signal) => {
    const answer = await fetch(address('links/qr', { link }), { headers: { 'X-Doubloon-Console': '1' }, signal });
    if (!answer.ok) throw new Error('The server could not draw the code.');
    const text = await answer.text();
    const source = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
    signal.addEventListener('abort', () => URL.revokeObjectURL(source), { once: true });
    return [h('img', { class: 'qr', src: source, alt: `QR code of ${link}`, width: 200, height: 200 }),
      h('p', button('Save as SVG', () => save('link.svg', text, 'image/svg+xml'), { small: true, icon: 'download' }))];
  },
});

async function mountOne(root, page) {
  const link = page.query.get('link') ?? '';
  const row = await get('links/link', { link }, { signal: page.signal, trees: ['info'] });
  root.append(heading(shown(bare(row.shortLink)), {
    crumbs: to(page.url('links'), 'Links'), actions: [guard(button(row.disabledAt ? 'Switch on…' : 'Switch off…', () => toggle(page, row)), page, 'admin'),
      copyButton([{ name: 'Link', text: row.shortLink }, ...copies(command(page, 'links show', [row.shortLink], { ns: false }), 'GET', '/admin/v1/links/link', { link })])],
  }), h('section', { class: 'panel', aria: { label: 'Link' } }, h('div', { class: 'panel-body' }, facts([
    ['State', state(row)], ['Name', row.name && shown(row.name)], ['Inviter', row.inviter && playerLink(page, row.inviter)], ['Code', row.code && shown(row.code)],
    ['Made', time(row.createdAt)], ['Changed', row.changedAt && time(row.changedAt)], ['Kind', shown(row.option)], ['Long link', h('code', shown(row.longLink))],
  ]))), h('div', { class: 'grid2' }, [counts(page, link), code(page, link)].map((item) => item.element)),
  panel({ title: 'What it says', load: async () => jsonView(row.info) }).element);
}

/** Draws the page. */
export async function mount(root, page) {
  root.classList.add('two-line');
  if (page.params.view === 'show') return mountOne(root, page);
  root.append(heading('Links', {
    sub: 'Invitation links on your own domain.', actions: [copyButton(copies(command(page, 'links list', [], { ns: false }), 'GET', '/admin/v1/links', { limit: 50 }))],
  }));
  return tabbed(root, page, 'Links', [{ id: 'links', name: 'Short links' }, { id: 'claims', name: 'Claims' }], (id, scope) => (id === 'links' ? all : claims)(scope));
}
