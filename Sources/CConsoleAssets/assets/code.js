// A field for code: line numbers, marks and colours in place. A text area that lies, without ink, over the text that is seen.
// Colours are those of the CSS Custom Highlight API, of the lines in sight only: a browser without it shows the text plain.

import { fill, h, later } from './dom.js';
import { number } from './time.js';
import { uniqueId } from './ui.js';

const LINE = 18;
const LONGEST = 4000;
const PAIRS = { '(': ')', '[': ']', '{': '}' };
const BACK = Object.fromEntries(Object.entries(PAIRS).map(([open, close]) => [close, open]));
const TOKENS = new RegExp([
  String.raw`(?<note>\/\/.*|\/\*.*?(?:\*\/|$))`, String.raw`(?<key>"\.(?:read|write|validate|indexOn)"|\$\w+)`,
  String.raw`(?<word>\b(?:auth|now|root|data|newData|query|true|false|null)\b)`,
  String.raw`(?<call>\.(?:val|child|parent|exists|hasChild|hasChildren|isString|isNumber|isBoolean|getPriority|contains|beginsWith|endsWith|matches|replace|toLowerCase|toUpperCase|length|uid|token|provider)\b)`,
].join('|'), 'g');
// What is not seen, or turns the text around.
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const registry = globalThis.CSS?.highlights;

