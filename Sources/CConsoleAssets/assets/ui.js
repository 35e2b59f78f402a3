// The parts that pages are made of. Dialogs, toasts, menus and the palette are in dialogs.js and can be imported from here.

import { clear, cut, encodePath, h, shown } from './dom.js';
import { isObject, write } from './json.js';
import { icon } from './icons.js';
import { menu } from './dialogs.js';
import { number, size } from './time.js';

export { confirm, copyText, dialog, menu, palette, toast } from './dialogs.js';

let serial = 0;
/** A name for an element that is used once in the page. */
export const uniqueId = (name) => `${name}-${(serial += 1)}`;

const STATES = {
  done: ['●', 'ok'], ok: ['●', 'ok'], sound: ['●', 'ok'], running: ['◐', 'wait'], waiting: ['◔', 'wait'], paused: ['⏸', 'paused'],
  dead: ['✕', 'dead'], failed: ['✕', 'dead'], refused: ['✕', 'dead'], pending: ['○', 'muted'], skipped: ['⤼', 'muted'],
  cancelled: ['⊘', 'muted'], disabled: ['⊘', 'dead'], none: ['·', 'muted'],
};

/** A status as shape, word and colour: badge('dead'), badge('waiting', '3 waiting'). Unknown states show as they are. */
export function badge(state, text = state) {
  const [shape, tone] = STATES[state] ?? ['◇', 'muted'];
  return h('span', { class: `badge ${tone}` }, h('span', { class: 'shape', aria: { hidden: 'true' } }, shape), shown(text ?? '?'));
}

/** A button: button('Save', fn, {primary, danger, quiet, icon, disabled, title, label, small}). A promise of `run` blocks it meanwhile. */
export function button(name, run, options = {}) {
  const { primary, danger, quiet, icon: iconName, disabled, title, label, small, type = 'button' } = options;
  const element = h('button', {
    type, class: ['button', primary && 'primary', danger && 'danger', quiet && 'quiet', small && 'small', !name && 'only-icon'],
    title: title ?? (name ? undefined : label), aria: { label }, disabled: disabled === true,
  }, iconName && icon(iconName), name);
  element.addEventListener('click', async (event) => {
    const result = run?.(event, element);
    if (!(result instanceof Promise) || element.disabled) return;
    element.setAttribute('aria-busy', 'true');
    element.disabled = true;
    try {
      await result;
    } finally {
      element.removeAttribute('aria-busy');
      element.disabled = disabled === true;
    }
  });
  return element;
}

/** A control that only a role may use: disabled with "takes support" where the session has less. Gives the control. */
export function guard(control, page, role) {
  if (page.needs(role)) return control;
  control.disabled = true;
  control.title = `takes ${role}`;
  const name = control.getAttribute('aria-label') ?? control.textContent;
  control.setAttribute('aria-label', `${name} (takes ${role})`);
  if (control.textContent !== '') control.append(h('span', { class: 'takes' }, `takes ${role}`));
  return control;
}

/** The copy menu of a page: copyButton([{name: 'Link', text: '…' or () => '…'}, …]). */
export function copyButton(items, { label = 'Copy' } = {}) {
  return menu(label, () => items.map(({ name, text }) => ({ name, copy: text })), { icon: 'copy' });
}

/** A small button that copies one text. */
export function copyIcon(text, label = 'Copy') {
  return button('', async () => (await import('./dialogs.js')).copyText(text), { icon: 'copy', quiet: true, small: true, label });
}

