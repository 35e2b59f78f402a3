// The parts that pages are made of, with those of base.js, dialogs.js and menu.js.

import { button } from './base.js';
import { cut, h, shown, uniqueId } from './dom.js';
import { isObject, write } from './json.js';
import { number, size } from './time.js';

export {
  act, actorLink, badge, button, choice, code, col, copyButton, copyIcon, empty, errorPanel, eventLink, guard, heading, note, num, panel, quiet, table, to, when,
} from './base.js';
export { copyText, dialog, palette, toast } from './dialogs.js';
export { uniqueId } from './dom.js';
export { menu } from './menu.js';

/** Tabs: tabs({label, items: [{id, name, count}], current, change: (id) => …}) -> {element, panel, select(id)}; the page fills `panel`. */
export function tabs({ label, items, current, change }) {
  const group = uniqueId('tabs');
  const content = h('div', { class: 'tab-panel', role: 'tabpanel', id: `${group}-panel`, tabindex: 0 });
  const buttons = items.map(({ id, name, count }) => h('button', {
    type: 'button', class: 'tab', role: 'tab', id: `${group}-${id}`, aria: { controls: `${group}-panel` }, dataset: { id },
    on: { click: () => pick(id) },
  }, name, count !== undefined && h('span', { class: 'count' }, number(count))));
  const list = h('div', { class: 'tabs', role: 'tablist', aria: { label } }, buttons);
  const select = (id) => {
    for (const item of buttons) {
      const isCurrent = item.dataset.id === id;
      item.setAttribute('aria-selected', String(isCurrent));
      item.tabIndex = isCurrent ? 0 : -1;
      if (isCurrent) content.setAttribute('aria-labelledby', item.id);
    }
  };
  const pick = (id) => {
    select(id);
    change?.(id);
  };
  list.addEventListener('keydown', (event) => {
    const here = buttons.findIndex((item) => item.getAttribute('aria-selected') === 'true');
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = buttons[(to + buttons.length) % buttons.length];
    next.focus();
    pick(next.dataset.id);
  });
  select(current ?? items[0]?.id);
  return { element: list, panel: content, select };
}

/** A labelled field: field('Reason', input, {help, error, wide}); `.fault(text)` shows what is wrong with it, '' takes it away. */
export function field(name, input, { help, error, wide } = {}) {
  input.id ||= uniqueId('field');
  const note = h('p', { class: 'field-help', id: `${input.id}-help` }, help);
  const fault = h('p', { class: 'field-fault', id: `${input.id}-fault`, hidden: true });
  const element = h('div', { class: ['field', wide && 'wide'] },
    h('label', { for: input.id }, name), input, help && note, fault);
  element.fault = (text) => {
    fault.textContent = text || '';
    fault.hidden = !text;
    input.setAttribute('aria-invalid', String(Boolean(text)));
    const described = [help && note.id, text && fault.id].filter(Boolean).join(' ');
    if (described) input.setAttribute('aria-describedby', described);
    else input.removeAttribute('aria-describedby');
  };
  element.fault(error);
  return element;
}

/** A text input: input({value, type, placeholder, on, …}). */
export const input = (props = {}) => h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', class: 'input', ...props });
/** A text area. */
export const area = (props = {}, text = '') => h('textarea', { class: 'input', rows: 3, spellcheck: 'false', ...props }, text);
/** A check box with its words. */
export const check = (name, props = {}) => h('label', { class: 'check' }, h('input', { type: 'checkbox', ...props }), h('span', name));

/** Names with what they are: facts([['Revision', 'r6'], …]); pairs whose second is null are left out. */
export const facts = (pairs) => h('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== null
  && value !== undefined && value !== false).map(([name, value]) => h('div', h('dt', name), h('dd', value))));

/** A value of the tree in one line, cut: leaves as JSON, nodes as {3}. */
export function inline(value, length = 60) {
  if (value === undefined || value === null) return h('span', { class: 'muted' }, value === null ? 'null' : '—');
  if (isObject(value)) {
    const count = value instanceof Map ? value.size : Object.keys(value).length;
    return h('code', { class: 'value' }, `{${number(count)}}`);
  }
  const whole = typeof value === 'string' ? `"${shown(value)}"` : write(value);
  const tone = typeof value === 'string' ? 'text' : typeof value === 'boolean' ? 'word' : 'digits';
  const title = whole.length > length ? cut(whole, 400) : undefined;
  return h('code', { class: `value ${tone}`, title }, cut(whole, length),
    whole.length > length && whole.length > 1000 && h('span', { class: 'muted' }, ` ${size(whole.length)}`));
}

/** JSON that folds: objects beyond `open` levels or 100 members are folded; texts and integers are exact. */
export function jsonView(value, { open = 2, name } = {}) {
  const label = name === undefined ? null : h('span', { class: 'json-key' }, `${shown(name)}: `);
  const isArray = Array.isArray(value);
  if (!isArray && !isObject(value)) {
    return h('div', { class: 'json-line' }, label, inline(value, 2000), typeof value === 'string' && /^https?:\/\/\S+$/.test(value)
      && h('a', { class: 'json-open', href: value, rel: 'noopener noreferrer', target: '_blank' }, 'open'));
  }
  const members = isArray ? value.map((item, index) => [index, item]) : value instanceof Map ? [...value] : Object.entries(value);
  if (members.length === 0) return h('div', { class: 'json-line' }, label, isArray ? '[]' : '{}');
  const body = h('div', { class: 'json-body' });
  const details = h('details', { class: 'json' },
    h('summary', label, h('span', { class: 'muted' }, isArray ? `[${number(members.length)}]` : `{${number(members.length)}}`)), body);
  let drawn = 0;
  const more = () => {
    const next = members.slice(drawn, drawn + 100);
    drawn += next.length;
    body.append(...next.map(([key, item]) => jsonView(item, { open: open - 1, name: key })));
    if (drawn < members.length) {
      const rest = button(`${number(members.length - drawn)} more`, () => {
        rest.remove();
        more();
      }, { small: true });
      body.append(rest);
    }
  };
  details.addEventListener('toggle', () => {
    if (details.open && drawn === 0) more();
  });
  if (open > 0 && members.length <= 100) {
    details.open = true;
    more();
  }
  return details;
}

/** A path as a link to Data; `query` such as {at: 'r8'}. */
export const pathLink = (page, path, query) => h('a', { class: 'path', href: page.url('data', path, query) }, shown(path || '/'));
/** A player's id as a link to the rewards of that player. */
export const playerLink = (page, uid) => h('a', { href: page.url('rewards/u', uid) }, shown(uid));
/** A ledger entry as a link. */
export const entryLink = (page, sequence) => h('a', { href: page.url('rewards/entry', sequence) }, `entry ${number(sequence)}`);
/** A function's name as a link. */
export const functionLink = (page, name) => h('a', { href: page.url('functions', name) }, shown(name));

/** An amount with its sign and unit, coloured: +50 pieces_of_eight. */
export function coins(amount, unit) {
  const isLess = typeof amount === 'bigint' ? amount < 0n : amount < 0;
  const sign = !isLess && (typeof amount === 'bigint' ? amount > 0n : amount > 0) ? '+' : '';
  return h('span', { class: ['coins', isLess ? 'minus' : 'plus'] }, sign + number(amount), unit && h('span', { class: 'unit' }, ` ${shown(unit)}`));
}
