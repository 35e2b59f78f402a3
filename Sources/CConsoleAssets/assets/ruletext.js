// The text of the rules: editing with faults in place, what others did meanwhile, versions, and tests with coverage.

import { put } from './api.js';
import { codeArea, unseen } from './code.js';
import { textDiff } from './diff.js';
import { fill, h, later, shown } from './dom.js';
import { get as member, isObject, parse, write } from './json.js';
import { act, actorLink, badge, button, code, col, copyButton, note, num, quiet, table, toast, when } from './ui.js';
import { number, size, time } from './time.js';
import { change, command, copies, link, listing, save as saveFile } from './parts.js';

const many = (count, one, more = `${one}s`) => `${number(count)} ${Number(count) === 1 ? one : more}`;
// A text area knows one kind of line ends only: what was there otherwise is put back.
const plain = (source) => source.replace(/\r\n?/g, '\n');
const asWas = (text, source) => (plain(source) === text ? source : /\r\n/.test(source) ? text.replaceAll('\n', '\r\n') : text);

/** What a button does; what goes wrong is said. */
export const saying = (work) => async () => {
  try {
    await work();
  } catch (error) {
    if (error.name !== 'AbortError') toast(error.message, { error: true });
  }
};

// A link to another view of this page: what is typed and not saved stays.
const inPage = (page, changes, ...name) => h('a', { href: link(page, changes), on: { click: (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  page.setQuery(changes);
  page.changed();
} } }, name);

// MARK: Edit

function faultList(faults, area) {
  return h('ul', { class: 'faults' }, faults.map((fault) => h('li', button(`Line ${fault.line}, column ${fault.column}: ${shown(fault.message)}`,
    () => area.goTo(fault.line, fault.column), { small: true, quiet: true }))));
}

async function checkText(page, area, told) {
  const source = area.text();
  const answer = await page.post('rules/check', { source });
  if (area.text() !== source) return answer;
  const hidden = unseen(source);
  area.mark({ faults: answer.faults });
  fill(told, answer.sound
    ? h('p', badge('ok', '0 faults'), ` ${many(answer.rules, 'rule')} at ${many(answer.places, 'place')}, ${many(answer.indexes, 'index', 'indexes')}.`)
    : [h('p', badge('failed', many(answer.faults.length, 'fault'))), faultList(answer.faults, area)],
  hidden.length > 0 && [note('warn', 'Not everything in this text can be seen.'), faultList(hidden, area)]);
  return answer;
}

// What others put meanwhile, beside what was written here: nothing is lost until one of the two is chosen.
async function conflict(page, state, place, save, reload) {
  const theirs = await page.get('rules');
  const [last] = (await page.get('rules/history')).versions;
  const mine = state.draft;
  fill(place, h('div', { class: 'conflict', role: 'alert' },
    h('p', 'Not saved: the rules were replaced meanwhile',
      last && [', as version ', inPage(page, { tab: 'history', rev: last.version }, number(last.version)), ' by ', last.actor ? actorLink(page, last.actor) : 'others', ', ', time(last.time), last.reason && `: ${shown(last.reason)}`], '.'),
    h('p', 'From theirs (−) to yours (+):'), textDiff(plain(theirs.source), mine),
    h('div', { class: 'actions' }, button('Save mine over it', saying(() => {
      state.base = theirs;
      return save();
    }), { danger: true }), button('Take theirs', saying(async () => {
      await reload();
      toast('Theirs is in the editor.', { time: 60_000, action: { name: 'Yours again', run: saying(() => reload(mine)) } });
    })), copyButton([{ name: 'Your text', text: mine }, { name: 'Their text', text: theirs.source }]))));
  place.firstChild.scrollIntoView({ block: 'nearest' });
}

