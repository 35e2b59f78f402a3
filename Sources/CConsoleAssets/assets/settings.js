// Settings: the server, who may administer, namespaces, the log, how the console looks, about.

import { del } from './api.js';
import { encodePath, fill, h, shown } from './dom.js';
import { write } from './json.js';
import {
  act, badge, button, choice, code, col, copyButton, copyIcon, dialog, empty, facts, field, guard, heading, inline, input, jsonView, note,
  num, quiet, table, to, toast, when,
} from './ui.js';
import { counted, moment, now, number, parseTime, setZone, size, span, time, zone } from './time.js';
import { appearance as setting, setAppearance } from './frame.js';
import { change, command, copies, panel, save, section, tabbed } from './parts.js';

/** The page's title. */
export const title = () => 'Settings';

const part = (page, name, load, copy, actions) => panel({
  title: name, load, actions: [actions, copy && copyButton(copy)].flat().filter(Boolean),
});
const verdict = (found, words) => h('p', badge(found.sound ? 'sound' : 'failed', found.sound ? 'sound' : 'not sound'), ` ${words}`);
const faults = (found) => found.faultCount > 0 && h('ul', found.faults.map((item) => h('li', shown(item.message ?? item))));

/** A panel whose content comes only when it is asked for: an audit reads everything. */
function proof(page, name, told, path, params, words, draw) {
  let asked = false;
  const made = part(page, name, async () => {
    if (!asked) return quiet(told);
    const start = performance.now();
    const found = await page.get(path, params);
    return draw(found, span(performance.now() - start));
  }, copies(command(page, words), 'GET', `/admin/v1/${path}`, params), button('Verify now', () => {
    asked = true;
    return made.reload();
  }, { small: true }));
  return made;
}

const server = (page) => [part(page, 'Server', async () => {
  const told = await page.get('status');
  return [facts([
    ['Mode', told.mode], ['Version', told.version && shown(told.version)], ['Started', told.startedAt && time(told.startedAt)],
    ['Its time', moment(told.time)], ['Default namespace', shown(told.defaultNamespace)], ['Namespaces', number(told.namespaces)],
    ['Revision', told.revision !== undefined && [`r${told.revision}`, told.prunedThrough !== undefined && `, pruned through r${told.prunedThrough}`]],
    ['Behind', told.lagMs !== undefined && [told.lagMs > 0 ? `the oldest event waits for ${span(told.lagMs)}` : 'no event waits', told.lagP95Micros !== undefined && `, 95 of 100 effects within ${span(Number(told.lagP95Micros) / 1000)}`]],
    ['Writer\'s queue', number(told.writer.queueDepth)], ['Connections', told.sockets !== undefined && `${number(told.sockets)} sockets, ${number(told.streams)} streams, ${number(told.listens)} listens`],
    ['Last verification', told.lastVerification && [badge(told.lastVerification.sound ? 'sound' : 'failed'), ' ', time(told.lastVerification.at), ` in ${span(told.lastVerification.durationMs)}`]],
    ['Last backup', told.lastBackup && [time(told.lastBackup.at), told.lastBackup.failure && ` ✕ ${shown(told.lastBackup.failure)}`]],
    ['Disk', told.disk && `${size(told.disk.freeBytes)} of ${size(told.disk.totalBytes)} free at ${shown(told.disk.folder)}`],
  ]), [...told.problems, told.writer.failure].filter(Boolean).map((text) => note('bad', shown(text))),
  told.warnings.map((text) => note('warn', shown(text))),
  told.pausedFunctions.map((item) => h('p', badge('paused', item.name), ` ${shown(item.reason)}`))];
}, copies(command(page, 'status', [], { ns: false }), 'GET', '/admin/v1/status')),
proof(page, 'Everything that is stored', 'Reads every table of every namespace and compares it with what proves it.', 'verify', {}, 'verify',
  (found, took) => [verdict(found, `${number(found.rows)} rows in ${took}.`), faults(found), table({
    caption: 'Namespaces', rows: found.namespaces, columns: [
      col('Namespace', 'namespace'), num('Commits', 'commits'), num('Entries', 'entries'), num('Runs', 'executions'),
      col('Faults', (row) => (row.faultCount > 0 ? [badge('failed', number(row.faultCount)), ` ${shown(row.faults.join(' '))}`] : badge('ok', '0'))),
    ],
  })])];

const ADMIN = /^admins\.(.+)\.token$/;