/** What stands where a panel failed: what happened, and Try again. */
export function errorPanel(error, retry) {
  if (error?.name !== 'ApiError' && error?.name !== 'AbortError') console.debug(error);
  // A database is there from its first write on: until then there is nothing to be alarmed about.
  const start = /^\/console\/n\/[^/]+/.exec(location.pathname)?.[0];
  if (error?.code === 'unknown_namespace' && start) {
    return empty('Nothing was written into this database yet.', h('div', { class: 'row wrap' },
      h('a', { class: 'button', href: `${start}/start` }, 'Try it: Alice refers Bob'), retry && button('Try again', () => retry(), { quiet: true })));
  }
  const message = shown(error?.message ?? String(error));
  const after = error?.retryAfter ? ` Again possible in ${number(error.retryAfter)} s.` : '';
  const hint = error?.status === 403 ? ' Another role, or a newer sign-in, is needed.' : '';
  return h('div', { class: 'error-panel', role: 'alert' },
    h('span', { class: 'shape', aria: { hidden: 'true' } }, '✕'),
    h('div', h('p', message + hint + after), retry && button('Try again', () => retry(), { small: true })));
}

/** An empty state: what will be there, and one action, {name, href} or {name, run} or a node. */
export function empty(text, action) {
  const control = !action || action instanceof Node ? action
    : action.href ? h('a', { class: 'button', href: action.href }, action.name) : button(action.name, action.run);
  return h('div', { class: 'empty' }, h('p', text), control);
}

/**
 * A panel that loads and fails alone: panel({title, load: async (signal) -> Node(s), actions: [nodes], page, level: 2}).
 * -> {element, body, reload(): reads again and keeps what is there meanwhile}
 */
export function panel({ title, load, actions, signal, level = 2, plain, class: className }) {
  const id = uniqueId('panel');
  const body = h('div', { class: 'panel-body' });
  const element = h('section', { class: ['panel', plain && 'plain', className], aria: { labelledby: id } },
    h('header', { class: 'panel-head' }, h(`h${level}`, { id }, title), actions && h('div', { class: 'actions' }, actions)), body);
  let turn = 0;
  const reload = async () => {
    const mine = (turn += 1);
    const slow = setTimeout(() => {
      if (mine === turn && !body.hasChildNodes()) body.append(h('p', { class: 'loading' }, 'Loading…'));
    }, 150);
    try {
      const content = await load(signal);
      if (mine === turn) body.replaceChildren(...[content].flat(9).filter(Boolean));
    } catch (error) {
      if (mine === turn && error?.name !== 'AbortError') body.replaceChildren(errorPanel(error, reload));
    } finally {
      clearTimeout(slow);
    }
  };
  return { element, body, reload, first: load ? reload() : undefined };
}

/**
 * A table: table({caption, columns: [{name, cell: (row) => Node | text, number, sort: 'key', class}], rows, empty, open: (row) => …,
 * href: (row) => url, sort: 'key' or '-key', sorted: (key) => …}). The caption is for readers only. It scrolls in its own box.
 */