/** The editor; `state` keeps the text that is not saved: {base: the rules it began with, draft}. */
export function edit(page, state, show) {
  const told = h('div', { class: 'rules-told', role: 'status' });
  const place = h('div');
  let area;
  const check = () => checkText(page, area, told);
  const soon = later(400, () => check().catch((error) => error.name !== 'AbortError' && fill(told, h('p', { class: 'field-fault' }, error.message))));
  const source = () => asWas(area.text(), state.base.source);
  const reload = async (draft = null) => {
    state.base = await page.get('rules');
    state.draft = draft;
    area.set(draft ?? plain(state.base.source));
    fill(place);
    await check();
  };
  const save = async () => {
    fill(place);
    const { sound, faults } = await check();
    if (!sound) {
      area.goTo(faults[0].line, faults[0].column);
      return toast(`Not saved: ${many(faults.length, 'fault')}. The first is at line ${faults[0].line}, column ${faults[0].column}.`, { error: true });
    }
    const sent = source();
    const done = await change({
      title: 'Replace the rules', wide: true, verb: 'Replace the rules',
      preview: [textDiff(plain(state.base.source), area.text()), quiet('They hold from the next operation. Who listens to what they do not allow listens no more.')],
      run: (reason) => put('rules', { params: { ns: page.ns }, body: { source: sent, ifHash: state.base.hash, reason } })
        .catch((error) => (error.status === 412 ? { conflict: true } : Promise.reject(error))),
    });
    if (!done) return undefined;
    if (done.conflict) return conflict(page, state, place, save, reload);
    toast(done.changed ? `The rules hold now, as version ${number(done.version)}.` : 'Nothing changed: these rules hold already.');
    return reload();
  };
  const made = listing(page, 'The rules', async () => {
    // What was begun goes on from what it began with: so others' changes are seen when it is saved.
    state.base = state.draft === null || !state.base ? await page.get('rules') : state.base;
    area = codeArea({
      label: 'The rules', text: state.draft ?? plain(state.base.source), readonly: !page.needs('admin'), change: (text) => {
        state.draft = text === plain(state.base.source) ? null : text;
        soon();
      },
    });
    soon();
    area.element.addEventListener('keydown', (event) => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (page.needs('admin')) saying(save)();
    });
    const { base } = state;
    const reason = { reason: 'REASON' };
    return [
      base.exists ? quiet('Version ', number(base.version ?? 0), ', since ', time(base.updatedAt), `, ${size(base.bytes)}.`)
        : h('p', { class: 'note' }, 'This namespace has no rules yet. What stands here holds now; replace it by your own.'),
      area.element, told, h('div', { class: 'actions' }, button('Check', saying(check)), act(page, 'admin', 'Save…', saying(save), { primary: true, title: 'Ctrl S' }),
        button('Discard changes', saying(() => reload()), { quiet: true }), button('Run the tests', () => show('tests'), { quiet: true }),
        copyButton([{ name: 'The text', text: source }, ...copies(command(page, 'rules put', ['rules.json'], reason), 'PUT', '/admin/v1/rules', { ns: page.ns },
          { get source() { return source(); }, get ifHash() { return state.base.hash; }, ...reason })])), place,
    ];
  });
  return made;
}

// MARK: History

const HOW = { put: 'put', rollback: 'rolled back', configuration: 'from the configuration', found: 'was there' };

/** The versions, one of them with what it changed, and the way back to it. */
export function history(page, state) {
  const chosen = page.query.get('rev');
  return listing(page, 'Versions', async () => {
    const { versions } = await page.get('rules/history');
    const one = chosen && versions.find((row) => String(row.version) === chosen || row.hash === chosen);
    const rows = table({
      caption: 'Versions of the rules, newest first', rows: versions, columns: [
        num('Version', (row) => inPage(page, { rev: row.version }, number(row.version), row.current && ' ●')),
        when('Since', 'time', 'moment'), col('By', (row) => (row.actor ? actorLink(page, row.actor) : '—')),
        col('How', (row) => `${HOW[row.way] ?? row.way}${row.restores ? ` to ${number(row.restores)}` : ''}${row.current ? ', holds now' : ''}`),
        col('Reason', (row) => shown(row.reason ?? ''), true), num('Size', (row) => size(row.bytes)),
      ], empty: 'There are no rules yet. The first that are saved are version 1; the last 100 are kept.',
    });
    return [one && await version(page, state, versions, one), chosen && !one && note('bad', `There is no version ${shown(chosen)} any more.`), rows];
  });
}

