// Rules: the text and its faults, operations tried in somebody's name, tests with coverage, versions, indexes.

import { codeArea } from './code.js';
import { h, shown } from './dom.js';
import { parse, write } from './json.js';
import { badge, button, choice, code, col, copyButton, empty, field, heading, input, num, pathLink, table } from './ui.js';
import { command, copies, listing, section, tabbed } from './parts.js';
import { addCase, edit, history, saying, tests } from './ruletext.js';

/** The page's title. */
export const title = () => 'Rules';

const WHO = { nobody: 'Nobody', as: 'A player, by uid', auth: 'Claims, as JSON', account: 'An account' };
const HINTS = { as: 'bob', auth: '{"uid": "bob", "provider": "anonymous"}', account: 'uid or e-mail address' };
const takesValue = (operation) => operation === 'set' || operation === 'update';

/** What the URL's trial says: the order, and the command for it; throws where a text is no JSON. */
function trial(page) {
  const asked = (name) => page.query.get(name) ?? '';
  const operation = asked('op') || 'read';
  const json = (name, otherwise) => {
    try {
      return asked(name).trim() === '' ? otherwise : parse(asked(name));
    } catch (error) {
      throw new Error(`${name === 'value' ? 'The value' : 'Claims'}: ${error.message} A text is written "like this".`);
    }
  };
  const who = ['account', 'auth', 'as'].find((name) => asked(name).trim() !== '') ?? 'nobody';
  const order = { operation, path: asked('path'), value: takesValue(operation) ? json('value', null) : undefined };
  if (who === 'account') order.account = asked('account');
  else order.auth = who === 'as' ? { uid: asked('as') } : json('auth', null);
  return {
    order, who, words: command(page, 'rules explain', [operation, asked('path'), ...(takesValue(operation) ? [asked('value') || 'null'] : [])],
      who === 'nobody' ? {} : { [who]: asked(who) }),
  };
}

function rule(page, row, area) {
  return h('li', h('div', badge(row.value ? 'ok' : 'failed', row.value ? 'true' : 'false'), ' ',
    button(`line ${row.line}:${row.column}`, () => area.goTo(row.line, row.column), { small: true, quiet: true }),
    ' ', h('b', row.kind), ' of ', code(row.pattern), row.pattern !== row.path && [' at ', pathLink(page, row.path)],
    h('pre', { class: 'code' }, shown(row.text, { lines: true })), row.because.map((part) => h('div', { class: 'because' },
      h('code', shown(part.text, { lines: true })), ` ${shown(part.outcome)}`,
      part.values.length > 0 && h('ul', part.values.map((item) => h('li', h('code', `${shown(item.text)} = ${shown(item.value)}`))))))));
}

// The source, with the rules that were asked lit in it.
function lit(source, told) {
  const area = codeArea({ label: 'The rules, with those that were asked', text: source, readonly: true });
  const parts = told.rules.flatMap((row) => [row, ...(row.value ? [] : row.because)]);
  area.mark({
    lit: parts.map(({ line, column, text, kind }) => ({ line, column, length: text.length + (kind && text !== 'true' && text !== 'false' ? 2 : 0) })),
    lines: new Map(told.rules.map((row) => [row.line, row.value ? ['●', 'ok'] : ['✕', 'dead']])),
  });
  const [last] = told.rules.filter((row) => row.value === told.allowed).concat(told.rules).slice(0, 1);
  requestAnimationFrame(() => last && area.goTo(last.line, last.column, false));
  return area;
}

async function explain(page, toTests) {
  const { order, who, words } = trial(page);
  const [told, rules] = await Promise.all([
    page.post('rules/explain', order), page.get('rules'),
  ]);
  const whom = who === 'nobody' ? 'nobody' : shown(who === 'auth' ? told.auth?.uid ?? write(order.auth) : order.account ?? order.auth.uid);
  const verdict = h('p', { class: 'verdict', role: 'status' }, badge(told.allowed ? 'ok' : 'refused', told.allowed ? 'ALLOWED' : 'DENIED'),
    ' ', h('b', shown(told.operation)), ` as ${whom}`);
  const copy = copyButton([{ name: 'Link to this trial', text: () => location.href }, { name: 'Verdict as text', text: told.text },
    ...copies(words, 'POST', '/admin/v1/rules/explain', { ns: page.ns }, order)], { label: 'Copy' });
  if (!told.hasRules) {
    return [verdict, empty(`There are no rules, so this server ${told.allowed ? 'lets everybody read and write: it is in development' : 'lets nobody in'}. Put some on the page Edit.`), copy];
  }
  const area = lit(rules.source, told);
  const add = button('Add as a test', saying(async () => {
    await addCase(page, { order, told });
    await toTests();
  }), { title: 'A case that expects this answer, with the data that are there now' });
  return [verdict,
    told.rules.length > 0 ? h('ol', { class: 'lines' }, told.rules.map((row) => rule(page, row, area)))
      : h('p', 'No rule on the way from / to there allows it, and what no rule allows is denied.'),
    h('div', { class: 'actions' }, add, copy), area.element];
}