/** Where each line of a text begins. */
export function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The place of a line and a column, both from 1, the column in code points, as faults have it. */
export function offsetOf(text, starts, line, column) {
  const start = starts[Math.min(Math.max(line, 1), starts.length) - 1];
  let at = start;
  for (let left = column - 1; left > 0 && at < text.length && text[at] !== '\n'; left -= 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

/** Characters of a text that nobody would see, as sentences with their places; the first few. */
export function unseen(text) {
  const found = [...text.matchAll(UNSEEN)];
  const starts = lineStarts(text);
  return found.slice(0, 5).map((one) => {
    const line = starts.findLastIndex((start) => start <= one.index) + 1;
    const column = [...text.slice(starts[line - 1], one.index)].length + 1;
    const code = one[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return { line, column, message: `A character that is not seen: U+${code}${found.length > 5 ? `, and ${number(found.length - 1)} more` : ''}.` };
  });
}

/** The other bracket of the one at or before a place: [at, other], or null. Looks 20,000 characters far. */
export function pairAt(text, caret) {
  for (const at of [caret, caret - 1]) {
    const own = text[at];
    const isOpen = own in PAIRS;
    if (!isOpen && !(own in BACK)) continue;
    const other = isOpen ? PAIRS[own] : BACK[own];
    let depth = 0;
    for (let to = at, left = 20_000; to >= 0 && to < text.length && left > 0; to += isOpen ? 1 : -1, left -= 1) {
      if (text[to] === own) depth += 1;
      else if (text[to] === other && (depth -= 1) === 0) return [at, to];
    }
    return null;
  }
  return null;
}

/** The ranges of words and notes of one line: [[kind, from, to]]. */
export function colours(line) {
  if (line.length > LONGEST) return [];
  return [...line.matchAll(TOKENS)].map((found) => {
    const [kind] = Object.entries(found.groups).find(([, text]) => text !== undefined);
    return [kind, found.index, found.index + found[0].length];
  });
}

// Tab, Enter and Esc; gives whether it was one of them. `insertText` keeps the browser's own Undo.
function keys(input, state, event) {
  const { value, selectionStart: from, selectionEnd: to } = input;
  const insert = (text) => document.execCommand('insertText', false, text);
  if (event.key === 'Escape') {
    state.leaves = true;
    return false;
  }
  if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
    const line = value.slice(value.lastIndexOf('\n', from - 1) + 1, from);
    const deeper = /[[{(]\s*$/.test(line) ? '  ' : '';
    insert(`\n${/^[ \t]*/.exec(line)[0]}${deeper}`);
    return true;
  }
  if (event.key !== 'Tab' || state.leaves || event.ctrlKey || event.altKey) {
    if (event.key !== 'Shift') state.leaves = false;
    return false;
  }
  if (from === to && !event.shiftKey) {
    insert('  ');
    return true;
  }
  const start = value.lastIndexOf('\n', from - 1) + 1;
  const lines = value.slice(start, to);
  const moved = event.shiftKey ? lines.replace(/^(?: {1,2}|\t)/gm, '') : lines.replace(/^(?=.)/gm, '  ');
  if (moved === lines) return true;
  input.setSelectionRange(start, to);
  if (moved === '') document.execCommand('delete');
  else insert(moved);
  if (from === to) input.setSelectionRange(start + moved.length, start + moved.length);
  else input.setSelectionRange(start, start + moved.length);
  return true;
}

class Code {
  constructor({ label, text = '', readonly = false, change, words = true }) {
    Object.assign(this, { change, words, marks: {}, state: { leaves: false }, own: new Map(), again: later(30, () => this.colour()) });
    const help = h('p', { class: 'field-help only-read', id: uniqueId('code-help') }, 'Tab indents. Press Escape, then Tab, to leave.');
    this.input = h('textarea', {
      class: 'code-input', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', readonly,
      aria: { label, describedby: readonly ? null : help.id },
      on: {
        input: () => this.draw(true), keydown: (event) => !readonly && keys(this.input, this.state, event) && event.preventDefault(),
        focus: () => document.addEventListener('selectionchange', this.again), blur: () => {
          document.removeEventListener('selectionchange', this.again);
          this.state.leaves = false;
          this.again();
        },
      },
    });
    this.seen = h('pre', { class: 'code-seen', aria: { hidden: 'true' } });
    this.gutter = h('pre', { class: 'code-gutter', aria: { hidden: 'true' } });
    this.box = h('div', { class: 'code-box' }, this.gutter, h('div', { class: 'code-text' }, this.seen, this.input));
    this.element = h('div', { class: 'code-field' }, this.box, !readonly && help);
    this.box.addEventListener('scroll', () => this.colour(), { passive: true });
    this.set(text);
  }

  text() { return this.input.value; }

  set(text) {
    this.input.value = text;
    this.marks = {};
    this.draw(false);
  }

  draw(isTyped) {
    const text = this.input.value;
    this.starts = lineStarts(text);
    // The last line has its height only if something stands in it.
    this.seen.textContent = `${text}\n `;
    if (isTyped) this.marks = {};
    this.number();
    this.again();
    if (isTyped) this.change?.(text);
  }

  number() {
    const faults = new Set((this.marks.faults ?? []).map((fault) => fault.line));
    if (faults.size === 0 && !this.marks.lines?.size) {
      this.gutter.textContent = this.starts.map((_, at) => at + 1).join('\n');
      return;
    }
    fill(this.gutter, this.starts.map((_, at) => {
      const [shape, tone] = faults.has(at + 1) ? ['✕', 'dead'] : this.marks.lines?.get(at + 1) ?? [];
      return [shape && h('span', { class: tone }, `${shape} `), `${at + 1}\n`];
    }));
  }

  mark(marks) {
    this.marks = marks;
    this.input.setAttribute('aria-invalid', String((marks.faults ?? []).length > 0));
    this.number();
    this.again();
  }

  /** Puts the caret at a place, and the place in sight. */
  goTo(line, column, focus = true) {
    const at = offsetOf(this.text(), this.starts, line, column);
    this.input.setSelectionRange(at, at);
    if (focus) this.input.focus({ preventScroll: true });
    this.box.scrollTop = Math.max(0, (line - 4) * LINE);
    this.box.scrollLeft = 0;
    this.box.scrollIntoView({ block: 'nearest' });
    this.again();
  }

  /** Colours what is in sight; ranges of other fields stay. */
  colour() {
    const node = this.seen.firstChild;
    if (!registry || !node || !this.box.isConnected) return this.clean();
    const text = this.text();
    const first = Math.max(0, Math.floor(this.box.scrollTop / LINE) - 5);
    const last = Math.min(this.starts.length, first + Math.ceil((this.box.clientHeight || 600) / LINE) + 10);
    const [low, high] = [this.starts[first] ?? 0, this.starts[last] ?? text.length];
    const ranges = [];
    const add = (kind, from, to) => {
      if (to <= low || from >= high || from >= to) return;
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, Math.min(to, text.length + 1));
      ranges.push([kind, range]);
    };
    for (let line = first; this.words && line < last; line += 1) {
      const start = this.starts[line];
      for (const [kind, from, to] of colours(text.slice(start, (this.starts[line + 1] ?? text.length + 1) - 1))) add(kind, start + from, start + to);
    }
    if (document.activeElement === this.input) for (const at of pairAt(text, this.input.selectionStart) ?? []) add('pair', at, at + 1);
    for (const fault of this.marks.faults ?? []) {
      const from = offsetOf(text, this.starts, fault.line, fault.column);
      add('fault', from, from + (/^(?:[\w$.]+|"[^"\n]*"?)/.exec(text.slice(from, from + 200))?.[0].length || 1));
    }
    for (const { line, column, length } of this.marks.lit ?? []) {
      const from = offsetOf(text, this.starts, line, column);
      add('lit', from, from + length);
    }
    for (const found of text.slice(low, Math.min(high, low + 200_000)).matchAll(UNSEEN)) add('unseen', low + found.index, low + found.index + 1);
    this.clean();
    for (const [kind, range] of ranges) {
      if (!registry.has(`code-${kind}`)) registry.set(`code-${kind}`, new Highlight());
      registry.get(`code-${kind}`).add(range);
      this.own.set(range, kind);
    }
    return undefined;
  }

  clean() {
    for (const [range, kind] of this.own) registry?.get(`code-${kind}`)?.delete(range);
    this.own.clear();
  }
}

/** A field for code. */
export const codeArea = (options) => new Code(options);
