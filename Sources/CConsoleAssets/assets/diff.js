// What is different between two values: by path, before and after, and by word in texts; between texts by line.

import { h, shown } from './dom.js';
import { entries, get, isObject, same, write } from './json.js';
import { number } from './time.js';
import { empty, pathLink, quiet } from './ui.js';

const LONGEST_TEXT = 4096;
const isNode = (value) => isObject(value) || Array.isArray(value);
const members = (value) => (Array.isArray(value) ? value.map((item, index) => [String(index), item]) : entries(value));
const isNothing = (value) => value === undefined || value === null;

/** The leaves (and nodes that are there on one side only) that are different, in order. */
export function changesOf(before, after, path = '') {
  if (same(before, after) || (isNothing(before) && isNothing(after))) return [];
  if (!isNode(before) || !isNode(after)) return [{ path: path || '/', before: before ?? null, after: after ?? null }];
  const keys = [...new Set([...members(before), ...members(after)].map(([key]) => key))];
  const at = (value, key) => (Array.isArray(value) ? value[Number(key)] : get(value, key));
  return keys.flatMap((key) => changesOf(at(before, key), at(after, key), `${path}/${key}`));
}

const words = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** What two lists of texts have in common: [['same' | 'del' | 'ins', text]], neighbours joined. Long lists are taken whole. */
function script(a, b) {
  const parts = [];
  const add = (kind, text) => {
    if (parts.at(-1)?.[0] === kind) parts.at(-1)[1] += text;
    else parts.push([kind, text]);
  };
  if (a.length * b.length > 4_000_000) return [['del', a.join('')], ['ins', b.join('')]].filter(([, text]) => text !== '');
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add('same', a[i]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1])) {
      add('del', a[i]);
      i += 1;
    } else {
      add('ins', b[j]);
      j += 1;
    }
  }
  return parts;
}

/** What two texts have in common, by words: [['same' | 'del' | 'ins', text]]. Long texts are taken whole. */
export function wordDiff(before, after) {
  const [a, b] = [words(before), words(after)];
  if (before.length + after.length > 2 * LONGEST_TEXT || a.length * b.length > 400_000) return [['del', before], ['ins', after]];
  return script(a, b);
}

