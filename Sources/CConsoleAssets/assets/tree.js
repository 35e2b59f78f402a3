// The tree grid: windows of children by key, unfolded in place. Rows are recycled: a million children cost what fifty do.
// Whatever comes or goes, the row under the pointer, or with the focus, stays where it is on the screen.

import * as api from './api.js';
import { h, cut, fill, shown } from './dom.js';
import { write } from './json.js';
import { size, time } from './time.js';
import { inline } from './ui.js';

const KEPT = 500;
const DRAWN = 56;
const COLUMNS = ['Key', 'Value', 'Type', 'Priority', 'Revision', 'Changed'];

/** The keys of a path. */
export const split = (path) => String(path ?? '').split('/').filter(Boolean);
/** The path of these keys, or of these pieces of a path. */
export const join = (...pieces) => `/${pieces.flatMap(split).join('/')}`;

const integer = (key) => (/^-?\d{1,10}$/.test(key) && Number(key) === (Number(key) | 0) ? Number(key) : null);

/** The server's order of keys: integers of 32 bits by value, then texts by UTF-16. */
export function compareKeys(a, b) {
  const [x, y] = [integer(a), integer(b)];
  if ((x === null) !== (y === null)) return x === null ? 1 : -1;
  return (x === null ? 0 : x - y || a.length - b.length) || (a < b ? -1 : Number(a > b));
}

/** What kind of thing a value of the tree is, in a word. */
export const kindOf = (value) => ({ string: 'text', boolean: 'true/false', number: 'number', bigint: 'number' }[typeof value] ?? 'node');

/** The grid. `options`: `{ns, signal, link(id), select(row), open(id), edit(row), add(row), remove(row), state(answer)}`; an id is a
 * path below the node that is shown. */
export class TreeGrid {
  constructor(options) {
    Object.assign(this, options, { unfolded: new Map(), lines: [], index: new Map(), drawn: new Map(), latest: 0, above: 0, below: 0 });
    this.height = matchMedia('(pointer: coarse)').matches ? 44 : 28;
    this.body = h('div', { class: 'tree-body', role: 'rowgroup' });
    this.element = h('div', { class: 'tree', role: 'treegrid', aria: { label: 'Children' }, style: { '--tree-row': `${this.height}px` } },
      h('div', { class: 'tree-head', role: 'rowgroup' }, h('div', { class: 'tree-row', role: 'row' },
        COLUMNS.map((name) => h('span', { role: 'columnheader', class: `tree-${name.toLowerCase()}` }, name)))), this.body);
    const on = (type, action) => this.element.addEventListener(type, action);
    on('scroll', () => { this.frame ??= requestAnimationFrame(() => { this.frame = undefined; this.draw(); this.refresh(); }); });
    on('pointermove', (event) => { this.pointer = event.pointerType === 'mouse' ? event.clientY : undefined; });
    on('pointerleave', () => { this.pointer = undefined; this.settle(); });
    on('focusout', () => this.settle());
    on('focusin', (event) => this.activate(event.target.closest('[data-id]')?.dataset.id));
    on('keydown', (event) => this.key(event));
    on('click', (event) => this.click(event));
    const watcher = new ResizeObserver(() => this.draw());
    watcher.observe(this.element);
    this.signal.addEventListener('abort', () => watcher.disconnect());
  }

  /** Shows a node: `{path, at, order, from, where: {eq, ge, le}}`. What was unfolded stays so. */
  async load({ path, at, order, from, where }) {
    this.turn?.abort();
    this.turn = new AbortController();
    Object.assign(this, { path, at, order, where, root: { path: '', depth: 0, rows: [] } });
    const open = [...this.unfolded.values()].map((branch) => this.fetch(branch, { from: branch.rows[0]?.key }));
    await Promise.all([this.fetch(this.root, { from }), ...open]);
    this.layout();
  }