async function version(page, state, versions, row) {
  const textOf = async (one) => (one ? plain((await page.get(`rules/history/${one.version}`)).source) : '');
  const [before, current] = [versions[versions.indexOf(row) + 1], versions[0]];
  const [own, earlier, now] = await Promise.all([textOf(row), textOf(before), textOf(current)]);
  const back = act(page, 'admin', 'Roll back to it…', async () => {
    const answer = await change({
      title: `Roll back to version ${number(row.version)}`, danger: true, verb: `Put version ${number(row.version)} once more`, wide: true,
      preview: async () => [textDiff(now, own, { none: 'They are the same as the rules that hold.' }), quiet('It becomes a new version: what holds now stays in the history.')],
      ask: (reason) => ({ path: 'rules/rollback', params: { ns: page.ns }, body: { version: String(row.version), ifHash: current.hash, reason } }),
      words: (reason) => command(page, 'rules rollback', [row.version], { reason, 'if-hash': current.hash }),
    });
    if (!answer) return;
    if (state.draft === null) state.base = null;
    toast(answer.changed ? `The rules of version ${number(row.version)} hold now, as version ${number(answer.version)}.` : 'They hold already.');
    page.setQuery({ rev: answer.version });
    page.changed();
  }, { danger: true, disabled: row.current });
  const area = codeArea({ label: `The text of version ${row.version}`, text: own, readonly: true });
  return h('section', { class: 'stack', aria: { label: `Version ${row.version}` } },
    h('h3', `Version ${number(row.version)}`, row.current && ', which holds'), h('p', { class: 'muted hash' }, `SHA-256 ${row.hash}`),
    h('h4', before ? `What it changed, against version ${number(before.version)}` : 'The first that is kept'),
    before ? textDiff(earlier, own) : null, !row.current && [h('h4', 'From it to what holds now'), textDiff(own, now)],
    h('details', { on: { toggle: () => area.draw(false) } }, h('summary', 'Its text'), area.element),
    h('div', { class: 'actions' }, back, inPage(page, { rev: null }, 'All versions'), copyButton([
      { name: 'The text', text: own }, ...copies(command(page, 'rules get', [row.version]), 'GET', `/admin/v1/rules/history/${row.version}`, { ns: page.ns })])));
}

// MARK: Tests

const keyOf = (page) => `doubloon.rules.tests.${page.ns}`;
const START = '{\n  "rules": "rules.json",\n  "users": {"bob": {"uid": "bob"}},\n  "data": {},\n  "cases": [\n'
  + '    {"name": "nobody reads everything", "as": null, "read": "/", "expect": "denied"}\n  ]\n}\n';

/** Adds a trial to the tests: with who asked, the answer, the rule that decided and the data that are there. */
export async function addCase(page, { order, told }) {
  const text = localStorage.getItem(keyOf(page));
  let file;
  try {
    file = text ? parse(text) : new Map([['rules', 'rules.json'], ['cases', []]]);
  } catch {
    file = null;
  }
  if (!isObject(file) || !Array.isArray(member(file, 'cases'))) throw new Error('The tests in this browser are no JSON with "cases". Repair them on the page Tests first.');
  const failed = told.rules.filter((row) => row.kind === '.validate' && !row.value);
  const decisive = failed.length > 0 ? failed : told.rules.filter((row) => row.kind !== '.validate' && row.value === told.allowed);
  const made = new Map([['name', `${told.operation} as ${told.auth?.uid ?? 'nobody'}: ${told.allowed ? 'allowed' : 'denied'}`], ['as', told.auth], [order.operation, order.path]]);
  if (order.value !== undefined) made.set('value', order.value);
  const { data, has } = await dataFor(page, order.path);
  if (data !== undefined) made.set('data', data);
  made.set('expect', told.allowed ? 'allowed' : 'denied');
  if (decisive.length <= 1) made.set('by', decisive.length === 1 ? `${decisive[0].kind} ${decisive[0].pattern}` : 'none');
  member(file, 'cases').push(made);
  keep(page, `${write(file, 2)}\n`);
  if (has) toast(`The case has ${has}. A rule that reads other places may judge otherwise there: complete "data" on the page Tests.`, { error: true });
}

// All data if they are few, else what stands at the first two keys of the path; `has` says what is left where that is not all.
async function dataFor(page, path) {
  const { leavesBefore } = await page.post('data/preview', { path: '/', method: 'DELETE' });
  const keys = leavesBefore <= 200 ? [] : path.split('/').filter(Boolean).slice(0, 2);
  const found = await page.get('data', { path: `/${keys.join('/')}`, format: 'export' }, { trees: ['value'] });
  if (!found.exists) return {};
  if (write(found.value).length > 65_536) return { has: 'no data, for there are more than 64 KB' };
  return {
    data: keys.reduceRight((value, key) => new Map([[key, value]]), found.value),
    has: keys.length > 0 && `only the data at /${shown(keys.join('/'))}`,
  };
}

function keep(page, text) {
  try {
    localStorage.setItem(keyOf(page), text);
  } catch {
    throw new Error('This browser does not keep so much. Download the tests, and run them with "doubloon rules test".');
  }
}

