// The form of a link, new or to be changed, with what its visitors will get.

import { curl, patch } from './api.js';
import { append, clear, h, later, shown } from './dom.js';
import { act, button, check, choice, code, copyButton, field, heading, input, note, to } from './ui.js';
import { command, section } from './parts.js';

// By group: [parameter of the long link, label, placeholder or help]; "efr" is a box to tick.
const GROUPS = [
  ['iPhone and iPad', [['ibi', 'App (bundle id)', 'test.acme.ios'], ['isi', 'App Store id', '900100200'], ['ifl', 'Without the app, instead of the store'], ['ius', 'Own scheme'],
    ['imv', 'Smallest version'], ['ipbi', 'App on iPads'], ['ipfl', 'Without the app, on iPads'], ['efr', 'Skip the preview page']]],
  ['Android', [['apn', 'App (package)', 'test.acme.app'], ['amv', 'Smallest version code', '125'], ['afl', 'Without the app, instead of Play'], ['al', 'Opens instead of the destination']]],
  ['Desktop', [['ofl', 'Opens instead of the destination']]],
  ['Campaign', [['utm_source', 'Source'], ['utm_medium', 'Medium'], ['utm_campaign', 'Campaign'], ['utm_term', 'Term'], ['utm_content', 'Content'],
    ['pt', 'Provider token'], ['at', 'Affiliate token'], ['ct', 'Campaign token'], ['mt', 'Media type']]],
  ['Social preview', [['st', 'Title'], ['sd', 'Description'], ['si', 'Picture (address, at least 300 × 200)']]],
];
const DEVICES = [['iphone', 'iPhone'], ['ipad', 'iPad'], ['android', 'Android'], ['desktop', 'Desktop']];

/** What a visitor sees: drawn here; the picture is named, never loaded. */
function screen(told, device) {
  const { card, code: word } = told;
  return h('div', { class: ['phone', device.device === 'desktop' && 'is-wide'], role: 'img', aria: { label: `${device.device}: ${device.outcome === 'page' ? card.title : device.target}` } },
    device.outcome === 'page' ? [h('div', { class: 'phone-hero' }, card.image && shown(card.image)), h('b', shown(card.title)), card.text && h('p', shown(card.text)),
      h('span', { class: 'button primary' }, 'Open'), word && code(word)]
      : h('p', { class: 'break' }, '→ ', shown(device.target)));
}

/**
 * A panel of what visitors get, by device: ask() gives the body of links/preview. -> the panel; `reload()` asks again,
 * `told` is the last answer.
 */
export function previewPanel(page, ask, done) {
  let chosen = DEVICES.some(([id]) => id === page.query.get('device')) ? page.query.get('device') : 'iphone';
  const made = section(page, 'What a visitor gets', async () => {
    const told = await page.post('links/preview', await ask());
    made.told = told;
    done?.(told);
    if (told.error) return note('warn', shown(told.error));
    const body = h('div', { class: 'stack' });
    const draw = () => {
      const device = told.devices.find((item) => item.device === chosen);
      append(clear(body), h('div', { class: 'row wrap', role: 'group', aria: { label: 'Device' } }, DEVICES.map(([id, name]) => button(name, () => {
        chosen = id;
        page.setQuery({ device: id }, { replace: true });
        draw();
        body.querySelector('[aria-pressed="true"]').focus();
      }, { small: true }))), screen(told, device), h('ol', { class: 'visits' }, device.steps.map((step) => h('li', shown(step)))));
      for (const [index, [id]] of DEVICES.entries()) body.querySelectorAll('[role="group"] button')[index].setAttribute('aria-pressed', String(id === chosen));
    };
    draw();
    return [body, told.warning.map((item) => note('warn', shown(item.warningMessage), ' ', code(item.warningCode))),
      told.warning.length === 0 && note('good', 'Nothing is doubtful.')];
  });
  return made;
}

/** What a long link says, by parameter. */
const said = (longLink) => Object.fromEntries(longLink.split('?').slice(1).join('?').split('&').filter(Boolean)
  .map((pair) => [pair.slice(0, pair.indexOf('=')), decodeURIComponent(pair.slice(pair.indexOf('=') + 1))]));

function controls(settings, before) {
  const known = { ibi: settings.apps.ios.map((app) => app.bundleId), apn: settings.apps.android.map((app) => app.packageName) };
  const made = { link: input({ value: before.link ?? '', placeholder: 'the page that it leads to', inputmode: 'url', required: true }) };
  const groups = GROUPS.map(([name, fields], index) => h('details', { class: 'panel', open: ![2, 3].includes(index) || fields.some(([id]) => before[id]) },
    h('summary', { class: 'panel-head' }, h('b', `${index + 3} ${name}`)), h('div', { class: 'panel-body fields' }, fields.map(([id, label, placeholder]) => {
      if (id === 'efr') {
        const box = check(`${label} (iOS only; then nothing proves the click)`, { checked: before.efr === '1' });
        made.efr = box.querySelector('input');
        return box;
      }
      // A new link is for the first of the apps, unless that is taken out.
      made[id] = input({ value: before[id] ?? (before.link === undefined ? known[id]?.[0] : null) ?? '', placeholder: placeholder ?? '' });
      return field(label, made[id]);
    }))));
  const values = () => Object.fromEntries(Object.entries(made).map(([id, control]) => [id, control.type === 'checkbox' ? (control.checked ? '1' : '') : control.value.trim()])
    .filter(([, value]) => value !== ''));
  return { made, groups, values };
}

