// A list of any length: at most 60 row elements, at most 1,000 rows kept, fetched in windows as they are scrolled into view.
// WebConsole.docc lists its options.

import { append, clear, h } from './dom.js';
import { number } from './time.js';
import { errorPanel } from './ui.js';

const MOST_ROWS = 60;
const KEPT_WINDOWS = 5;

class WindowList {
  constructor(options) {
    this.options = options;
    this.pages = []; // {cursor, back, rows | null, count, next, previous}
    this.offset = 0; // Rows above the first page were never known: 0.
    this.pool = [];
    this.focused = 0;
    this.focusedKey = null;
    this.waiting = null;
    this.generation = 0;
    this.busy = new Set();
    this.build();
  }

  build() {
    const { label, columns, template } = this.options;
    this.body = h('div', { class: 'wl-body', role: 'rowgroup' });
    this.head = columns && h('div', { class: 'wl-head', role: 'rowgroup' },
      h('div', { class: 'wl-cells', role: 'row' }, columns.map((name) => h('span', { role: 'columnheader' }, name))));
    this.grid = h('div', { class: 'wl-grid', role: 'grid', aria: { label, rowcount: -1, busy: 'true' } }, this.head, this.body);
    this.scroller = h('div', { class: 'wl-scroll' }, this.grid);
    this.news = h('button', { class: 'wl-news', type: 'button', hidden: true, on: { click: () => this.showWaiting() } });
    this.foot = h('div', { class: 'wl-foot' });
    this.blank = h('div', { class: 'wl-blank', hidden: true });
    this.element = h('div', { class: 'wl' }, this.news, this.scroller, this.blank, this.foot);
    if (template) this.element.style.setProperty('--cells', template);
    this.scroller.addEventListener('scroll', () => this.draw(), { passive: true });
    this.body.addEventListener('keydown', (event) => this.pressed(event));
    this.body.addEventListener('click', (event) => this.clicked(event));
    this.body.addEventListener('focusin', (event) => this.focusedRow(event));
    this.sizes = new ResizeObserver(() => this.measure());
    this.sizes.observe(this.scroller);
    this.measure();
  }

  measure() {
    const { rowHeight = 28 } = this.options;
    const height = typeof rowHeight === 'function' ? rowHeight() : rowHeight;
    if (height !== this.height) {
      this.height = height;
      this.element.style.setProperty('--row-height', `${height}px`);
    }
    this.draw();
  }

  get count() {
    return this.pages.reduce((sum, page) => sum + page.count, 0);
  }

  get end() {
    return this.pages.length > 0 && this.pages.at(-1).next === undefined;
  }

  at(index) {
    let first = 0;
    for (const page of this.pages) {
      if (index < first + page.count) return { page, item: page.rows?.[index - first] };
      first += page.count;
    }
    return {};
  }

  items() {
    return this.pages.flatMap((page) => page.rows ?? []);
  }

  async load(page, place) {
    if (this.busy.has(page)) return;
    this.busy.add(page);
    const { generation } = this;
    this.controller ??= new AbortController();
    try {
      const answer = await this.options.fetch({ cursor: page.cursor, back: page.back, signal: this.controller.signal });
      if (generation !== this.generation) return;
      const isNew = page.rows === undefined;
      Object.assign(page, { rows: answer.rows, next: answer.next, ...(isNew ? { previous: answer.previous } : {}) });
      const before = page.count ?? 0;
      page.count = answer.rows.length;
      if (place === 'last') this.pages.push(page);
      if (place === 'first') {
        this.pages.unshift(page);
        this.focused += page.count;
      }
      this.drop(page);
      this.fits();
      if (place === 'first') this.scroller.scrollTop += (page.count - before) * this.height;
      clear(this.foot);
      this.told = answer.note ?? null;
      if (this.told) append(this.foot, this.told);
    } catch (error) {
      if (generation !== this.generation || error?.name === 'AbortError') return;
      this.failed = true;
      clear(this.foot).append(errorPanel(error, () => {
        clear(this.foot);
        this.failed = false;
        this.load(page, place);
      }));
    } finally {
      this.busy.delete(page);
      if (generation === this.generation) {
        this.grid.setAttribute('aria-busy', 'false');
        this.draw();
      }
    }
  }

  /** Keeps five windows; of others only how to read them again. */
  drop(newest) {
    const held = this.pages.filter((page) => page.rows);
    if (held.length <= KEPT_WINDOWS) return;
    const index = this.pages.indexOf(newest);
    held.sort((a, b) => Math.abs(this.pages.indexOf(b) - index) - Math.abs(this.pages.indexOf(a) - index));
    for (const page of held.slice(0, held.length - KEPT_WINDOWS)) page.rows = null;
  }