/** The lines of two texts: [['same' | 'del' | 'ins', [line, …]]]. */
export function lineDiff(before, after) {
  const [a, b] = [before, after].map((text) => text.split('\n').map((line) => `${line}\n`));
  let [head, tail] = [0, 0];
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const parts = [['same', a.slice(0, head).join('')], ...script(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ['same', a.slice(a.length - tail).join('')]];
  return parts.filter(([, text]) => text !== '').map(([kind, text]) => [kind, text.slice(0, -1).split('\n')]);
}

const AROUND = 3;
const LINES_SHOWN = 600;

/** The table of lines that are different, with three around each; with a sentence before it. */
export function textDiff(before, after, { none = 'Nothing is different.' } = {}) {
  const parts = lineDiff(before, after);
  const count = (kind) => parts.reduce((sum, [name, lines]) => sum + (name === kind ? lines.length : 0), 0);
  const [gone, come] = [count('del'), count('ins')];
  if (gone + come === 0) return empty(none);
  const rows = [];
  let [was, is] = [0, 0];
  const row = (kind, line) => {
    if (kind !== 'ins') was += 1;
    if (kind !== 'del') is += 1;
    const [sign, word] = { same: ['', ''], del: ['−', 'removed'], ins: ['+', 'added'] }[kind];
    const [left, right] = [kind === 'ins' ? '' : was, kind === 'del' ? '' : is];
    rows.push(() => h('tr', { class: word }, h('td', { class: 'number muted' }, left), h('td', { class: 'number muted' }, right),
      h('td', { class: 'sign' }, h('span', { aria: { hidden: 'true' } }, sign), h('span', { class: 'only-read' }, word)), h('td', shown(line, { lines: true }))));
  };
  parts.forEach(([kind, lines], index) => {
    const [isFirst, isLast] = [index === 0, index === parts.length - 1];
    const end = isLast ? lines.length : lines.length - AROUND;
    lines.forEach((line, at) => {
      if (kind !== 'same' || (!isFirst && at < AROUND) || at >= end) return row(kind, line);
      [was, is] = [was + 1, is + 1];
      if (at === end - 1) rows.push(() => h('tr', h('td', { class: 'muted', colspan: 4 }, '⋯')));
      return undefined;
    });
  });
  const told = `${number(gone)} ${gone === 1 ? 'line' : 'lines'} removed, ${number(come)} added`;
  const fixed = rows.slice(0, LINES_SHOWN).map((draw) => draw());
  return h('div', { class: 'stack' }, h('p', `${told}.`), h('div', { class: 'table-box', tabindex: 0, role: 'group', aria: { label: told } },
    h('table', { class: 'diff lines' }, h('caption', { class: 'only-read' }, 'Differences by line'),
      h('thead', { class: 'only-read' }, h('tr', ['Line before', 'Line after', 'Sign', 'Text'].map((name) => h('th', { scope: 'col' }, name)))), h('tbody', fixed))),
  rows.length > LINES_SHOWN && quiet(`And ${number(rows.length - LINES_SHOWN)} lines more.`));
}

function side(value, limit) {
  const text = typeof value === 'string' ? JSON.stringify(value).replace(/\\n/g, '\n') : write(value, isNode(value) ? 2 : 0);
  return text.length > limit ? `${shown(text.slice(0, limit), { lines: true })}… ${number(text.length - limit)} characters more` : shown(text, { lines: true });
}

function textSides(before, after) {
  const parts = wordDiff(before, after);
  const draw = (kind, tag) => ['"', parts.filter(([name]) => name === 'same' || name === kind)
    .map(([name, text]) => (name === 'same' ? shown(text, { lines: true }) : h(tag, { class: kind }, shown(text, { lines: true })))), '"'];
  return [draw('del', 'del'), draw('ins', 'ins')];
}

/** The table of changes; each has a row for what was and a row for what is. */
export function diffView(changes, { link, limit = LONGEST_TEXT, none = 'Nothing is different.' } = {}) {
  if (changes.length === 0) return empty(none);
  const rows = changes.flatMap(({ path, before, after }) => {
    const isText = typeof before === 'string' && typeof after === 'string';
    const [was, is] = isText ? textSides(before, after) : [side(before, limit), side(after, limit)];
    const kinds = [!isNothing(before) && ['removed', '−', 'was', was], !isNothing(after) && ['added', '+', 'is', is]].filter(Boolean);
    return kinds.map(([kind, sign, word, text], index) => h('tr', { class: kind },
      index === 0 && h('th', { scope: 'rowgroup', rowspan: kinds.length }, link ? link(path) : shown(path)),
      h('td', { class: 'sign' }, h('span', { aria: { hidden: 'true' } }, sign), h('span', { class: 'only-read' }, word)), h('td', text)));
  });
  return h('div', { class: 'table-box', tabindex: 0, role: 'group', aria: { label: 'Differences' } },
    h('table', { class: 'diff' }, h('caption', { class: 'only-read' }, 'Differences by path'),
      h('thead', { class: 'only-read' }, h('tr', ['Path', 'Sign', 'Value'].map((name) => h('th', { scope: 'col' }, name)))), h('tbody', rows)));
}

/** What a commit changed, as the difference that it made. */
export async function commitDiff(page, revision) {
  const { changes, count } = await page.get('data/diff', { path: '/', from: revision - 1, to: revision, limit: 200, cut: 4096 }, { trees: ['before', 'after'] });
  return [count > changes.length && quiet(`The first ${number(changes.length)} of ${number(count)}.`), diffView(changes, { link: (place) => pathLink(page, place, { at: `r${revision}` }) })];
}