const configuration = (page) => [part(page, 'In force', async () => {
  if (!page.needs('admin')) return empty('What is configured takes admin to see.');
  const { files, settings } = await page.get('config');
  return [quiet(files.length > 0 ? ['From ', files.map((file) => [code(file), ' ']), 'and the defaults.'] : 'From the command line and the defaults.'), table({
    caption: 'Settings in force', rows: settings, columns: [
      col('Setting', (row) => code(row.name)),
      col('Value', (row) => (row.value === null ? quiet('not set') : row.secret ? 'set' : typeof row.value === 'object' ? jsonView(row.value, { open: 1 }) : inline(row.value)), true),
      col('Source', (row) => (row.source === 'default' ? quiet('default') : row.source === 'command-line' ? 'command line' : row.source)),
    ],
  })];
}, copies(command(page, 'config show', [], { ns: false }), 'GET', '/admin/v1/config')), mails(page)];

/** Mail: a test of it, and in development what would have been sent. */
function mails(page) {
  const told = h('p', { role: 'status' });
  const test = act(page, 'admin', 'Send a test…', async () => {
    const address = input({ type: 'email', placeholder: 'ann@acme.test' });
    const ordered = await change({
      title: 'Send a test mail', reason: false, fields: field('To', address), verb: () => `Send to ${address.value.trim() || '…'}`,
      check: () => !/.@./.test(address.value) && 'Write an address.', ask: () => ({ path: 'mail/test', body: { to: address.value.trim() } }),
    });
    if (!ordered) return;
    // The order is kept where the server's own namespace is.
    const ask = () => page.get(`mail/orders/${encodePath(ordered.key)}`, { ns: page.session.namespace }, { active: false });
    for (let order = null; !page.signal.aborted && (order?.state ?? 'waiting') === 'waiting';) {
      if (order) await new Promise((resolve) => { setTimeout(resolve, 1000); });
      order = await ask().catch(() => null);
      if (!order) return;
      fill(told, badge({ delivered: 'done' }[order.state] ?? order.state, order.state), ` after ${counted(order.attempts, 'attempt')}`, order.lastError && `: ${shown(order.lastError)}`);
    }
    await made.reload();
  }, { small: true });
  const made = part(page, 'Mail', async () => [told, page.session.mode !== 'development' ? quiet('A test says whether mail arrives; what was sent is not kept.') : table({
    caption: 'Mails that were not sent', rows: page.needs('admin') ? (await page.get('mail', { limit: 20 })).mails : [], empty: 'No mail was ordered. In development mails are shown here and not sent.', columns: [
      when('Time', 'time'), col('To', 'to'), col('Subject', 'subject', true), col('Text', (row) => h('details', h('summary', 'Text'), h('pre', { class: 'code' }, shown(row.text, { lines: true }))), true)],
  })], copies(null, 'POST', '/admin/v1/mail/test', {}, { to: 'ann@acme.test' }), test);
  return made;
}

/** The key file of a new service account: seen here once, and nowhere again. */
function showKey(created) {
  const text = write(created.key, 2);
  const file = `${created.account.name}.json`;
  return dialog({
    title: `Key of ${created.account.name}`, wide: true, fixed: true, body: h('div',
      note('warn', 'This is shown once. Nobody can ask for it again; if it is lost, revoke the account and make another.'),
      h('div', { class: 'actions' }, button(`Save ${file}`, () => save(file, text, 'application/json'), { icon: 'download' }), copyIcon(text, 'Copy the key file')),
      h('pre', { class: 'code key-file', tabindex: 0 }, text),
      h('p', 'Use it with ', h('code', `DOUBLOON_KEY=${file} doubloon status`), '.')), actions: [{ name: 'I have saved it', primary: true, run: () => true }],
  }).closed;
}

async function makeAccount(page, reload) {
  const name = input({ placeholder: 'ci' });
  const role = choice([['viewer', 'viewer: sees everything, changes nothing'], ['support', 'support: repairs, reverses, pauses'], ['admin', 'admin: everything']], 'viewer');
  const address = input({ value: location.origin });
  const text = () => name.value.trim();
  const created = await change({
    title: 'Make a service account', reason: false, fields: h('div', { class: 'form' }, field('Name', name, { help: 'Small letters, digits, hyphens.' }),
      field('Role', role), field('Server, as the account reaches it', address)),
    check: () => !/^[a-z][a-z0-9-]{0,62}$/.test(text()) && 'The name begins with a small letter; then small letters, digits and hyphens.',
    verb: () => `Make ${text() || '…'}, ${role.value}`, words: () => command(page, 'service-account create', [text()], { role: role.value, url: address.value, ns: false }),
    ask: () => ({ path: 'service-accounts', body: { name: text(), role: role.value, server: address.value } }),
  });
  if (!created) return;
  await showKey(created);
  reload();
}

