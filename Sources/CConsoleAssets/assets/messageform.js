// How a message looks on a phone, and the form of a campaign: fields for what most say, and the whole document beside them.

import { curl, put } from './api.js';
import { append, clear, h, later, shown } from './dom.js';
import { act, area, choice, code, copyButton, field, heading, input, note, quiet, to } from './ui.js';
import { command, section } from './parts.js';
import { notes, written } from './messages.js';

const SIZES = [['390 844', 'Phone'], ['320 568', 'Small phone'], ['844 390', 'Phone on its side'], ['768 1024', 'Tablet']];

/** A picture is named, never loaded: what the page shows must not tell others who looks. */
const picture = (image, height) => h('div', { role: 'img', aria: { label: image.alt || 'Picture' }, style: {
  background: '#dfe3ea', color: '#1b1c1f', padding: '8px', 'min-height': `${height}px`, 'overflow-wrap': 'anywhere', 'font-size': '13px' } }, shown(image.url));

/** A message as an app draws it: `view` as messages/preview tells it, on a screen of so many points. */
function drawn(view, size) {
  const [width, height] = size.split(' ').map(Number);
  const { layout, colors = {}, images = [], buttons = [] } = view;
  const isBanner = layout === 'banner';
  const image = images.find((item) => item.orientation === (width > height ? 'landscape' : 'portrait')) ?? images[0];
  const close = buttons.find((item) => item.role === 'close');
  const others = buttons.filter((item) => item !== close);
  const box = h('div', { lang: view.language, dir: view.direction, dataset: { layout }, style: {
    position: 'relative', width: isBanner ? 'auto' : `${Math.min(width - 48, 340)}px`, margin: isBanner ? '12px' : 'auto', 'max-height': `${height - 40}px`, overflow: 'hidden',
    background: layout === 'imageOnly' ? 'transparent' : colors.background ?? '#ffffff', color: colors.text ?? '#000000', 'border-radius': '14px', display: isBanner ? 'flex' : 'block', gap: '12px' } },
  image && picture(image, isBanner ? 56 : 140), (view.title || view.body) && h('div', { style: { padding: '12px 40px 12px 16px', 'white-space': 'pre-line' } },
    view.title && h('b', { style: { 'font-size': '18px', display: 'block' } }, shown(view.title)), view.body && h('span', shown(view.body, { lines: true }))),
  close && h('span', { role: 'img', aria: { label: close.text || 'Close' }, dataset: { part: 'close' }, style: { position: 'absolute', top: '6px', 'inset-inline-end': '12px', 'font-size': '22px', color: layout === 'imageOnly' ? '#1b1c1f' : 'inherit' } }, '×'),
  others.length > 0 && h('div', { style: { display: 'flex', 'justify-content': 'end', gap: '8px', padding: '0 16px 16px' } }, others.map((item) => h('span', { dataset: { part: item.role }, style: {
    background: item.background ?? 'transparent', color: item.textColor ?? 'inherit', padding: '10px 14px', 'border-radius': '10px' } }, shown(item.text ?? '')))));
  return h('div', { class: 'phone is-message', style: { width: `${width}px`, height: `${height}px`, 'max-width': 'none', padding: '0', zoom: String(Math.min(0.8, 280 / width)),
    background: '#5d6068', 'justify-content': isBanner ? 'start' : 'center' } }, box);
}

/** A panel of how a campaign looks: ask() gives its document. `reload()` draws again; done(told) hears every answer. */
export function previewPanel(page, ask, done) {
  const asked = (name) => page.query.get(name) ?? '';
  const size = choice(SIZES, SIZES.some(([id]) => id === asked('screen')) ? asked('screen') : SIZES[0][0]);
  const locale = input({ placeholder: 'pl', value: asked('locale') });
  const variant = input({ placeholder: 'b', value: asked('variant') });
  const params = input({ placeholder: '{"amount": 50}' });
  const screen = h('div', { class: 'stack', role: 'status' });
  let told = null;
  const draw = () => append(clear(screen), told?.view && drawn(told.view, size.value), told?.view?.action && quiet('A tap opens ', code(told.view.action)), told?.missing?.length > 0 && note('warn', `It is withheld without the values ${shown(told.missing.join(', '))}.`), notes(told?.faults ?? [], 'bad'), notes(told?.warnings ?? []));
  const look = async () => {
    try {
      told = await page.post('messages/preview', { campaign: written(ask()), locale: locale.value.trim() || undefined, variant: variant.value.trim() || undefined, params: JSON.parse(params.value.trim() || '{}') });
    } catch (error) {
      if (error.name === 'AbortError') return;
      told = { faults: [{ path: '', code: error.code ?? 'JSON', message: error.message }] };
    }
    draw();
    done?.(told);
  };
  const soon = later(300, look);
  size.addEventListener('change', draw);
  for (const [name, control] of Object.entries({ screen: size, locale, variant })) control.addEventListener('change', () => page.setQuery({ [name]: control.value.trim() }, { replace: true }));
  const made = section(page, 'How it looks', async () => {
    await look();
    return [h('div', { class: 'fields', on: { input: (event) => event.target !== size && soon() } }, field('Screen', size), field('Language', locale), field('Variant', variant), field('Values of the event', params)), screen];
  });
  return { element: made.element, first: made.first, reload: soon };
}