  /** Reads a window of a branch; `merge`: 'after', 'before', 'fresh', or nothing for in place of what it holds. Gives whether it worked. */
  async fetch(branch, params, merge) {
    const { turn } = this;
    Object.assign(branch, { fault: undefined, busy: true });
    try {
      const answer = await api.get('data/children', {
        ns: this.ns, path: join(this.path, branch.path), order: this.order === '$key' ? undefined : this.order, limit: 100, revision: this.at, ...(branch === this.root && this.where), ...params,
      }, { signal: AbortSignal.any([turn.signal, this.signal]), active: merge === 'fresh' ? false : undefined });
      if (turn !== this.turn) return false;
      answer.rows ??= [];
      for (const row of answer.rows) Object.assign(row, { branch, id: join(branch.path, row.key), read: answer.revision });
      if (this.at !== undefined && answer.rows.length > 0) await this.compare(branch, answer.rows, turn);
      this.put(branch, answer, merge, params.from);
      if (branch === this.root) this.state(answer);
      return true;
    } catch (error) {
      if (error.code === 'unknown_namespace') this.state({ rows: [], exists: false });
      else if (error.name !== 'AbortError' && merge !== 'fresh') branch.fault = error;
      return false;
    } finally {
      branch.busy = false;
    }
  }

  /** Marks what changed since the moment that is looked at. */
  async compare(branch, rows, turn) {
    if (this.order !== '$key') return;
    const { rows: now = [] } = await api.get('data/children', { ns: this.ns, path: join(this.path, branch.path), from: rows[0].key, limit: 200 },
      { signal: AbortSignal.any([turn.signal, this.signal]) });
    const known = new Map(now.map((row) => [row.key, row]));
    for (const row of rows) {
      const is = known.get(row.key);
      if (is?.revision > this.at) row.since = 'changed since';
      else if (!is && (now.length < 200 || compareKeys(row.key, now.at(-1).key) < 0)) row.since = 'gone since';
    }
  }

  put(branch, { rows, next, previous }, merge, start) {
    const had = branch.rows;
    if (merge === 'after') {
      branch.rows = [...had, ...rows].slice(-KEPT);
      branch.next = next;
      if (had.length + rows.length > KEPT) branch.previous = branch.rows[0].key;
    } else if (merge === 'before') {
      branch.rows = [...rows, ...had].slice(0, KEPT);
      branch.previous = previous;
      if (had.length + rows.length > KEPT) branch.next = branch.rows.at(-1).key;
    } else if (merge === 'fresh') {
      const old = new Map(had.map((row) => [row.key, row]));
      for (const row of rows) row.changed = row.revision !== old.get(row.key)?.revision;
      const isKeyed = this.order === '$key';
      const before = isKeyed && start !== undefined ? had.filter((row) => compareKeys(row.key, start) < 0) : [];
      const fresh = new Set(rows.map((row) => row.key));
      // In another order what was read behind the first stays, until it is read again.
      const behind = isKeyed
        ? had.filter((row) => compareKeys(row.key, rows.at(-1)?.key ?? start) > 0)
        : had.slice(rows.length).filter((row) => !fresh.has(row.key));
      const after = next === undefined ? [] : behind;
      branch.rows = [...before, ...rows, ...after];
      if (after.length === 0) branch.next = next;
      if (before.length === 0) branch.previous = start === undefined ? undefined : previous;
    } else Object.assign(branch, { rows, next, previous });
  }

  /** Makes the lines of what is known; `hold`: the row that is looked at stays where it is. */
  layout(hold = true) {
    const anchors = hold ? this.anchors() : [];
    this.lines = [];
    this.add(this.root);
    this.index = new Map(this.lines.map((line, at) => [line.id, at]));
    if (!this.index.has(this.active)) this.active = this.lines.find((line) => line.row)?.id;
    const held = anchors.find(([id]) => this.index.has(id));
    this.place(held ? this.index.get(held[0]) * this.height - held[1] : this.element.scrollTop, held);
  }

  add(branch) {
    const more = (side, text) => this.lines.push({ id: `${side}:${branch.path}`, branch, side, depth: branch.depth, text });
    if (branch.previous !== undefined) more('before', 'More above');
    for (const row of branch.rows) {
      this.lines.push({ id: row.id, row, depth: branch.depth });
      if (row.kind === 'node' && this.unfolded.has(row.id)) this.add(this.unfolded.get(row.id));
    }
    if (branch.fault) more('again', `${branch.fault.message} Try again.`);
    else if (branch.next !== undefined) more('after', 'More below');
    else if (branch.busy && branch.rows.length === 0) more('busy', 'Loading…');
  }