  fits() {
    this.body.style.height = `${this.count * this.height}px`;
    if (this.end) this.grid.setAttribute('aria-rowcount', String(this.count + (this.head ? 1 : 0)));
    else this.grid.setAttribute('aria-rowcount', '-1');
    const isEmpty = this.count === 0 && this.pages.length > 0;
    if (isEmpty && this.blank.hidden) clear(this.blank).append(this.options.empty?.() ?? 'Nothing here.');
    this.blank.hidden = !isEmpty;
    this.scroller.hidden = isEmpty;
  }

  async reload() {
    this.generation += 1;
    this.controller?.abort();
    this.controller = null;
    this.busy.clear();
    this.failed = false;
    this.news.hidden = true;
    this.waiting = null;
    this.grid.setAttribute('aria-busy', 'true');
    // What was there stays until the answer is there.
    const old = new Set(this.pages);
    const { generation } = this;
    await this.load({ cursor: null }, 'last');
    if (generation !== this.generation || this.failed) return;
    this.pages = this.pages.filter((page) => !old.has(page));
    this.blank.hidden = true;
    this.focused = 0;
    this.scroller.scrollTop = 0;
    this.fits();
    this.draw();
  }

  /** Reads the first window again: new rows wait behind a button while somebody reads. */
  async refresh() {
    if (this.pages.length === 0 || this.pages[0].cursor !== null) return this.pages.length === 0 && this.reload();
    const { generation } = this;
    this.controller ??= new AbortController();
    const answer = await this.options.fetch({ cursor: null, signal: this.controller.signal });
    if (generation !== this.generation) return;
    const { key } = this.options;
    const known = new Map(this.items().map((item) => [key(item), item]));
    const fresh = answer.rows.filter((item) => !known.has(key(item)));
    const updates = new Map(answer.rows.filter((item) => known.has(key(item))).map((item) => [key(item), item]));
    for (const page of this.pages) {
      if (page.rows) page.rows = page.rows.map((item) => updates.get(key(item)) ?? item);
    }
    this.told = answer.note ?? null;
    if (!this.failed && this.pages.length === 1) append(clear(this.foot), this.told);
    const first = this.pages[0];
    if (fresh.length === 0 && answer.rows.length < first.count && this.pages.length === 1) {
      Object.assign(first, { rows: answer.rows, count: answer.rows.length, next: answer.next });
      this.fits();
    } else if (fresh.length > 0) {
      this.waiting = { answer, fresh, gap: updates.size === 0 && this.count > 0 && answer.next !== undefined };
      if (this.isRead()) {
        this.news.hidden = false;
        this.news.textContent = `${number(fresh.length)}${this.waiting.gap ? '+' : ''} new`;
      } else this.showWaiting();
    }
    this.draw();
  }

  /** Whether somebody looks closely: nothing moves then. */
  isRead() {
    return this.options.hold?.() || this.scroller.scrollTop > 4 || this.element.contains(document.activeElement)
      || this.scroller.matches(':hover');
  }

  showWaiting() {
    const { waiting } = this;
    if (!waiting) return;
    this.waiting = null;
    this.news.hidden = true;
    const first = this.pages[0];
    // More than a window came, or the first one grew for long: the list begins with what was just read.
    if (waiting.gap || !first.rows || first.count > 400) {
      const { rows, next } = waiting.answer;
      this.generation += 1;
      this.busy.clear();
      this.pages = [{ cursor: null, rows, next, count: rows.length }];
      this.focused = 0;
    } else {
      first.rows = [...waiting.fresh, ...first.rows];
      first.count = first.rows.length;
      this.focused += this.focusedKey === null ? 0 : waiting.fresh.length;
    }
    this.scroller.scrollTop = 0;
    this.fits();
    this.draw();
  }

  draw() {
    if (!this.height || this.stopped) return;
    const { scrollTop, clientHeight } = this.scroller;
    const headHeight = this.head?.offsetHeight ?? 0;
    const shownCount = Math.min(MOST_ROWS, Math.ceil(clientHeight / this.height) + 8);
    const first = Math.max(0, Math.min(this.count - 1, Math.floor((scrollTop - headHeight) / this.height) - 4));
    const last = Math.min(this.count, first + shownCount);
    const wanted = new Set();
    for (let index = first; index < last; index += 1) wanted.add(index);
    // The focused row keeps its element, so that the focus is not lost by scrolling.
    if (this.body.contains(document.activeElement) && this.focused < this.count) wanted.add(this.focused);
    const free = [];
    for (const row of this.pool) if (!wanted.has(row.index)) free.push(row);
    const byIndex = new Map(this.pool.filter((row) => wanted.has(row.index)).map((row) => [row.index, row]));
    const missing = new Set();
    for (const index of wanted) {
      let row = byIndex.get(index);
      if (!row) {
        row = free.pop() ?? this.newRow();
        row.index = index;
        row.element.style.transform = `translateY(${index * this.height}px)`;
        row.element.setAttribute('aria-rowindex', String(index + (this.head ? 2 : 1)));
      }
      const { page, item } = this.at(index);
      if (item === undefined && page) missing.add(page);
      this.show(row, item, index);
    }
    for (const row of free) this.dropRow(row);
    for (const page of missing) this.load(page);
    this.ahead(first, last, missing.size > 0);
  }