// [label, place in the document, layouts or null for all, placeholder]; LANG stands for the language of the texts.
const FIELDS = [
  ['Name', 'name', null, 'You earned 50'], ['Title', 'content.texts.LANG.title', 'banner card modal', 'You earned {{amount}}!'], ['Text', 'content.texts.LANG.body', 'banner card modal', 'Thanks to {{inviter|a friend}}.'],
  ['First button', 'content.texts.LANG.primary', 'card modal', 'Invite more'], ['opens', 'content.primaryAction', 'card modal', 'https://'], ['Second button', 'content.texts.LANG.secondary', 'card', 'Later'], ['opens, too', 'content.secondaryAction', 'card', 'https://'],
  ['A tap opens', 'content.action', 'banner imageOnly', 'https://'], ['Picture', 'content.image', 'banner modal imageOnly', 'https://'], ['Picture, upright', 'content.portraitImage', 'card', 'https://'], ['Picture, lying', 'content.landscapeImage', 'card', 'https://'],
  ['What the picture shows', 'content.imageAlt.LANG', null, 'A chest'], ['Colour of texts', 'content.colors.text', 'banner card modal', '#000000'], ['Background', 'content.colors.background', 'banner card modal', '#ffffff'], ['Colour of the button', 'content.colors.button', 'card modal', '#000000'],
  ['From', 'schedule.start', null, '2026-12-01T09:00'], ['Until', 'schedule.end', null, '2026-12-24T00:00'], ['Time zone', 'schedule.timeZone', null, 'Europe/Warsaw'],
];
// The rest by group, each with what its text is: see KINDS.
const MORE = {
  'Who gets it': [['Platforms', 'audience.platforms', 'list', 'android, ios'], ['Languages', 'audience.languages', 'list', 'pl, pt-BR'], ['App version', 'audience.appVersion', 'version', '>=1.4'],
    ['Players', 'audience.player.uids', 'list', 'alice, bob'], ['Invited by', 'audience.player.inviter', 'text', 'alice'], ['Visits', 'audience.instance.sessions', 'count', '>=3'], ['Percent of devices', 'audience.percent', 'number', '100']],
  'How often': [['Times in all', 'frequency.lifetime', 'number', '1'], ['Every', 'frequency.every', 'text', '3d'], ['At most, times/days', 'frequency.caps', 'caps', '1/7, 3/30'],
    ['Counted for each', 'frequency.per', 'text', 'instance or player'], ['Priority', 'priority', 'number', '5']],
  'What it carries, and what counts as success': [['Custom data', 'data', 'pairs', 'screen=invite, tab=2'], ['Conversion, by the app\'s event', 'conversion.event', 'text', 'purchase'],
    ['Conversion, by the server\'s event', 'conversion.server', 'text', 'invite_converted'], ['Within days', 'conversion.days', 'number', '7']],
  Variants: [['Names with weights; * shows nothing', 'variants', 'variants', 'a=1, b=1, none=1*'],
    ...[0, 1, 2, 3].flatMap((index) => ['title', 'body'].map((part) => [`${part === 'title' ? 'Title' : 'Text'} of variant ${index + 1}`, `variants.${index}.content.texts.LANG.${part}`, 'text', 'as the campaign']))],
};
const listed = (text) => text.split(',').map((item) => item.trim()).filter(Boolean);
const halves = (text, sign) => [text.slice(0, text.indexOf(sign)), text.slice(text.indexOf(sign) + 1)].map((half) => half.trim());
const compared = (read) => [(value) => (typeof value === 'object' ? Object.entries(value).map((term) => term.join('')).join(' ') : String(value)), (text) => {
  const terms = text.trim().split(/\s+/).map((term) => /^(==|!=|<=|>=|<|>)?(.*)$/s.exec(term));
  return terms[0][1] ? Object.fromEntries(terms.map(([, sign, operand]) => [sign, read(operand)])) : read(text.trim());
}];
const numeric = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
// Of each kind how a value is shown, and what a text means; what cannot be meant the server says.
const KINDS = {
  text: [String, (text) => text], number: [String, numeric], list: [(value) => value.join(', '), listed], version: compared(String), count: compared(numeric),
  caps: [(value) => value.map(({ count, days }) => `${count}/${days}`).join(', '), (text) => listed(text).map((cap) => { const [count, days] = halves(cap, '/').map(numeric); return { count, days }; })],
  pairs: [(value) => Object.entries(value).map((pair) => pair.join('=')).join(', '), (text) => Object.fromEntries(listed(text).map((pair) => halves(pair, '=')))],
  variants: [(value) => value.map(({ name, weight = 1, control }) => `${name}=${weight}${control ? '*' : ''}`).join(', '), (text, old) => listed(text).map((item) => {
    const [name, weight] = item.includes('=') ? halves(item.replace('*', ''), '=') : [item.replace('*', ''), '1'];
    const { control, ...was } = old?.find?.((one) => one.name === name) ?? {};
    return { ...was, name, weight: numeric(weight), ...(item.includes('*') ? { control: true, content: undefined } : {}) };
  })],
};
const TRIGGERS = [['reward', 'a player is paid'], ['friend_joined', 'a friend joins'], ['launch', 'the app starts'], ['foreground', 'the app comes to the front'], ['event', 'an event of the app']];