  /** The rows that should not move, best first, each with its height in the window. */
  anchors() {
    const top = this.element.scrollTop - this.above;
    const line = (at) => (this.lines[at]?.row ? [[this.lines[at].id, at * this.height - top]] : []);
    const under = this.pointer === undefined ? []
      : line(Math.floor((this.pointer - this.element.getBoundingClientRect().top - this.height + top) / this.height));
    const looked = [...under, ...(this.element.contains(document.activeElement) ? line(this.index.get(this.active)) : [])];
    if (looked.length === 0 && top <= 0 && !this.lines[0]?.side) return [];
    return [...looked, ...Array.from({ length: 40 }, (_, step) => line(Math.ceil(Math.max(0, top) / this.height) + step)).flat()];
  }

  /** Scrolls so that `top` is at the top; with `held`, where the rows do not suffice for that, space is left free. */
  place(top, held) {
    this.above = held ? Math.max(0, -top) : 0;
    this.below = held ? top + this.fits() : 0;
    this.body.style.height = `${Math.max(this.lines.length * this.height + this.above, this.below)}px`;
    if (held) this.element.scrollTop = Math.max(0, top);
    this.draw();
  }

  /** Takes the free space away once nobody looks. */
  settle() {
    if (this.pointer === undefined && (this.above > 0 || this.below > 0)) this.place(this.element.scrollTop - this.above);
  }

  fits() { return Math.max(0, this.element.clientHeight - this.height); }

  /** Draws what is in sight and a little more, and the row that has the focus. */
  draw() {
    const count = Math.ceil(this.fits() / this.height) + 1;
    const spare = Math.max(0, Math.min(10, Math.floor((DRAWN - count) / 2)));
    const first = Math.max(0, Math.floor((this.element.scrollTop - this.above) / this.height) - spare);
    const last = Math.min(this.lines.length, first + Math.min(DRAWN, count + 2 * spare));
    const wanted = new Set(this.index.has(this.active) ? [this.index.get(this.active)] : []);
    for (let at = first; at < last; at += 1) wanted.add(at);
    const ids = new Set([...wanted].map((at) => this.lines[at].id));
    const free = [];
    for (const [id, element] of this.drawn) if (!ids.has(id)) { element.remove(); this.drawn.delete(id); free.push(element); }
    let next = this.body.firstChild;
    for (const at of [...wanted].sort((a, b) => a - b)) {
      const line = this.lines[at];
      const element = this.drawn.get(line.id) ?? free.pop() ?? h('div', { role: 'row' });
      this.drawn.set(line.id, element);
      this.paint(element, line, at);
      if (element === next) next = next.nextSibling;
      else this.body.insertBefore(element, next);
    }
    for (const line of this.lines.slice(Math.max(0, first - 20), last + 20)) if (line.side === 'after' || line.side === 'before') this.extend(line);
    this.element.setAttribute('aria-rowcount', this.root?.next ?? this.root?.previous ? -1 : this.lines.length + 1);
  }

  paint(element, line, at) {
    const { row, id } = line;
    const open = row?.kind === 'node' ? this.unfolded.has(id) : null;
    element.style.transform = `translateY(${at * this.height + this.above}px)`;
    element.tabIndex = id === this.active ? 0 : -1;
    const state = `${id} ${open} ${this.selected === id} ${line.text}`;
    if (element.row === row && element.state === state) return;
    const isSame = element.dataset.id === id;
    Object.assign(element, { row, state, className: `tree-row${row ? '' : ' tree-more'}` });
    element.dataset.id = id;
    const aria = { level: line.depth + 1, expanded: open, selected: row ? this.selected === id : null, rowindex: this.root.previous === undefined ? at + 2 : null };
    for (const [name, value] of Object.entries(aria)) {
      if (value === null) element.removeAttribute(`aria-${name}`);
      else element.setAttribute(`aria-${name}`, value);
    }
    const turn = h('span', { class: 'tree-turn', aria: { hidden: true }, style: { 'padding-inline-start': `${Math.min(line.depth, 6) * 16}px` } },
      line.depth > 6 && `${line.depth}› `, open === null ? '' : open ? '▾' : '▸');
    fill(element, row ? this.cells(row, turn) : h('span', { role: 'gridcell', class: 'muted', aria: { colspan: COLUMNS.length } }, turn, line.text));
    if (row?.changed && isSame) { void element.offsetWidth; element.classList.add('changed'); }
    if (row) row.changed = false;
  }