  ahead(first, last, isMissing) {
    if (this.failed || isMissing || this.pages.length === 0 || this.busy.size > 0) return;
    const end = this.pages.at(-1);
    const start = this.pages[0];
    if (last > this.count - 20 && end.next !== undefined && !this.told) this.load({ cursor: end.next }, 'last');
    else if (first < 20 && start.previous !== undefined && this.scroller.scrollTop < 20 * this.height) {
      this.load({ cursor: start.previous, back: true }, 'first');
    }
  }

  /** Reads one window more, though the last one told something. */
  further() {
    const end = this.pages.at(-1);
    if (end?.next !== undefined) this.load({ cursor: end.next }, 'last');
  }

  newRow() {
    const element = h('div', { class: 'wl-row wl-cells', role: 'row', tabindex: -1 });
    this.body.append(element);
    const row = { element, index: -1, item: undefined };
    this.pool.push(row);
    return row;
  }

  dropRow(row) {
    row.element.remove();
    this.pool.splice(this.pool.indexOf(row), 1);
  }

  show(row, item, index) {
    const tab = index === Math.min(this.focused, this.count - 1) ? 0 : -1;
    if (row.element.tabIndex !== tab) row.element.tabIndex = tab;
    if (row.item === item && row.drawn === this.drawn) return;
    row.item = item;
    row.drawn = this.drawn;
    let cells;
    try {
      cells = item === undefined ? ['…'] : this.options.row(item, index);
    } catch (error) {
      // A row that is not as expected shows itself as broken; the others go on.
      cells = [h('span', { class: 'dead' }, `✕ This row cannot be shown: ${error.message}`)];
    }
    const hadFocus = row.element.contains(document.activeElement) && row.element !== document.activeElement;
    clear(row.element);
    for (const cell of Array.isArray(cells) ? cells : [cells]) {
      row.element.append(h('span', { role: 'gridcell', class: 'wl-cell' }, cell));
    }
    if (hadFocus) row.element.focus({ preventScroll: true });
  }

  /** Draws every row again, though its item is the same. */
  redraw() {
    this.drawn = (this.drawn ?? 0) + 1;
    this.draw();
  }

  rowOf(target) {
    return this.pool.find((row) => row.element.contains(target));
  }

  focusedRow(event) {
    const row = this.rowOf(event.target);
    if (!row || row.item === undefined) return;
    this.focused = row.index;
    this.focusedKey = this.options.key(row.item);
    this.draw();
  }

  focusIndex(index) {
    const target = Math.max(0, Math.min(this.count - 1, index));
    if (this.count === 0) return;
    this.focused = target;
    const top = target * this.height;
    const head = this.head?.offsetHeight ?? 0;
    const space = this.scroller.clientHeight - head;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + this.height > this.scroller.scrollTop + space) this.scroller.scrollTop = top + this.height - space;
    this.draw();
    this.pool.find((row) => row.index === target)?.element.focus({ preventScroll: true });
  }

  pressed(event) {
    const row = this.rowOf(event.target);
    if (event.altKey || event.ctrlKey || event.metaKey || !row) return;
    if (this.options.keys?.(event, row.item)) return event.preventDefault();
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 1);
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (Object.hasOwn(moves, event.key)) {
      event.preventDefault();
      this.focusIndex(row.index + moves[event.key]);
    } else if (event.key === 'Enter' && event.target === row.element && row.item !== undefined) {
      event.preventDefault();
      this.options.open?.(row.item, event);
    }
  }

  clicked(event) {
    if (event.target.closest('a, button, input, select, summary')) return;
    const row = this.rowOf(event.target);
    if (row?.item !== undefined && String(getSelection()) === '') this.options.open?.(row.item, event);
  }

  stop() {
    this.stopped = true;
    this.generation += 1;
    this.controller?.abort();
    this.sizes.disconnect();
  }
}

/** Makes a list of windows. */
export function windowList(options) {
  return new WindowList(options);
}