const at = (document, path) => path.split('.').reduce((value, name) => value?.[name], document);
/** Sets a place of a document; an empty text takes it away, with what holds nothing then. */
function place(document, [name, ...rest], value) {
  if (rest.length === 0) {
    if (value === '') delete document[name];
    else document[name] = value;
    return;
  }
  if (typeof document[name] !== 'object' || document[name] === null) document[name] = {};
  place(document[name], rest, value);
  if (Object.keys(document[name]).length === 0) delete document[name];
}

/** The fields; they write into the document of `text`, and are filled from it. */
function controls(text, isNew) {
  const read = () => JSON.parse(text.value);
  const parsed = () => { try { return read(); } catch { return null; } };
  const language = () => parsed()?.content?.defaultLanguage || 'en';
  const edit = (alter) => {
    const document = parsed();
    if (!document) return;
    alter(document);
    text.value = JSON.stringify(document, null, 2);
  };
  const layout = choice(['modal', 'card', 'banner', 'imageOnly'], 'modal');
  layout.addEventListener('input', () => { edit((document) => { document.layout = layout.value; }); show(); });
  const trigger = choice(TRIGGERS, 'reward');
  const event = input({ placeholder: 'level_5' });
  const triggered = () => edit((document) => {
    document.triggers = [{ launch: { on: 'launch' }, foreground: { on: 'foreground' }, event: { event: event.value.trim() || 'level_5' } }[trigger.value] ?? { server: trigger.value }];
  });
  trigger.addEventListener('input', () => { triggered(); show(); });
  event.addEventListener('input', triggered);
  const id = input({ placeholder: 'earned50', maxlength: 64 });
  id.addEventListener('input', () => edit((document) => place(document, ['id'], id.value.trim())));
  const made = (name, path, layouts, placeholder, [shows, means] = KINDS.text) => {
    const control = input({ placeholder });
    const keys = () => path.replace('LANG', language());
    control.addEventListener('input', () => edit((document) => place(document, keys().split('.'), control.value.trim() === '' ? '' : means(control.value, at(document, keys())))));
    // A variant's fields are there once it has a name.
    if (path === 'variants') control.addEventListener('change', () => show());
    return { layouts, control, element: field(name, control), draw(document) {
      const value = at(document, keys());
      try {
        control.value = value === undefined || value === null ? '' : shows(value);
      } catch {
        control.value = ''; // It is something else in the document, and stays that.
      }
      const variant = /^variants\.(\d)/.exec(path);
      this.element.hidden = layouts ? !layouts.split(' ').includes(layout.value) : Boolean(variant && (document.variants?.[variant[1]]?.control ?? !document.variants?.[variant[1]]));
    } };
  };
  const rows = FIELDS.map((one) => made(...one));
  const groups = Object.entries(MORE).map(([title, fields]) => ({ title, rows: fields.map(([name, path, kind, placeholder]) => made(name, path, null, placeholder, KINDS[kind])) }));
  const eventField = field('Event', event);
  const show = () => {
    const document = parsed();
    if (!document) return;
    layout.value = document.layout ?? 'modal';
    const first = document.triggers?.[0] ?? {};
    trigger.value = first.on ?? (first.event ? 'event' : TRIGGERS.some(([name]) => name === first.server) ? first.server : '');
    event.value = first.event ?? '';
    eventField.hidden = trigger.value !== 'event';
    id.value = document.id ?? '';
    for (const row of [...rows, ...groups.flatMap((group) => group.rows)]) row.draw(document);
  };
  show();
  const [name, ...others] = rows.map((row) => row.element);
  return { read, show, element: h('div', { class: 'stack' }, h('div', { class: 'fields' }, name, isNew && field('Id', id, { help: 'Yours, or the server makes one.' }), field('Layout', layout), field('It appears when', trigger), eventField, others),
    groups.map((group) => h('details', { class: 'panel', open: group.rows.some(({ control }) => control.value) }, h('summary', { class: 'panel-head' }, h('b', group.title)), h('div', { class: 'panel-body fields' }, group.rows.map((row) => row.element))))) };
}