function access(page) {
  const accounts = part(page, 'Service accounts', async () => table({
    caption: 'Names and roles', rows: (await page.get('service-accounts')).serviceAccounts,
    empty: 'There are none. A program, or a colleague, signs in with the key file of one; each has a role of its own.', columns: [
      col('Name', 'name'), col('Role', 'role'), when('Made', 'createdAt'), col('By', 'createdBy'), col('Key', (row) => h('code', row.keyId.slice(0, 8))),
      col('State', (row) => (row.revokedAt ? [badge('disabled', 'revoked'), ' ', time(row.revokedAt)] : act(page, 'admin', 'Revoke…', async () => {
        const answer = await change({
          title: `Revoke ${shown(row.name)}`, danger: true, typed: row.name, verb: `Revoke ${shown(row.name)}`,
          preview: h('p', 'Its tokens are void from now on, also those of open consoles. This cannot be undone.'),
          words: (reason) => command(page, 'service-account revoke', [row.name], { reason, ns: false }),
          ask: (reason) => ({ method: 'DELETE', path: `service-accounts/${encodeURIComponent(row.name)}`, params: { reason } }),
        });
        if (answer) await accounts.reload();
      }, { small: true, danger: true }))),
    ],
  }), copies(command(page, 'service-account list', [], { ns: false }), 'GET', '/admin/v1/service-accounts'),
  act(page, 'admin', 'Make…', () => makeAccount(page, accounts.reload), { small: true }));
  const sessions = part(page, 'Sessions of the console', async () => (page.needs('admin') ? table({
    caption: 'Who is signed in', rows: (await page.get('sessions')).sessions, empty: 'Nobody is signed in.', columns: [
      col('Who', 'actor'), col('Role', 'role'), col('From', 'address'), when('Since', 'createdAt'), when('Last active', 'lastActiveAt'), when('Ends', 'until'),
      col('Do', (row) => (row.current ? 'this one' : button('End', async () => {
        await del(`sessions/${encodeURIComponent(row.id)}`);
        toast(`The session of ${row.actor} has ended.`);
        await sessions.reload();
      }, { small: true, danger: true }))),
    ],
  }) : empty('Who is signed in takes admin to see.')));
  const tokens = part(page, 'Tokens of the configuration', async () => (page.needs('admin') ? table({
    caption: 'Administrators by a token', rows: (await page.get('config')).settings.map((row) => ADMIN.exec(row.name)).filter(Boolean), columns: [
      col('Name', ([, name]) => `admin:${name}`), col('Role', () => 'admin')],
    empty: page.session.mode === 'development' ? 'In development there is one: the owner of this machine.' : 'There are none. "admins" in the configuration names people with a token each.',
  }) : empty('Whose tokens count takes admin to see.')));
  return [accounts, tokens, sessions];
}

function namespaces(page) {
  const made = part(page, 'Namespaces', async () => table({
    caption: 'Each with its revision', rows: (await page.get('namespaces')).namespaces, empty: 'There is none yet; one appears with the first write.', columns: [
      col('Name', (row) => h('a', { href: `/console/n/${encodeURIComponent(row.name)}/overview` }, shown(row.name))), when('Created', 'createdAt'), num('Revision', 'revision'),
      num('Entries', 'entries'),
      col('Do', (row) => page.session.mode === 'development' && act(page, 'admin', 'Forget…', async () => {
        const answer = await change({
          title: `Forget ${shown(row.name)}`, danger: true, typed: row.name, verb: `Forget ${shown(row.name)}`,
          preview: h('p', `The tree, ${number(row.revision)} commits and ${number(row.entries)} ledger entries go. This cannot be undone; only a server in development can.`),
          ask: (reason) => ({ method: 'DELETE', path: `namespaces/${encodeURIComponent(row.name)}`, params: { reason } }),
        });
        if (answer) await made.reload();
      }, { small: true, danger: true }) || ''),
    ],
  }), copies(command(page, 'namespaces', [], { ns: false }), 'GET', '/admin/v1/namespaces'), act(page, 'admin', 'Make…', async () => {
    const name = input({ placeholder: 'season-2' });
    const answer = await change({
      title: 'Make a namespace', reason: false, fields: field('Name', name, { help: '1 to 64 letters, digits and hyphens.' }), verb: () => `Make ${name.value || '…'}`,
      check: () => !/^[A-Za-z0-9-]{1,64}$/.test(name.value) && 'A name has 1 to 64 letters, digits and hyphens.',
      ask: () => ({ path: 'namespaces', body: { name: name.value } }),
    });
    if (answer) await made.reload();
  }, { small: true }));
  return made;
}