  cells(row, turn) {
    const isNode = row.kind === 'node';
    const name = shown(cut(row.key, 200));
    const cells = {
      key: [turn, isNode ? h('a', { href: this.link(row.id), tabindex: -1, title: shown(row.key) }, name) : h('span', { title: shown(row.key) }, name)],
      value: isNode ? `{${row.children >= 100 ? '100+' : row.children ?? '…'}}` : [row.cut && h('span', { class: 'muted' }, `${size(row.bytes)} `), inline(row.value, 160)],
      type: isNode ? 'node' : kindOf(row.value), priority: row.priority !== undefined && shown(cut(write(row.priority), 30)),
      revision: row.revision !== undefined && `r${row.revision}`, changed: [row.since && h('span', { class: 'muted' }, row.since, ' '), row.time !== undefined && time(row.time)],
    };
    return Object.entries(cells).map(([kind, content]) => h('span', { role: 'gridcell', class: `tree-${kind}` }, content));
  }

  /** Reads on where the end of what is known came into sight, or once more what failed. */
  async extend({ branch, side }) {
    if (branch.busy) return;
    const edge = side === 'after' ? branch.rows.at(-1) : branch.rows[0];
    if (side === 'again') await this.fetch(branch, {});
    else if (!(await this.fetch(branch, { [side]: edge?.key }, side))) branch[side === 'after' ? 'next' : 'previous'] = undefined;
    this.layout();
  }

  async unfold(row, open = !this.unfolded.has(row.id)) {
    this.unfolded.delete(row.id);
    if (open) {
      const branch = { path: row.id, depth: row.branch.depth + 1, rows: [] };
      this.unfolded.set(row.id, branch);
      const late = setTimeout(() => this.layout(), 150);
      await this.fetch(branch, {});
      clearTimeout(late);
    }
    this.layout();
  }

  /** Marks a row, whose keys are given below the node that is shown; unfolds and jumps as far as needed to see it. */
  async reveal(keys) {
    this.selected = keys.length > 0 ? join(...keys) : undefined;
    let branch = this.root;
    for (const [depth, key] of keys.entries()) {
      const find = () => branch.rows.find((row) => row.key === key);
      if (!find() && this.order === '$key') await this.fetch(branch, { from: key });
      const row = find();
      if (!row) break;
      this.active = row.id;
      if (depth < keys.length - 1 && !this.unfolded.has(row.id)) await this.unfold(row, true);
      branch = this.unfolded.get(row.id);
      if (!branch) break;
    }
    this.layout();
    this.sight(this.active);
  }

  row(id) { return this.lines[this.index.get(id)]?.row; }

  activate(id) {
    if (id === this.active || !this.index.has(id)) return;
    for (const [of, tab] of [[this.active, -1], [id, 0]]) if (this.drawn.has(of)) this.drawn.get(of).tabIndex = tab;
    this.active = id;
  }

  sight(id) {
    if (!this.index.has(id)) return;
    const top = this.index.get(id) * this.height + this.above;
    this.element.scrollTop = Math.max(Math.min(this.element.scrollTop, top), top + this.height - this.fits());
    this.draw();
  }

  focus(id = this.active) {
    this.activate(id);
    this.sight(id);
    this.drawn.get(id)?.focus({ preventScroll: true });
  }

  async jump(key, side = 'from') {
    await this.fetch(this.root, { [side]: key });
    this.layout(false);
    this.focus(this.root.rows.at(side === 'from' ? 0 : -1)?.id);
  }

  click(event) {
    const id = event.target.closest('[data-id]')?.dataset.id;
    const line = this.lines[this.index.get(id)];
    const link = event.target.closest('a');
    if (!line || (link && (event.ctrlKey || event.metaKey || event.shiftKey))) return;
    event.preventDefault();
    this.focus(id);
    if (!line.row) this.extend(line);
    else if (link) this.open(id);
    else if (event.target.closest('.tree-turn') && line.row.kind === 'node') this.unfold(line.row);
    else this.select(line.row);
  }