const NEW = { name: '', layout: 'modal', content: { defaultLanguage: 'en', texts: { en: { title: '' } } }, triggers: [{ server: 'reward' }] };

/** Draws the form: messages/new, or messages/edit?id=… */
export async function mount(root, page) {
  const id = page.params.view === 'edit' ? page.query.get('id') ?? '' : null;
  const one = id && await page.get(`messages/${encodeURIComponent(id)}`);
  const text = area({ rows: 24, class: 'input code', aria: { label: 'The whole document' } }, JSON.stringify(one ? written(one) : NEW, null, 2));
  const form = controls(text, !one);
  const fault = h('div', { role: 'alert' });
  const go = act(page, 'admin', one ? 'Save' : 'Create draft', undefined, { type: 'submit', primary: true });
  const before = text.value;
  page.dirty = () => text.value !== before && !go.dataset.done;
  const ask = () => form.read();
  const preview = previewPanel(page, ask);
  const words = () => command(page, one ? 'messages apply' : 'messages create', ['campaign.json'], { ns: false });
  const body = () => ({ ...ask(), version: one?.version });
  const element = h('form', { class: 'stack', on: {
    input: (event) => { if (event.target === text) form.show(); preview.reload(); },
    submit: async (event) => {
      event.preventDefault();
      go.disabled = true;
      clear(fault);
      try {
        const saved = one ? await put(`messages/${one.id}`, { body: body() }) : await page.post('messages', body());
        go.dataset.done = 'true';
        page.go(page.url('messages', 'show', { id: saved.id }));
      } catch (error) {
        append(fault, h('p', { class: 'field-fault' }, shown(error.message)), notes(error.answer?.faults ?? [], 'bad'));
        go.disabled = false;
      }
    } } }, one?.state === 'published' && note('warn', 'It is published: only its test devices change, and its end may move nearer. For anything else stop it, and duplicate it.'),
  form.element, h('details', { class: 'panel', open: one?.state === 'published' }, h('summary', { class: 'panel-head' }, h('b', 'The whole document')), h('div', { class: 'panel-body' },
    quiet('Further languages and triggers, places of the tree, test devices.'), text)), fault, h('div', { class: 'row wrap' }, go, copyButton([
    { name: 'Document', text: () => text.value }, { name: 'Command', text: words }, { name: 'curl', text: () => (one ? curl('PUT', `/admin/v1/messages/${one.id}`, {}, body()) : curl('POST', '/admin/v1/messages', {}, body())) }])));
  root.append(heading(one ? `Edit ${shown(one.name)}` : 'New campaign', { crumbs: to(page.url('messages'), 'Messages') }),
    h('div', { class: 'split' }, h('div', { class: 'split-main' }, element), h('div', { class: 'split-side' }, preview.element)));
  form.element.querySelector('input').focus();
}
