// The parts of the frame and of the first page; ui.js has more, and all of these.

import { h, shown, uniqueId } from './dom.js';
import { icon } from './icons.js';
import { menu } from './menu.js';
import { number, time } from './time.js';

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

/** A button that only a role may press: act(page, 'admin', 'Save', fn, {primary}), see button and guard. */
export const act = (page, role, ...of) => guard(button(...of), page, role);

/** A text in the letters of code. */
export const code = (text) => h('code', shown(text));
/** A line of less weight. */
export const quiet = (...content) => h('p', { class: 'muted' }, content);
/** A sentence in a box: note('warn', …), 'bad', 'good'. */
export const note = (tone, ...content) => h('p', { class: `note ${tone}` }, content);
/** A link. */
export const to = (href, ...name) => h('a', { href }, name);

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
 * A panel that loads and fails alone: panel({title, load: async (signal) -> Node(s), actions: [nodes], page}).
 * -> {element, body, reload(quiet): reads again and keeps what is there meanwhile; `true`: also where the server does not answer}
 */
export function panel({ title, load, actions, signal, plain, class: className }) {
  const id = uniqueId('panel');
  const body = h('div', { class: 'panel-body' });
  const element = h('section', { class: ['panel', plain && 'plain', className], aria: { labelledby: id } },
    h('header', { class: 'panel-head' }, h('h2', { id }, title), actions && h('div', { class: 'actions' }, actions)), body);
  let turn = 0;
  let isDrawn = false;
  const reload = async (quiet) => {
    const mine = (turn += 1);
    const slow = setTimeout(() => {
      if (mine === turn && !body.hasChildNodes()) body.append(h('p', { class: 'loading' }, 'Loading…'));
    }, 150);
    try {
      const content = await load(signal);
      if (mine !== turn) return;
      body.replaceChildren(...[content].flat(9).filter(Boolean));
      isDrawn = true;
    } catch (error) {
      if (quiet === true && isDrawn && error?.status === 0) return; // The light says it.
      if (mine === turn && error?.name !== 'AbortError') body.replaceChildren(errorPanel(error, reload));
    } finally {
      clearTimeout(slow);
    }
  };
  return { element, body, reload, first: load ? reload() : undefined };
}

/**
 * A table: table({caption, columns: [{name, cell: (row) => Node | text, number, class}], rows, empty, open: (row) => …}). The caption is
 * for readers only. It scrolls in its own box.
 */
export function table({ caption, columns, rows, empty: none, open }) {
  if (rows.length === 0 && none) return none instanceof Node ? none : empty(none);
  const heads = columns.map((column) => h('th', { scope: 'col', class: [column.number && 'number', column.class] }, column.name));
  const cellOf = (column, row) => {
    try {
      const content = column.cell(row);
      return typeof content === 'string' ? shown(content) : content;
    } catch (error) {
      return h('span', { class: 'dead' }, `✕ ${error.message}`);
    }
  };
  const lines = rows.map((row) => {
    const line = h('tr', { class: open && 'opens' }, columns.map((column) => h('td', {
      class: [column.number && 'number', column.class], dataset: { name: column.name } }, cellOf(column, row))));
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

const member = (cell) => (typeof cell === 'string' ? (row) => row[cell] : cell);
/** A column of a table: col('Name', (row) => …) or col('Name', 'member'); its cells do not break inside words where `wide` is not given. */
export const col = (name, cell, wide) => ({ name, cell: member(cell), class: wide ? undefined : 'nowrap' });
/** A column of numbers: of a member of the rows, or of what a function makes of one. */
export const num = (name, cell) => ({ name, cell: typeof cell === 'string' ? (row) => number(row[cell]) : cell, number: true });
/** A column of times. */
export const when = (name, cell, kind) => col(name, (row) => time(row[cell], kind));

/** A choice: choice([['a', 'Name of a'], 'b'], value, props). */
export const choice = (options, value, props = {}) => h('select', { class: 'input', ...props, value }, options.map((option) => {
  const [id, name] = Array.isArray(option) ? option : [option, option];
  return h('option', { value: id }, name);
}));

/** An event's id as a link to it. */
export const eventLink = (page, id, name) => h('a', { class: 'path', href: page.url('event', id), dataset: { event: id } }, shown(name ?? id));

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