/** Reads a panel again after a while, if somebody looks at it then. */
const soon = (page, made, milliseconds) => setTimeout(() => page.signal.aborted || document.visibilityState === 'hidden' || made.reload(), milliseconds);

/** The indexes that the rules declare; read again while one is built. */
function indexes(page) {
  const made = part(page, 'Indexes', async () => {
    const { indexes: rows } = await page.get('indexes', {}, { active: false });
    if (rows.some(({ state }) => state !== 'ready')) soon(page, made, 2000);
    return table({
      caption: 'Indexes', rows, empty: 'There are none. ".indexOn" in the rules declares one; a query without one reads every child.', columns: [
        col('Path', (row) => code(row.path), true), col('By', (row) => code(row.index)), col('State', (row) => badge(row.state === 'ready' ? 'ok' : 'running', row.state)),
        num('Children', 'childrenIndexed'), col('Problem', 'problem', true)],
    });
  }, copies(null, 'GET', '/admin/v1/indexes', { ns: page.ns }));
  return made;
}

async function prune(page, reload) {
  const until = input({ value: '90d', placeholder: '90d, a date, or r1200' });
  const bound = () => {
    const [, revision] = /^r(\d+)$/.exec(until.value.trim()) ?? [];
    return revision ? { through: Number(revision) - 1 } : { before: parseTime(until.value) };
  };
  const answer = await change({
    title: 'Prune the log', danger: true, typed: page.ns, verb: () => `Prune ${shown(page.ns)}`, fields: [h('p', { class: 'note warn' },
      'What commits changed is forgotten behind a checkpoint: as-of, why and replays end there. This cannot be undone.'), field('Everything before', until)],
    check: () => (bound().before === null || bound().through < 1) && 'Write how long ago (90d), a date, or a revision (r1200).',
    words: (reason) => command(page, 'log prune', [], { before: bound().through ? bound().through + 1 : new Date(bound().before).toISOString(), reason, yes: true }),
    ask: (reason) => ({ path: 'log/prune', params: { ns: page.ns }, body: { ...bound(), reason } }),
    preview: async () => {
      const plan = await page.post('log/prune/preview', bound());
      return { blocked: plan.pruned === plan.prunedBefore, node: h('p', plan.pruned === plan.prunedBefore ? 'Nothing would be forgotten.'
        : `Commits r${number(plan.prunedBefore + 1)} to r${number(plan.pruned)} lose what they changed.`, plan.heldBack && ` ${shown(plan.heldBack)}`) };
    },
  });
  if (answer) reload();
}

function log(page) {
  const { ns } = page;
  const checkpoint = part(page, 'Checkpoint', async () => {
    const { pruned, checkpoint: last } = await page.get('log/checkpoint');
    return last ? facts([['Pruned through', `r${number(pruned)}`], ['Commit', [time(last.commitTime, 'moment'), ' ', h('code', { class: 'hash' }, last.commitHash)]],
      ['Tree then', [`${number(last.leaves)} leaves `, h('code', { class: 'hash' }, last.treeHash)]], ['By', shown(last.actor)], ['Reason', shown(last.reason)], ['Made', time(last.createdAt)]])
      : quiet('Nothing was pruned: every commit still says what it changed.');
  }, copies(null, 'GET', '/admin/v1/log/checkpoint', { ns }), act(page, 'admin', 'Prune…', () => prune(page, () => checkpoint.reload()), { small: true, danger: true }));
  return [checkpoint, chain(page)];
}

const reportOf = (found) => [verdict(found, `${number(found.commits)} commits.`), faults(found), facts([
  ['Entries', number(found.entries)], ['Runs', number(found.executions)], ['Without changes (pruned)', number(found.forgotten)], ['Erased for players who left', number(found.erased)],
  ['Erasures not finished', found.unsealed.length > 0 && found.unsealed.join(', ')], ['Last hash', h('code', { class: 'hash' }, found.lastHash)],
])];

