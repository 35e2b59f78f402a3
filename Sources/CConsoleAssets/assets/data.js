// Data: the tree of a namespace, now or as of any commit. The path, the moment, the order, what is selected and the pane are in the URL.

import * as api from './api.js';
import { fill, h, shown } from './dom.js';
import { parse, write } from './json.js';
import { addChild, read, remove, valuePane } from './editor.js';
import { asOfBar, diffPane, historyPane } from './history.js';
import { command, saveTable } from './parts.js';
import { join, split, TreeGrid } from './tree.js';
import { button, choice, col, copyButton, empty, errorPanel, guard, heading, inline, input, quiet, table, tabs, to, when } from './ui.js';

const ORDERS = [['key', 'Key'], ['priority', 'Priority'], ['value', 'Value'], ['child', 'Child…']];
const PANES = { tree: valuePane, table: tablePane, json: valuePane, history: historyPane, diff: diffPane };
const TABS = [['tree', 'Value'], ['table', 'Table'], ['json', 'JSON'], ['history', 'History'], ['diff', 'Diff']].map(([id, name]) => ({ id, name }));

/** The title of the page. */
export const title = ({ path }) => `${shown(split(path).at(-1) ?? '/')} · Data`;

/** A bound as JSON: what is none is a text. */
const bound = (text) => {
  try {
    parse(text);
    return text;
  } catch {
    return write(text);
  }
};

/** What is typed for a value, as bounds: 5, >=5, <=9, 5..9, gold. */
function boundsOf(typed) {
  const [, sign, low, high] = /^\s*(>=|<=|≥|≤)?\s*(.*?)(?:\.\.(.*))?\s*$/s.exec(typed);
  if (high !== undefined) return { ge: low && bound(low), le: high && bound(high) };
  return { [{ '>=': 'ge', '≥': 'ge', '<=': 'le', '≤': 'le' }[sign] ?? 'eq']: low && bound(low) };
}
const typedBounds = ({ eq, ge, le }) => eq ?? (ge && le ? `${ge}..${le}` : ge ? `>=${ge}` : le ? `<=${le}` : '');

/** The pane of a node's children as a table: to be read by ear, or saved. */
async function tablePane(ctx) {
  const { rows, next } = await ctx.page.get('data/children', { path: ctx.path, revision: ctx.at, limit: 200 });
  const cells = (row) => [row.key, row.kind === 'node' ? '' : row.cut ? `${row.value}…` : row.value, row.kind, row.priority, row.revision, row.time && new Date(Number(row.time)).toISOString()];
  return [rows.length > 0 && h('div', { class: 'actions' }, button('CSV', () => saveTable('children.csv', [['key', 'value', 'kind', 'priority', 'revision', 'changed'], ...rows.map(cells)]), { small: true, icon: 'download' })),
    table({
      caption: `Children of ${ctx.path}`, rows, empty: 'It has no children.', columns: [
        col('Key', (row) => to(ctx.url(join(ctx.path, row.key)), shown(row.key)), true), col('Value', (row) => (row.kind === 'node' ? `{${row.children >= 100 ? '100+' : row.children ?? '…'}}` : [inline(row.value, 80), row.cut && '…']), true),
        col('Priority', (row) => row.priority !== undefined && inline(row.priority)), col('Revision', (row) => row.revision && `r${row.revision}`), when('Changed', 'time')],
    }), next !== undefined && quiet('The first 200; the tree has all.')];
}

/** What the address says: `{base, path, at, to, order, from, where, sel, tab}`; `at` and `to` are revisions, `path` is that of what is selected. */
async function place(page) {
  const { query } = page;
  const revision = async (name) => {
    const [, kind, digits] = /^([rt])(\d+)$/.exec(query.get(name) ?? '') ?? [];
    if (kind !== 't') return digits && Number(digits);
    const { commits } = await api.get('data/log', { ns: page.ns, path: '/', until: digits, limit: 1, changes: 0 }, { signal: page.signal });
    return commits[0]?.revision ?? 0;
  };
  const [at, to] = await Promise.all(['at', 'to'].map(revision));
  const where = Object.fromEntries(['eq', 'ge', 'le'].flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));
  const [order, base, sel] = [query.get('order') ?? 'key', join(page.params.path), query.get('sel') ?? ''];
  return {
    base, at, to, where: order === 'key' ? {} : where, wanted: order === 'key' ? '' : typedBounds(where),
    order: order.startsWith('child:') ? order.slice(6) : `$${order}`, from: (order === 'key' && query.get('from')) || undefined, sel,
    path: join(base, sel), tab: Object.hasOwn(PANES, query.get('tab')) ? query.get('tab') : 'tree',
  };
}