function tryOut(page, toTests) {
  const asked = (name) => page.query.get(name) ?? '';
  const who = ['account', 'auth', 'as'].find((name) => asked(name) !== '') ?? 'nobody';
  const fields = {
    op: choice(['read', 'set', 'update', 'delete'], asked('op') || 'read'), path: input({ value: asked('path'), placeholder: '/users/bob/level', required: true }),
    value: input({ class: 'input mono', value: asked('value'), placeholder: '5' }), who: choice(Object.entries(WHO), who),
    name: input({ class: 'input mono', value: asked(who) }),
  };
  const [value, name] = [field('Value, as JSON', fields.value), field('Who', fields.name)];
  const fit = () => {
    value.hidden = !takesValue(fields.op.value);
    name.hidden = fields.who.value === 'nobody';
    name.querySelector('label').textContent = WHO[fields.who.value];
    fields.name.placeholder = HINTS[fields.who.value] ?? '';
    fields.name.required = !name.hidden;
  };
  for (const one of [fields.op, fields.who]) one.addEventListener('change', fit);
  fit();
  const result = section(page, 'What the rules say', async () => (asked('path') ? explain(page, toTests)
    : empty('Nothing is written by a trial. The answer names the rule, its line and the values that it saw; its address can be sent as a link.')));
  const form = h('form', { class: 'rules-form', on: { submit: (event) => {
    event.preventDefault();
    const said = Object.fromEntries(Object.keys(WHO).map((one) => [one, one === fields.who.value ? fields.name.value.trim() : null]));
    page.setQuery({ ...said, nobody: null, op: fields.op.value, path: fields.path.value.trim(), value: value.hidden ? null : fields.value.value.trim() });
    result.reload();
  } } }, h('div', { class: 'fields' }, field('Operation', fields.op), field('Path', fields.path)), value,
  h('div', { class: 'fields' }, field('As', fields.who), name), h('div', { class: 'actions' }, button('Try', undefined, { type: 'submit', primary: true })));
  return { element: h('div', { class: 'split try' }, form, result.element), first: result.first };
}

function indexes(page) {
  const made = listing(page, 'Indexes', async (signal) => {
    const { indexes: rows } = await page.get('indexes');
    if (rows.some((row) => row.state !== 'ready')) {
      const timer = setTimeout(made.reload, 2000);
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    }
    return table({
      caption: 'Each with its state', rows, columns: [
        col('Path', (row) => code(row.path)), col('Ordered by', (row) => code(row.index)), col('State', (row) => badge(row.state === 'ready' ? 'ok' : 'running', row.state)),
        num('Children', 'childrenIndexed'), col('At', 'at'), col('Problem', 'problem', true),
      ], empty: 'No index is declared. ".indexOn": ["level"] in the rules makes queries by level fast on a large node.',
    });
  });
  return made;
}

/** Draws the page. What is typed into the text stays while one looks at the other tabs. */
export async function mount(root, page) {
  const state = { base: null, draft: null };
  page.dirty = () => state.draft !== null;
  root.append(heading('Rules', {
    sub: 'What players may read and write. Administrators and functions are not asked.', actions: [copyButton([
      { name: 'Download, as command', text: command(page, 'rules get') }, { name: 'Upload, as command', text: command(page, 'rules put', ['rules.json']) },
      { name: 'History, as command', text: command(page, 'rules history') },
    ])],
  }));
  const show = (tab, more) => {
    page.setQuery({ ...Object.fromEntries([...page.query.keys()].map((name) => [name, null])), tab, ...more });
    return page.changed();
  };
  const draw = {
    edit: (scope) => edit(scope, state, show), try: (scope) => tryOut(scope, () => show('tests')), tests: (scope) => tests(scope, state),
    history: (scope) => history(scope, state), indexes,
  };
  await tabbed(root, page, 'Rules', [{ id: 'edit', name: 'Edit' }, { id: 'try', name: 'Try' }, { id: 'tests', name: 'Tests' },
    { id: 'history', name: 'History' }, { id: 'indexes', name: 'Indexes' }], (id, scope) => draw[id](scope));
}
