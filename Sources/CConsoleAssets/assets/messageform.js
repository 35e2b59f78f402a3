// How a message looks on a phone, and the form of a campaign: fields for what most say, and the whole document beside them.

import { curl, post, put, get } from './api.js';
import { append, clear, h, later, shown } from './dom.js';
import { area, button, choice, copyButton, field, guard, heading, input } from './ui.js';
import { command, section, to } from './parts.js';
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
  const size = choice(SIZES, SIZES[0][0]);
  const locale = input({ placeholder: 'pl' });
  const variant = input({ placeholder: 'b' });
  const params = input({ placeholder: '{"amount": 50}' });
  const screen = h('div', { class: 'stack', role: 'status' });
  let told = null;
  const draw = () => append(clear(screen), told?.view && drawn(told.view, size.value), told?.view?.action && h('p', { class: 'muted' }, 'A tap opens ', h('code', shown(told.view.action))), told?.missing?.length > 0 && h('p', { class: 'note warn' }, `It is withheld without the values ${shown(told.missing.join(', '))}.`), notes(told?.faults ?? [], 'bad'), notes(told?.warnings ?? []));
  const look = async () => {
    try {
      told = await post('messages/preview', { body: { campaign: written(ask()), locale: locale.value.trim() || undefined, variant: variant.value.trim() || undefined, params: JSON.parse(params.value.trim() || '{}') }, signal: page.signal });
    } catch (error) {
      if (error.name === 'AbortError') return;
      told = { faults: [{ path: '', code: error.code ?? 'JSON', message: error.message }] };
    }
    draw();
    done?.(told);
  };
  const soon = later(300, look);
  size.addEventListener('change', draw);
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
  const rows = FIELDS.map(([name, path, layouts, placeholder]) => {
    const control = input({ placeholder });
    control.addEventListener('input', () => edit((document) => place(document, path.replace('LANG', language()).split('.'), control.value)));
    return { path, layouts, control, element: field(name, control) };
  });
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
    for (const row of rows) {
      row.control.value = at(document, row.path.replace('LANG', language())) ?? '';
      row.element.hidden = Boolean(row.layouts) && !row.layouts.split(' ').includes(layout.value);
    }
  };
  show();
  const [name, ...others] = rows.map((row) => row.element);
  return { read, show, element: h('div', { class: 'fields' }, name, isNew && field('Id', id, { help: 'Yours, or the server makes one.' }), field('Layout', layout), field('It appears when', trigger), eventField, others) };
}

const NEW = { name: '', layout: 'modal', content: { defaultLanguage: 'en', texts: { en: { title: '' } } }, triggers: [{ server: 'reward' }] };

/** Draws the form: messages/new, or messages/edit?id=… */
export async function mount(root, page) {
  const id = page.params.view === 'edit' ? page.query.get('id') ?? '' : null;
  const one = id && await get(`messages/${encodeURIComponent(id)}`, {}, { signal: page.signal });
  const text = area({ rows: 24, class: 'input code', aria: { label: 'The whole document' } }, JSON.stringify(one ? written(one) : NEW, null, 2));
  const form = controls(text, !one);
  const fault = h('div', { role: 'alert' });
  const act = guard(button(one ? 'Save' : 'Create draft', undefined, { type: 'submit', primary: true }), page, 'admin');
  const before = text.value;
  page.dirty = () => text.value !== before && !act.dataset.done;
  const ask = () => form.read();
  const preview = previewPanel(page, ask);
  const words = () => command(page, one ? 'messages apply' : 'messages create', ['campaign.json'], { ns: false });
  const body = () => ({ ...ask(), version: one?.version });
  const element = h('form', { class: 'stack', on: {
    input: (event) => { if (event.target === text) form.show(); preview.reload(); },
    submit: async (event) => {
      event.preventDefault();
      act.disabled = true;
      clear(fault);
      try {
        const saved = one ? await put(`messages/${one.id}`, { body: body() }) : await post('messages', { body: body() });
        act.dataset.done = 'true';
        page.go(page.url('messages', 'show', { id: saved.id }));
      } catch (error) {
        append(fault, h('p', { class: 'field-fault' }, shown(error.message)), notes(error.answer?.faults ?? [], 'bad'));
        act.disabled = false;
      }
    } } }, one?.state === 'published' && h('p', { class: 'note warn' }, 'It is published: only its test devices change, and its end may move nearer. For anything else stop it, and duplicate it.'),
  form.element, h('details', { class: 'panel', open: one?.state === 'published' }, h('summary', { class: 'panel-head' }, h('b', 'The whole document')), h('div', { class: 'panel-body' },
    h('p', { class: 'muted' }, 'Further languages, audience, frequency, variants, custom data, conversion, test devices.'), text)), fault, h('div', { class: 'row wrap' }, act, copyButton([
    { name: 'Document', text: () => text.value }, { name: 'Command', text: words }, { name: 'curl', text: () => (one ? curl('PUT', `/admin/v1/messages/${one.id}`, {}, body()) : curl('POST', '/admin/v1/messages', {}, body())) }])));
  root.append(heading(one ? `Edit ${shown(one.name)}` : 'New campaign', { crumbs: to(page.url('messages'), 'Messages') }),
    h('div', { class: 'split' }, h('div', { class: 'split-main' }, element), h('div', { class: 'split-side' }, preview.element)));
  form.element.querySelector('input').focus();
}