class DataPage {
  constructor(page) {
    Object.assign(this, { page, ns: page.ns });
    this.fault = (error) => error.name !== 'AbortError' && fill(this.pane, errorPanel(error, () => this.reload()));
    const below = (row) => join(this.base, row?.id);
    this.tree = new TreeGrid({
      ns: page.ns, signal: page.signal, link: (id) => this.url(join(this.base, id)), state: (answer) => this.state(answer),
      select: (row) => this.set({ sel: row.id.slice(1) }), open: (id) => this.go(join(this.base, id)),
      edit: async (row) => {
        await this.set({ sel: row.id.slice(1), tab: null });
        await this.ready;
        this.edit?.();
      },
      addTo: (row) => this.writes() && addChild(this, row?.kind === 'node' ? below(row) : this.base),
      remove: (row) => this.writes() && remove(this, below(row)),
    });
    this.bar = asOfBar(this);
    this.build();
    const step = (by) => () => this.bar.step(by).catch(this.fault);
    Object.assign(page, {
      keys: { '[': step(-1), ']': step(1), n: () => this.writes() && addChild(this, this.base), e: () => this.edit?.() },
      changed: () => this.show(), dirty: () => this.dirty?.(),
    });
  }

  build() {
    const form = (action, ...children) => h('form', { class: 'row', on: { submit: (event) => { event.preventDefault(); action(); } } }, children);
    const field = (label, props) => input({ placeholder: label, size: 12, aria: { label }, ...props });
    this.title = h('div');
    this.crumbs = h('nav', { class: 'crumbs', aria: { label: 'Path' } });
    this.typed = field('Path', { size: 30, on: { keydown: (event) => event.key === 'Escape' && this.typing(false) } });
    this.typer = form(() => {
      const path = join(this.typed.value);
      this.typing(false);
      this.go(path);
    }, this.typed, h('button', { class: 'button' }, 'Go'));
    this.typer.hidden = true;
    this.orders = choice(ORDERS, 'key', { aria: { label: 'Order' }, on: { change: () => this.reorder() } });
    this.child = field('child/path', { hidden: true, on: { change: () => this.reorder() } });
    this.bounds = field('Value, such as 5 or 5..9', { hidden: true, size: 16, on: { change: () => this.set({ eq: null, ge: null, le: null, ...boundsOf(this.bounds.value) }) } });
    this.jump = field('Jump to key');
    const jump = form(() => this.set({ from: this.jump.value, order: null, sel: null })?.then(() => this.tree.focus(this.tree.root.rows[0]?.id)), this.jump);
    this.add = guard(button('Add', () => addChild(this, this.base), { icon: 'plus' }), this.page, 'admin');
    const take = async (name) => (await import('./transfer.js'))[name](this);
    this.take = guard(button('Import', () => take('importFile')), this.page, 'admin');
    this.note = h('div');
    this.tabs = tabs({ label: 'Pane', items: TABS, current: 'tree', change: (id) => this.set({ tab: id }) });
    this.pane = this.tabs.panel;
    this.target = h('h2');
    const close = button('', () => this.set({ sel: null, tab: null })?.then(() => this.tree.focus()), { icon: 'close', quiet: true, label: 'Close' });
    this.element = h('div', { class: 'data' }, this.title,
      h('div', { class: 'toolbar' }, h('div', { class: 'row grow' }, this.crumbs, this.typer,
        button('', () => this.typing(this.typer.hidden), { icon: 'edit', quiet: true, label: 'Type a path' })), this.orders, this.child, this.bounds, jump, this.add,
        button('Export', () => take('exportFile')), this.take),
      this.bar.element, h('div', { class: 'data-split' }, h('div', { class: 'data-main' }, this.note, this.tree.element),
        h('section', { class: 'data-pane', aria: { label: 'Selected' } }, h('div', { class: 'spread' }, this.target, close), this.tabs.element, this.pane)));
  }

  url(path) { return this.page.url('data', path, { at: this.at && `r${this.at}` }); }

  go(path) { return this.page.go(this.url(path)); }

  writes() { return this.at === undefined && this.page.needs('admin'); }

  /** Changes the address and draws what it says then; asks first where an edit would be lost. */
  set(changes, options) {
    if (this.dirty?.() && !window.confirm('The value is not saved. Leave it?')) return undefined;
    this.dirty = null;
    this.page.setQuery(changes, options);
    return this.show();
  }

  typing(isOn) {
    this.typer.hidden = !isOn;
    this.crumbs.hidden = isOn;
    this.typed.value = this.base;
    if (isOn) this.typed.select();
    this.element.querySelector(isOn ? '.toolbar form input' : '.crumbs a:last-of-type').focus();
  }

  reorder() {
    const order = this.orders.value;
    this.child.hidden = order !== 'child';
    if (order === 'child' && !this.child.value) this.child.focus();
    else this.set({ order: order === 'key' ? null : order === 'child' ? `child:${this.child.value}` : order, from: null, eq: null, ge: null, le: null });
  }