/** The audit of the log, which goes on at the server; this shows how far it is. */
function chain(page) {
  const { ns } = page;
  const begin = button('Verify now', async () => {
    await page.post('log/verify');
    await made.reload();
  }, { small: true });
  const made = part(page, 'The chain of commits', async () => {
    const audit = await page.get('log/verification', {}, { active: false });
    const isRunning = audit.state === 'running';
    begin.disabled = isRunning || !page.needs('admin');
    if (isRunning) soon(page, made, 700);
    if (audit.state === 'none') return quiet('Not verified since the server started. It reads every commit of this namespace, beside the server\'s other work.');
    const of = audit.commitCount + audit.entryCount;
    return [h('p', `Begun by ${shown(audit.actor)} `, time(audit.startedAt), audit.endedAt && [', ended ', time(audit.endedAt), ` after ${span(audit.endedAt - audit.startedAt)}`], '.'),
      isRunning && h('label', h('progress', { max: of || 1, value: audit.commits + audit.entries }), ` ${number(audit.commits)} of ${number(audit.commitCount)} commits, ${number(audit.entries)} of ${number(audit.entryCount)} entries`),
      audit.failure && note('bad', shown(audit.failure)), audit.result && reportOf(audit.result)];
  }, copies(command(page, 'log verify', [], { background: true }), 'POST', '/admin/v1/log/verify', { ns }, {}), guard(begin, page, 'admin'));
  return made;
}

const backups = (page) => part(page, 'Copies of the store', async () => {
  const { schedule, next, retention, copies: made } = await page.get('backups');
  return [schedule ? facts([['Schedule', shown(schedule)], ['Next', next && time(next)], ['Kept', retention
    ? `the last ${number(retention.last)}, the newest of ${number(retention.daily)} days and of ${number(retention.weekly)} weeks` : 'all']])
    : quiet('No copies are scheduled: "backups" in the configuration does that, "doubloon backup FILE" makes one now.'), table({
    caption: 'Copies', rows: made, empty: 'No copy was made since the server started, and none is in the folder.', columns: [
      when('Begun', 'time', 'moment'), num('Size', (row) => (row.bytes === undefined ? '—' : size(row.bytes))),
      num('Took', (row) => (row.durationMs === undefined ? '—' : span(row.durationMs))),
      col('State', (row) => (row.failure ? badge('failed') : row.verified ? badge('sound', 'read again') : badge('ok', 'made'))),
      col('By', (row) => (row.scheduled ? 'schedule' : 'order')), col('Where', (row) => [code(row.place), row.failure && ` ${shown(row.failure)}`], true),
    ],
  })];
}, copies(command(page, 'backups', [], { ns: false }), 'GET', '/admin/v1/backups'));

function appearance(page) {
  const pick = (name, options, value, apply) => {
    const element = choice(options, value, { on: { change: () => apply(element.value) } });
    return field(name, element);
  };
  const set = (name, key, options) => pick(name, options, setting(key), (value) => setAppearance(key, value));
  // Browsers list Kolkata under its old name only.
  const zones = [...new Set(['local', 'UTC', zone(), 'Asia/Kolkata', ...(Intl.supportedValuesOf?.('timeZone') ?? [])])];
  const form = h('div', { class: 'form' },
    set('Theme', 'theme', [['auto', 'as the system'], 'light', 'dark']),
    pick('Times', zones.map((name) => [name, name === 'local' ? 'local: as this machine' : name]), zone(), setZone),
    set('Rows', 'density', [['regular', 'regular, 28 px'], ['compact', 'compact, 24 px']]),
    set('Single-letter shortcuts', 'keys', [['yes', 'on'], ['no', 'off']]),
    quiet('Kept in this browser. Now it is ', time(now(), 'moment'), '.'));
  return section(page, 'Appearance', async () => form);
}

const about = (page) => section(page, 'About', async () => {
  const routes = await page.get('');
  return [facts([['Doubloon', shown(page.session.version ?? 'of this build')], ['Signed in as', `${shown(page.session.actor)}, ${shown(page.session.role)}`],
    ['Session ends', page.session.until && time(page.session.until)], ['Licence', 'Apache 2.0']]),
  h('p', `All of this is done by ${number(routes.length)} addresses below /admin/v1; with a key they are yours, too:`), table({
    caption: 'Addresses', rows: routes, columns: [col('Method', (row) => h('code', row.method)), col('Address', (row) => h('code', row.path)),
      col('Takes', 'role'), col('What', 'summary', true)],
  })];
});

const TABS = { server: ['Server', server], configuration: ['Configuration', configuration], access: ['Access', access], namespaces: ['Namespaces', namespaces], indexes: ['Indexes', indexes], backups: ['Backups', backups], log: ['Log', log], appearance: ['Appearance', appearance], about: ['About', about] };

/** Draws the page. */
export async function mount(root, page) {
  root.append(heading('Settings', { sub: to(page.url('audit'), 'Audit: who changed what') }));
  await tabbed(root, page, 'Settings', Object.entries(TABS).map(([id, [name]]) => ({ id, name })), (id, scope) => TABS[id][1](scope));
}
