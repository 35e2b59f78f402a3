// Rules: try an operation in somebody's name and see which rule decided; the indexes and how far they are.

import { get, post } from './api.js';
import { h, shown } from './dom.js';
import { parse } from './json.js';
import { area, badge, button, choice, copyButton, empty, field, heading, input, pathLink, table } from './ui.js';
import { number } from './time.js';
import { col, command, copies, num, panel, tabbed } from './parts.js';

/** The title of the browser's tab. */
export const title = () => 'Rules';

const NONE = 'This namespace has no rules, so nothing can be explained: put some with "doubloon rules put rules.json".';

/** What the URL's trial says: the order, and the command for it; throws where a text is no JSON. */
function trial(page) {
  const asked = (name) => page.query.get(name) ?? '';
  const operation = asked('op') || 'read';
  const takes = operation === 'set' || operation === 'update';
  const json = (name) => {
    try {
      return asked(name).trim() === '' ? undefined : parse(asked(name));
    } catch (error) {
      throw new Error(`${name === 'value' ? 'The value' : 'Claims'}: ${error.message} A text is written "like this".`);
    }
  };
  const auth = json('auth') ?? (asked('as') ? { uid: asked('as') } : null);
  return {
    order: { operation, path: asked('path'), value: takes ? json('value') ?? null : undefined, auth },
    words: command(page, 'rules explain', [operation, asked('path'), ...(takes ? [asked('value') || 'null'] : [])],
      asked('auth').trim() ? { auth: asked('auth') } : { as: asked('as') }),
  };
}

function rule(page, row) {
  return h('li', h('div', badge(row.value ? 'ok' : 'failed', row.value ? 'true' : 'false'), h('span', { class: 'muted' }, ` line ${row.line}:${row.column} `),
    h('b', row.kind), ' of ', h('code', shown(row.pattern)), row.pattern !== row.path && [' at ', pathLink(page, row.path)],
    h('pre', { class: 'code' }, shown(row.text, { lines: true })), row.because.map((part) => h('div', { class: 'because' },
      h('code', shown(part.text, { lines: true })), ` ${shown(part.outcome)}`,
      part.values.length > 0 && h('ul', part.values.map((item) => h('li', h('code', `${shown(item.text)} = ${shown(item.value)}`))))))));
}

async function explain(page, signal) {
  const { order, words } = trial(page);
  let told;
  try {
    told = await post('rules/explain', { params: { ns: page.ns }, body: order, signal });
  } catch (error) {
    if (error.code === 'no_rules') return empty(NONE);
    throw error;
  }
  const none = 'No rule on the way from / to there allows it, and what no rule allows is denied.';
  return [h('p', { class: 'verdict' }, badge(told.allowed ? 'ok' : 'refused', told.allowed ? 'ALLOWED' : 'DENIED'), ' ', h('b', shown(told.operation)),
    ` as ${order.auth ? shown(order.auth.uid ?? page.query.get('auth')) : 'nobody'}`),
  told.rules.length > 0 ? h('ol', { class: 'lines' }, told.rules.map((row) => rule(page, row))) : h('p', none),
  h('div', { class: 'actions' }, copyButton([{ name: 'Link to this trial', text: () => location.href }, { name: 'Verdict as text', text: told.text },
    ...copies(words, 'POST', '/admin/v1/rules/explain', { ns: page.ns }, order)], { label: 'Copy' }))];
}

function tryOut(page) {
  const asked = (name) => page.query.get(name) ?? '';
  const fields = {
    op: choice(['read', 'set', 'update', 'delete'], asked('op') || 'read'), path: input({ value: asked('path'), placeholder: '/users/bob/level', required: true }),
    value: area({ rows: 2, placeholder: '5' }, asked('value')), as: input({ value: asked('as'), placeholder: 'bob' }),
    auth: area({ rows: 2, placeholder: '{"uid": "bob", "provider": "anonymous"}' }, asked('auth')),
  };
  const value = field('Value, as JSON', fields.value);
  const fit = () => { value.hidden = fields.op.value !== 'set' && fields.op.value !== 'update'; };
  fields.op.addEventListener('change', fit);
  fit();
  const result = panel({
    title: 'What the rules say', signal: page.signal,
    load: async (signal) => (asked('path') ? explain(page, signal) : empty('Nothing is written by a trial. The answer names the rule, its line and the values that it saw.')),
  });
  const form = h('form', { class: 'form', on: { submit: (event) => {
    event.preventDefault();
    page.setQuery(Object.fromEntries(Object.entries(fields).map(([name, item]) => [name, item.value.trim()])));
    result.reload();
  } } }, h('div', { class: 'fields' }, field('Operation', fields.op), field('Path', fields.path)), value,
  h('div', { class: 'fields' }, field('As player', fields.as, { help: 'Empty: nobody is signed in.' }), field('Or with these claims', fields.auth, { help: 'What rules see as auth.' })),
  h('div', { class: 'actions' }, button('Try', undefined, { type: 'submit', primary: true })));
  const box = h('div', { class: 'split try' }, form, result.element);
  return { element: box, first: result.first };
}

function indexes(page) {
  const made = panel({
    title: 'Indexes', plain: true, signal: page.signal, load: async (signal) => {
      const { indexes: rows } = await get('indexes', { ns: page.ns }, { signal });
      if (rows.some((row) => row.state !== 'ready')) {
        const timer = setTimeout(made.reload, 2000);
        signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
      }
      return table({
        caption: 'Each with its state', rows, columns: [
          col('Path', (row) => h('code', shown(row.path))), col('Ordered by', (row) => h('code', shown(row.index))),
          col('State', (row) => badge(row.state === 'ready' ? 'ok' : 'running', row.state)),
          num('Children', (row) => number(row.childrenIndexed)),
          col('At', (row) => row.at ?? ''), col('Problem', (row) => row.problem ?? '', true),
        ], empty: 'No index is declared. ".indexOn": ["level"] in the rules makes queries by level fast on a large node.',
      });
    },
  });
  return made;
}

/** Draws the page. */
export async function mount(root, page) {
  root.classList.add('two-line');
  root.append(heading('Rules', {
    sub: 'What players may read and write. Administrators and functions are not asked.', actions: [copyButton([
      { name: 'Download, as command', text: command(page, 'rules get') }, { name: 'Upload, as command', text: command(page, 'rules put', ['rules.json']) },
    ])],
  }));
  await tabbed(root, page, 'Rules', [{ id: 'try', name: 'Try' }, { id: 'indexes', name: 'Indexes' }],
    (id, scope) => (id === 'try' ? tryOut : indexes)(scope));
}