  /** Draws what the address says, and only what is another than before. */
  async show() {
    const to = await place(this.page);
    const is = (...names) => names.some((name) => to[name] !== this.shown?.[name]);
    const [isMoved, isOther] = [is('at', 'order', 'from', 'wanted'), is('sel', 'tab', 'to')];
    const isFirst = !this.shown;
    Object.assign(this, to, { shown: to });
    this.frame();
    if (isMoved) await this.tree.load({ path: this.base, at: this.at, order: this.order, from: this.from, where: this.where });
    if (isMoved || isOther) await this.tree.reveal(split(this.sel));
    const bar = isFirst ? this.bar.load().catch(() => {}) : this.bar.show();
    this.ready = Promise.all([bar, (isMoved || isOther) && this.reload()]);
  }

  frame() {
    const keys = split(this.base);
    const name = shown(keys.at(-1) ?? '/');
    const link = (key, at) => [at > 1 && h('span', { aria: { hidden: true } }, '/'),
      h('a', { href: this.url(join(...keys.slice(0, at))), aria: { current: at === keys.length ? 'page' : null } }, shown(key))];
    fill(this.title, heading(name, { actions: copyButton(this.copies()) }));
    fill(this.crumbs, ['/', ...keys].map(link));
    const isChild = !this.order.startsWith('$');
    this.orders.value = isChild ? 'child' : this.order.slice(1);
    this.child.hidden = !isChild;
    if (isChild) this.child.value = this.order;
    this.bounds.hidden = this.order === '$key';
    this.bounds.value = this.wanted;
    this.jump.disabled = this.order !== '$key';
    this.add.disabled = this.take.disabled = !this.writes();
    fill(this.target, shown(this.sel || name));
    this.tabs.select(this.tab);
    this.element.classList.toggle('has-pane', this.sel !== '' || this.page.query.has('tab'));
    this.element.classList.toggle('is-past', this.at !== undefined);
  }

  copies() {
    const { ns, path, base, at, to, from, where, page } = this;
    const order = this.order === '$key' ? undefined : this.order;
    const pair = (name, words, args, options, route, params) => [
      { name: `${name}, as command`, text: () => command(page, words, args, options) },
      { name: `${name}, as curl`, text: () => api.curl('GET', route, { ns, ...params }) }];
    return [{ name: 'Link', text: () => location.href }, { name: 'Path', text: path },
      { name: 'JSON', text: async () => write((await read(this, path, at)).value, 2) },
      ...pair('Value', 'data get', [path], { at }, 'data', { path, revision: at }),
      ...pair('Children', 'data children', [base], { at, order, from, ...where, json: true }, 'data/children', { path: base, revision: at, order, from, ...where }),
      ...(this.tab === 'history' ? pair('History', 'data log', [path], { json: true }, 'data/log', { path }) : []),
      ...(this.tab === 'diff' && at !== undefined ? pair('Differences', 'data diff', [path], { from: at, to, json: true }, 'data/diff', { path, from: at, to }) : [])];
  }

  state({ rows, exists }) {
    this.tree.element.hidden = rows.length === 0;
    const isRoot = this.base === '/' && this.at === undefined;
    fill(this.note, rows.length > 0 ? null : this.wanted ? empty('No child has such a value.', { name: 'All children', run: () => this.set({ eq: null, ge: null, le: null }) })
      : exists ? empty('A value, without children.', { name: 'Show it', run: () => this.set({ tab: 'tree' }) })
        : isRoot ? empty('Nothing is stored here yet. Start writes a first scenario.', { name: 'Start', href: this.page.url('start') })
          : empty(this.at === undefined ? 'Nothing is here now. History tells what was here.' : `Nothing was here as of r${this.at}.`));
  }

  async reload() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const hadFocus = this.pane.contains(document.activeElement);
    this.row = this.tree.row(join(this.sel));
    this.seen = this.row?.revision;
    try {
      const content = await PANES[this.tab](this);
      if (turn !== this.turn) return;
      fill(this.pane, content);
      if (hadFocus) this.pane.focus();
    } catch (error) {
      if (turn === this.turn) this.fault(error);
    }
  }

  /** Reads again what may have changed; an edit, and what has the focus, stay as they are. */
  async live(revision = this.page.live.revision) {
    if (this.at !== undefined) return;
    await this.tree.refresh(revision);
    const isOther = this.sel ? this.tree.row(join(this.sel))?.revision !== this.seen : revision !== this.last;
    this.last = revision;
    if (isOther && !this.dirty?.() && !this.pane.contains(document.activeElement) && this.tab !== 'diff') await this.reload();
  }

  async changed(revision) {
    await this.live(revision);
    await this.bar.load().catch(() => {});
  }
}

/** Shows the page; it is drawn again in place while only the query changes. */
export async function mount(root, page) {
  const view = new DataPage(page);
  root.classList.add('fill');
  root.append(view.element);
  await view.show();
  page.live.refetch(() => view.live(), { signal: page.signal, gap: 400 });
}