  key(event) {
    const at = this.index.get(this.active);
    const action = this.lines[at] && !event.altKey && !event.metaKey && !event.ctrlKey && this.action(event.key, this.lines[at], at);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  action(key, line, at) {
    const { row } = line;
    const page = Math.max(1, Math.floor(this.fits() / this.height) - 1);
    const move = (to) => () => this.focus(this.lines[Math.max(0, Math.min(this.lines.length - 1, to))].id);
    const isTyping = Date.now() - (this.typed?.at ?? 0) < 700;
    const isNode = row?.kind === 'node';
    const isOpen = isNode && this.unfolded.has(row.id);
    const named = {
      ArrowDown: move(at + 1), ArrowUp: move(at - 1), PageDown: move(at + page), PageUp: move(at - page),
      Home: () => (this.root.previous === undefined ? move(0)() : this.jump()),
      End: () => (this.root.next === undefined || this.order !== '$key' ? move(this.lines.length)() : this.jump('\uffff', 'before')),
      ArrowRight: () => (isOpen ? move(at + 1)() : isNode && this.unfold(row)),
      ArrowLeft: () => (isOpen ? this.unfold(row, false) : row?.branch.path && this.focus(row.branch.path)),
      Enter: () => (!row ? this.extend(line) : isNode ? this.open(row.id) : this.edit(row)),
      Delete: () => row && this.remove(row),
    }[key];
    const letter = isTyping ? null : { ' ': () => row && this.select(row), j: move(at + 1), k: move(at - 1), e: () => row && this.edit(row), n: () => this.addTo(row) }[key];
    if (named ?? letter) return named ?? letter;
    if (key.length !== 1 || (!isTyping && /[gcpfw?/[\]]/.test(key))) return null;
    return () => this.typeAhead((isTyping ? this.typed.text : '') + key, isTyping ? at : at + 1);
  }

  typeAhead(text, start) {
    this.typed = { text, at: Date.now() };
    const found = [...this.lines.slice(start), ...this.lines.slice(0, start)].find((line) => line.row?.key.toLowerCase().startsWith(text.toLowerCase()));
    if (found) this.focus(found.id);
    else if (this.order === '$key' && (this.root.next ?? this.root.previous) !== undefined) this.jump(text);
  }

  /** Reads again what is in sight and older than the newest revision; what its parent says has not changed is not asked for. */
  async refresh(revision = this.latest) {
    this.latest = Math.max(this.latest, Number(revision) || 0);
    if (this.at !== undefined || this.refreshing || !this.root) return;
    this.refreshing = true;
    const inSight = new Map([[this.root, this.root.rows.length > 0 ? [] : null]]);
    const mark = (row) => {
      if (!row || inSight.get(row.branch)?.includes(row)) return;
      inSight.set(row.branch, [...(inSight.get(row.branch) ?? []), row]);
      mark(this.row(row.branch.path));
    };
    for (const id of this.drawn.keys()) mark(this.row(id));
    for (const [branch, rows] of [...inSight].sort((a, b) => a[0].depth - b[0].depth)) await this.again(branch, rows ?? []);
    this.refreshing = false;
  }

  async again(branch, rows) {
    const { latest } = this;
    const oldest = Math.min(...rows.map((row) => row.read), branch.rows.length > 0 ? Infinity : branch.read ?? 0);
    const parent = branch.path && this.row(branch.path);
    if (oldest >= latest || (branch.path && !parent)) return;
    // In another order what stands far below is read again where the list is opened again.
    if ((parent?.revision === undefined || parent.revision > oldest) && (this.order === '$key' || branch.previous === undefined)) {
      const places = rows.map((row) => branch.rows.indexOf(row)).filter((at) => at >= 0);
      const low = places.length > 0 ? Math.min(...places) : 0;
      const from = low === 0 && branch.previous === undefined ? undefined : branch.rows[low]?.key;
      const limit = this.order === '$key' ? Math.min(200, Math.max(...places, low) - low + 20) : 200;
      if (!(await this.fetch(branch, { from: this.order === '$key' ? from : undefined, limit }, 'fresh'))) return;
      const keys = new Set(rows.map((row) => row.key));
      for (const row of branch.rows) if (keys.has(row.key)) row.read = Math.max(row.read, latest);
      this.layout();
    } else for (const row of rows) row.read = latest;
    branch.read = latest;
  }
}