export function table({ caption, columns, rows, empty: none, open, href, sort, sorted }) {
  if (rows.length === 0 && none) return none instanceof Node ? none : empty(none);
  const heads = columns.map((column) => {
    const direction = sort === column.sort ? 'ascending' : sort === `-${column.sort}` ? 'descending' : null;
    const props = { scope: 'col', class: [column.number && 'number', column.class], aria: { sort: column.sort ? direction : null } };
    if (!column.sort || !sorted) return h('th', props, column.name);
    const arrow = direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : '';
    return h('th', props, h('button', {
      type: 'button', class: 'sort', on: { click: () => sorted(direction === 'ascending' ? `-${column.sort}` : column.sort) },
    }, column.name, arrow));
  });
  const cellOf = (column, row) => {
    try {
      const content = column.cell(row);
      return typeof content === 'string' ? shown(content) : content;
    } catch (error) {
      return h('span', { class: 'dead' }, `✕ ${error.message}`);
    }
  };
  const lines = rows.map((row) => {
    const cells = columns.map((column, index) => {
      const content = cellOf(column, row);
      const linked = index === 0 && href ? h('a', { href: href(row) }, content) : content;
      return h('td', { class: [column.number && 'number', column.class], dataset: { name: column.name } }, linked);
    });
    const line = h('tr', { class: open && 'opens' }, cells);
    if (open) {
      line.addEventListener('click', (event) => {
        if (!event.target.closest('a, button, input, select') && String(getSelection()) === '') open(row);
      });
    }
    return line;
  });
  return h('div', { class: 'table-box', tabindex: 0, role: 'group', aria: { label: caption ?? 'Table' } },
    h('table', { class: 'table' }, caption && h('caption', { class: 'only-read' }, caption),
      h('thead', h('tr', heads)), h('tbody', lines)));
}

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
export function field(name, input, { help, error, wide, hideLabel } = {}) {
  input.id ||= uniqueId('field');
  const note = h('p', { class: 'field-help', id: `${input.id}-help` }, help);
  const fault = h('p', { class: 'field-fault', id: `${input.id}-fault`, hidden: true });
  const element = h('div', { class: ['field', wide && 'wide'] },
    h('label', { for: input.id, class: hideLabel && 'only-read' }, name), input, help && note, fault);
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
/** A choice: choice([['a', 'Name of a'], 'b'], value, props). */
export const choice = (options, value, props = {}) => h('select', { class: 'input', ...props, value }, options.map((option) => {
  const [id, name] = Array.isArray(option) ? option : [option, option];
  return h('option', { value: id }, name);
}));
/** A check box with its words. */
export const check = (name, props = {}) => h('label', { class: 'check' }, h('input', { type: 'checkbox', ...props }), h('span', name));

/** Names with what they are: facts([['Revision', 'r6'], …]); pairs whose second is null are left out. */
export const facts = (pairs, props = {}) => h('dl', { class: 'facts', ...props }, pairs.filter(([, value]) => value !== null
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
/** An event's id as a link to it. */
export const eventLink = (page, id, name) => h('a', { class: 'path', href: page.url('event', id), dataset: { event: id } }, shown(name ?? id));
/** A player's id as a link to the rewards of that player. */
export const playerLink = (page, uid) => h('a', { href: page.url('rewards/u', uid) }, shown(uid));
/** A ledger entry as a link. */
export const entryLink = (page, sequence) => h('a', { href: page.url('rewards/entry', sequence) }, `entry ${number(sequence)}`);
/** A function's name as a link. */
export const functionLink = (page, name) => h('a', { href: page.url('functions', name) }, shown(name));

/** Who did it, as a link where there is a page of them: user:bob, function:rewardReferrals, admin:owner, anonymous. */
export function actorLink(page, actor) {
  if (typeof actor !== 'string' || actor === '') return h('span', { class: 'muted' }, '—');
  const [kind, name] = [actor.slice(0, actor.indexOf(':')), actor.slice(actor.indexOf(':') + 1)];
  if (kind === 'user') return h('a', { href: page.url('accounts', name) }, shown(actor));
  if (kind === 'function') return h('a', { href: page.url('functions', name) }, shown(actor));
  return h('span', shown(actor));
}

/** The head of a page: its title (h1), what stands under it, and actions at its end. */
export function heading(title, { sub, actions, crumbs } = {}) {
  return h('div', { class: 'page-head' }, h('div', { class: 'page-title' }, crumbs && h('p', { class: 'crumbs' }, crumbs),
    h('h1', title), sub && h('p', { class: 'page-sub' }, sub)), actions && h('div', { class: 'actions' }, actions));
}

/** An amount with its sign and unit, coloured: +50 pieces_of_eight. */
export function coins(amount, unit) {
  const isLess = typeof amount === 'bigint' ? amount < 0n : amount < 0;
  const sign = !isLess && (typeof amount === 'bigint' ? amount > 0n : amount > 0) ? '+' : '';
  return h('span', { class: ['coins', isLess ? 'minus' : 'plus'] }, sign + number(amount), unit && h('span', { class: 'unit' }, ` ${shown(unit)}`));
}

/** Empties a node, and puts "Loading…" there if it takes long. Gives a function that ends it. */
export function loading(node) {
  const timer = setTimeout(() => clear(node).append(h('p', { class: 'loading' }, 'Loading…')), 150);
  return () => clearTimeout(timer);
}

export { encodePath };