/** Draws the form: links/new, or links/edit?link=… */
export async function mount(root, page) {
  const link = page.params.view === 'edit' ? page.query.get('link') ?? '' : null;
  const [settings, row] = await Promise.all([page.get('links/settings'), link && page.get('links/link', { link })]);
  const before = row ? said(row.longLink) : {};
  const { made, groups, values } = controls(settings, before);
  const prefix = choice(settings.domains.map((domain) => [domain, domain]), settings.domains[0]);
  const option = choice([['UNGUESSABLE', 'not to be guessed'], ['SHORT', 'short'], ['CUSTOM', 'my own']], 'UNGUESSABLE');
  const suffix = input({ placeholder: 'summer', maxlength: 100 });
  const name = input({ value: row?.name ?? '', maxlength: 100 });
  const inviter = input({ placeholder: 'alice', value: row?.inviter ?? '' });
  const ownSuffix = field('Own suffix', suffix);
  const isOwn = () => option.value === 'CUSTOM';
  const order = () => ({ prefix: prefix.value, parameters: values(), option: option.value, suffix: isOwn() ? suffix.value.trim() : undefined,
    name: name.value.trim() || undefined, inviter: inviter.value.trim() || undefined });
  const edit = () => {
    const now = values();
    const ids = new Set([...Object.keys(before), ...Object.keys(now)]);
    return { name: name.value.trim(), parameters: Object.fromEntries([...ids].filter((id) => before[id] !== now[id]).map((id) => [id, now[id] ?? null])) };
  };
  const words = () => {
    const { link: opens, ...rest } = values();
    const set = Object.entries(rest).map(([id, value]) => `${id}=${value}`);
    return row ? command(page, 'links edit', [row.shortLink], { to: opens, name: name.value.trim(), set, unset: Object.keys(before).filter((id) => values()[id] === undefined), ns: false })
      : command(page, 'links create', [opens ?? ''], { prefix: prefix.value, short: option.value === 'SHORT', suffix: order().suffix, name: name.value.trim(), inviter: inviter.value.trim(), set, ns: false });
  };
  const fault = h('p', { class: 'field-fault', role: 'alert' });
  const go = act(page, 'support', row ? 'Save' : 'Create', undefined, { type: 'submit', primary: true });
  const mayAct = page.needs('support');
  const preview = previewPanel(page, async () => ({ prefix: row ? row.shortLink.slice(0, row.shortLink.lastIndexOf('/')).replace(/\/i$/, '') : prefix.value, parameters: values(), inviter: inviter.value.trim() || undefined }),
    (told) => { go.disabled = !mayAct || Boolean(told.error); });
  const look = later(300, () => preview.reload());
  const form = h('form', {
    class: 'stack', on: {
      input: () => { ownSuffix.hidden = !isOwn(); look(); },
      submit: async (event) => {
        event.preventDefault();
        if (go.disabled) return;
        go.disabled = true;
        fault.textContent = '';
        try {
          const told = row ? await patch('links/link', { params: { link: row.shortLink }, body: edit() }) : await page.post('links', order());
          page.go(page.url('links', 'show', { link: told.link.shortLink.replace('https://', '') }));
        } catch (error) {
          fault.textContent = shown(error.message);
          go.disabled = false;
        }
      },
    },
  }, !row && h('div', { class: 'fields' }, field('1 Prefix', prefix), field('Suffix', option), ownSuffix), field('2 Goes to', made.link), groups,
  h('div', { class: 'fields' }, !row && field('8 Inviter', inviter, { help: 'The player who invites with it; gets a code.' }), field('Name in listings', name)), fault,
  h('div', { class: 'row wrap' }, go, copyButton([{ name: 'Command', text: words }, {
    name: 'curl', text: () => (row ? curl('PATCH', '/admin/v1/links/link', { link: row.shortLink }, edit()) : curl('POST', '/admin/v1/links', {}, order())) }])));
  ownSuffix.hidden = true;
  root.append(heading(row ? `Edit ${shown(row.shortLink.replace('https://', ''))}` : 'New link', { crumbs: to(page.url('links'), 'Links') }),
    settings.domains.length === 0 ? note('warn', 'No domain for links is set. Set them first: ', h('code', 'doubloon links settings links.json'))
      : h('div', { class: 'split' }, h('div', { class: 'split-main' }, form), h('div', { class: 'split-side' }, preview.element)));
  made.link.focus();
}