function coverage(report, area) {
  const byLine = new Map();
  for (const row of report.rules) {
    const seen = row.trueCount + row.falseCount + row.failedCount;
    const mark = row.gaps.length === 0 ? ['●', 'ok', 'proved both ways'] : seen > 0 ? ['◐', 'wait', 'in part'] : ['○', 'muted', 'never asked'];
    if (byLine.get(row.line)?.[0] !== '○') byLine.set(row.line, mark);
    row.mark = mark;
  }
  area.mark({ lines: byLine, lit: report.rules.flatMap((row) => row.gaps.map(({ line, column, text }) => ({ line, column, length: text.length }))) });
  return table({
    caption: 'Coverage, by line', rows: report.rules, columns: [
      num('Line', (row) => button(String(row.line), () => area.goTo(row.line, row.column), { small: true, quiet: true, label: `Go to line ${row.line}` })),
      col('Rule', (row) => h('code', `${row.kind} ${shown(row.pattern)}`), true),
      col('Proved', (row) => h('span', { class: row.mark[1] }, `${row.mark[0]} ${row.mark[2]}`)), num('True', 'trueCount'), num('False', (row) => number(row.falseCount + row.failedCount)),
      col('Not shown', (row) => row.gaps.map((gap) => h('div', `${gap.line}:${gap.column} ${gap.what}: `, code(gap.text))), true),
    ], empty: 'There is no rule in this file.',
  });
}

const results = (report) => table({
  caption: 'Cases', rows: report.cases, columns: [
    col('Outcome', (row) => badge(row.passed ? 'ok' : 'failed', row.passed ? 'as expected' : 'not as expected')), col('Case', (row) => shown(row.name), true),
    col('Why', (row) => row.problem && [h('b', shown(row.problem)), h('pre', { class: 'code' }, shown(row.text ?? '', { lines: true }))], true),
  ],
});

/** Tests of the rules: a file's text, kept in this browser; run on what is in the editor, else on what holds. */
export function tests(page, state) {
  const verdict = h('p', { class: 'verdict', role: 'status' });
  const out = h('div', { class: 'stack' });
  const fault = (...what) => {
    fill(verdict, h('span', { class: 'field-fault' }, what));
    fill(out);
  };
  const area = codeArea({
    label: 'The tests', text: localStorage.getItem(keyOf(page)) ?? START, words: false, change: later(300, (text) => {
      try {
        keep(page, text);
      } catch (error) {
        toast(error.message, { error: true });
      }
    }),
  });
  const run = async () => {
    let cases;
    try {
      cases = parse(area.text());
    } catch (error) {
      return fault(`The tests are no JSON: ${error.message}`);
    }
    try {
      const source = state.draft ?? (await page.get('rules')).source;
      const report = await page.post('rules/test', { cases, source });
      const rules = codeArea({ label: 'The rules, with their coverage', text: plain(source), readonly: true });
      const all = report.cases.length + report.notRun;
      fill(verdict, badge(report.failed + report.notRun === 0 ? 'ok' : 'failed', `${number(report.passed)}/${number(all)}`), ' ',
        report.failed > 0 ? `${many(report.failed, 'case')} not as expected.` : 'All as expected.', report.notRun > 0 && ` ${many(report.notRun, 'case')} not run: the time was over.`,
        ` ${number(report.covered)} of ${many(report.ruleCount, 'rule')} proved both ways, ${state.draft === null ? 'of the rules that hold' : 'of the text that is not saved'}.`);
      fill(out, results(report), h('h2', 'Coverage'), coverage(report, rules), rules.element);
    } catch (error) {
      fault(shown(error.message), error.answer?.faults && ' Repair the rules on the page Edit first.');
    }
    return undefined;
  };
  const file = h('input', { type: 'file', accept: '.json,application/json', class: 'only-read', tabindex: -1, aria: { label: 'A file with tests' }, on: {
    change: async () => {
      const [chosen] = file.files;
      file.value = '';
      if (chosen?.size > 1 << 20) return toast('This file is larger than 1 MB.', { error: true });
      if (chosen) {
        area.set(plain(await chosen.text()));
        area.change(area.text());
      }
      return undefined;
    },
  } });
  const element = h('div', { class: 'stack' },
    quiet('A file as "doubloon rules test" takes it. It is kept in this browser only: download it, and keep it beside rules.json.'), area.element,
    h('div', { class: 'actions' }, button('Run', run, { primary: true }), button('Open a file…', () => file.click()),
      button('Download', () => saveFile('rules-test.json', area.text(), 'application/json')), file,
      copyButton([{ name: 'The text', text: () => area.text() }, { name: 'Command', text: 'doubloon rules test rules-test.json' }])), verdict, out);
  return { element, first: localStorage.getItem(keyOf(page)) ? run() : undefined };
}
