// One event: what was written, which functions had it, what they did, and what came of it.

import { changesOf, diffView } from './diff.js';
import { encodePath, h, shown } from './dom.js';
import { isObject, write } from './json.js';
import { clock, counted, moment, number, span, time } from './time.js';
import {
  act, actorLink, badge, button, code, coins, col, copyButton, dialog, entryLink, eventLink, facts, functionLink, heading, inline, num,
  panel, pathLink, quiet, table, toast,
} from './ui.js';
import { change, command, copies } from './parts.js';

const TREES = ['before', 'after', 'payload', 'settings'];

/** The page's title. */
export const title = (params) => params.id;

const changed = ({ before, after }) => h('span', inline(before ?? undefined), ' → ', inline(after ?? undefined));
const settingsLine = (settings) => (isObject(settings) ? h('span', { class: 'meta muted' }, [...settings].map(([name, value]) => `${name} ${typeof value === 'string' ? value : write(value)}`).join(' · ')) : null);

/** What happened, in order: [{at, shape, tone, what, body, from, to}]. */
function stepsOf(page, event) {
  const begin = event.write?.time ?? event.time ?? event.invocation?.time;
  const steps = [];
  const add = (at, [shape, tone], what, ...body) => steps.push({ at, shape, tone, what, body });
  if (event.invocation) add(begin, ['○', ''], 'by hand', h('span', 'Run by ', actorLink(page, event.invocation.actor), ' as ', shown(event.invocation.actingAs ?? event.invocation.as ?? ''), ': ', shown(event.invocation.reason)));
  else {
    add(begin, ['○', ''], 'write', h('span', event.write && !event.erased ? changed(event) : 'No longer known.', ' '), h('span', { class: 'meta muted' },
      'revision ', h('a', { href: page.url('data', event.path, { at: `r${event.revision}`, tab: 'diff' }) }, `r${event.revision}`),
      event.write?.changeCount > 1 && `, ${number(event.write.changeCount)} places`, event.write?.triggers === false && ', functions were told to sleep'));
  }
  for (const match of event.matches) {
    add(begin, ['○', ''], 'matched', h('span', functionLink(page, match.function), ' runs on ', shown(match.runsOn)), h('code', { class: 'muted' }, shown(match.pattern)));
  }
  if (event.matches.length === 0) add(begin, ['·', 'muted'], 'matched', 'No function that is registered now runs on it.');
  for (const failure of event.failures) {
    add(failure.startedAt ?? failure.finishedAt, ['✕', 'dead'], `attempt ${number(failure.attempt)}`, h('span', functionLink(page, failure.function), ' failed: ', shown(failure.error)), settingsLine(failure.settings));
    Object.assign(steps.at(-1), { from: failure.startedAt ?? failure.finishedAt, to: failure.finishedAt });
  }
  for (const run of event.executions) {
    add(run.startedAt, run.outcome === 'done' ? ['●', 'ok'] : ['⤼', 'muted'], `attempt ${number(run.attempt)}`,
      h('span', functionLink(page, run.function), ' ', badge(run.outcome), run.reason && `: ${shown(run.reason)}`, ` in ${span(run.finishedAt - run.startedAt)}`), settingsLine(run.settings));
    Object.assign(steps.at(-1), { from: run.startedAt, to: run.finishedAt });
  }
  later(page, event, add);
  const latest = Math.max(begin, ...steps.map((step) => step.to ?? step.at ?? begin));
  return { begin, latest, steps };
}

function later(page, event, add) {
  const last = event.executions.at(-1)?.finishedAt;
  for (const effect of event.effects) {
    add(last, ['◆', ''], `commit r${effect.revision ?? ''}`, h('span', pathLink(page, effect.path, { at: effect.revision ? `r${effect.revision}` : null }), ' ', changed(effect)));
  }
  for (const entry of event.entries) {
    add(entry.time, ['◆', ''], h('a', { href: page.url('rewards/entry', entry.sequence) }, `entry ${number(entry.sequence)}`), h('span', coins(entry.amount, entry.unit), ' ', h('code', `${shown(entry.debit)} → ${shown(entry.credit)}`)),
      h('span', { class: 'meta muted' }, `key ${shown(entry.key)}`, entry.reverses && [', takes back ', entryLink(page, entry.reverses)], entry.reason && `, ${shown(entry.reason)}`));
  }
  for (const child of event.children) add(last, ['↳', ''], 'event', h('span', eventLink(page, child.id), ` ${child.kind}`));
  for (const message of event.outbox) {
    add(message.createdAt, message.state === 'sent' || message.state === 'done' ? ['●', 'ok'] : ['◔', 'wait'], 'message', h('span', `${shown(message.outlet)}: ${shown(message.state)}, ${counted(message.attempts, 'attempt')}`), message.lastError && h('span', { class: 'dead' }, shown(message.lastError)));
  }
  for (const wait of event.deliveries) {
    const tone = { waiting: ['◔', 'wait'], paused: ['⏸', 'paused'], dead: ['✕', 'dead'] }[wait.state] ?? ['◇', ''];
    const next = wait.state === 'dead' ? 'It is not tried again by itself.' : wait.state === 'paused' ? 'The function is paused.' : wait.nextAttemptAt ? ['Next attempt ', time(wait.nextAttemptAt), '.'] : 'It is tried again.';
    add(wait.updatedAt, tone, wait.state, h('span', functionLink(page, wait.function), `, ${counted(wait.attempts, 'attempt')}. `, next), h('span', { class: 'break' }, shown(wait.lastError)));
  }
}

function timeline(page, event) {
  const { begin, latest, steps } = stepsOf(page, event);
  const whole = Math.max(1, latest - begin);
  const when = (at, index) => {
    if (at === undefined || at === null) return '';
    const words = index === 0 ? clock(at) : `${at >= begin ? '+' : ''}${span(at - begin)}`;
    return h('time', { datetime: new Date(Number(at)).toISOString(), title: `${moment(at)} ${clock(at)}` }, words);
  };
  return h('ol', { class: 'steps' }, steps.map((step, index) => {
    const track = step.from !== undefined && h('div', { class: ['step-track', step.tone], aria: { hidden: 'true' } }, h('span', {
      style: { left: `${((step.from - begin) / whole) * 100}%`, width: `${((step.to - step.from) / whole) * 100}%` },
    }));
    return h('li', { class: 'step' }, h('span', { class: `shape ${step.tone}`, aria: { hidden: 'true' } }, step.shape), h('span', { class: 'when' }, when(step.at, index)),
      h('span', { class: 'what' }, step.what), h('div', { class: 'step-body' }, step.body, track));
  }));
}

/** The same steps as a table, for who reads by ear. */
function asTable(page, event) {
  const { begin, steps } = stepsOf(page, event);
  dialog({ title: 'Timeline', wide: true, body: table({
    caption: 'What happened, in order', rows: steps, columns: [
      col('Time', ({ at }) => clock(at)), num('After', ({ at }) => (at === undefined || at === null ? '—' : span(at - begin))), col('Step', 'what'),
      num('Took', ({ from, to }) => (from === undefined ? '—' : span(to - from))), col('What', 'body', true),
    ],
  }) });
}

/** The events that led here, up to the first write, and those that came of it. */
async function causes(page, event) {
  const chain = [];
  let cause = event.cause ?? event.write?.cause;
  while (cause && chain.length < 64) {
    const above = await page.get(`events/${encodePath(cause.event)}`, {}, { active: false });
    chain.unshift({ id: above.id, by: cause.function, actor: above.write?.actor ?? above.actor, at: above.time });
    cause = above.cause ?? above.write?.cause;
  }
  const line = (depth, shape, ...words) => h('li', { style: { 'padding-inline-start': `${depth * 16}px` } }, h('span', { class: 'shape', aria: { hidden: 'true' } }, shape), h('span', words));
  return h('ul', { class: 'lines' },
    line(0, '○', 'First write by ', actorLink(page, chain[0]?.actor ?? event.write?.actor ?? event.actor)),
    chain.map((above, index) => line(index + 1, '↳', eventLink(page, above.id), ', from which ', functionLink(page, above.by), ' wrote')),
    line(chain.length + 1, '●', h('strong', 'this event')),
    event.children.map((child) => line(chain.length + 2, '↳', eventLink(page, child.id), ` ${child.kind}`)),
    event.children.length > 0 && h('li', h('a', { href: page.url('events', null, { cause: event.id }) }, 'All that came of it')));
}

function actionsOf(page, event, reload) {
  const path = `events/${encodePath(event.id)}`;
  const redeliver = act(page, 'support', 'Redeliver', async () => {
    const done = await change({
      title: 'Give the event to its functions again?', verb: 'Redeliver', reason: false, preview: h('p', 'A function that has handled it does nothing: nothing is paid twice. One that gave up on it tries once more.'),
      ask: () => ({ path: `${path}/redeliver`, params: { ns: page.ns } }),
    });
    if (done) toast('The event was given to its functions again.');
    reload();
  });
  const dead = event.deliveries.filter(({ state }) => state === 'dead');
  const acknowledge = dead.length > 0 && act(page, 'support', 'Acknowledge…', async () => {
    const done = await change({
      title: 'Close it without running it?', verb: `Close ${counted(dead.length, 'dead letter')}`, danger: true,
      preview: [h('p', 'It is recorded as skipped, and never runs by itself again:'), h('ul', dead.map((item) => h('li', h('strong', shown(item.function)), ': ', shown(item.lastError))))],
      words: (reason) => command(page, 'triggers acknowledge', [], { event: event.id, reason }),
      ask: (reason) => ({ path: 'dead-letters/acknowledge', params: { ns: page.ns }, body: { reason, event: event.id } }),
    });
    if (done) toast('The dead letter is closed.');
    reload();
  });
  const replay = h('a', { class: 'button', href: page.url('replays/new', null, { event: event.id }) }, 'Replay with dry run…');
  const copy = copyButton([{ name: 'Link', text: () => location.href }, { name: 'Event id', text: event.id }, { name: 'Path', text: event.path },
    { name: 'JSON', text: () => write(event, 2) }, ...copies(command(page, 'triggers show', [event.id]), 'GET', path, { ns: page.ns })]);
  return [redeliver, acknowledge, replay, copy];
}

/** Shows the page. */
export async function mount(root, page) {
  const { id } = page.params;
  const load = (active) => page.get(`events/${encodePath(id)}`, {}, { trees: TREES, active });
  let event = await load();
  let chainFor = null;
  const head = h('div', { class: 'stack' });
  const steps = panel({ title: 'Timeline', actions: button('as table', () => asTable(page, event), { small: true, quiet: true }), load: async () => timeline(page, event) });
  const values = panel({
    title: 'Before and after', load: async () => {
      if (event.erased) return h('p', `The values are erased: the player left. ${shown(event.erased.reason ?? '')}`);
      return [diffView(changesOf(event.before, event.after, event.path), { link: (path) => pathLink(page, path), none: 'Nothing changed.' }),
        event.cut && quiet('Only the first leaves are shown.')];
    },
  });
  const chain = panel({ title: 'Chain of causes', load: () => causes(page, event) });
  const drawHead = () => head.replaceChildren(heading(h('a', { class: 'path-title', href: page.url('data', event.path) }, shown(event.path)), {
    crumbs: [h('a', { href: page.url('events') }, 'Events'), ` / ${shown(event.id)}`], actions: actionsOf(page, event, again),
  }), facts([['Kind', event.kind], ['Revision', h('a', { href: page.url('data', event.path, { at: `r${event.revision}` }) }, `r${event.revision}`)], ['Written by', actorLink(page, event.write?.actor ?? event.actor)],
    ['At', time(event.time, 'moment')], ['Request', event.requestId && code(event.requestId)], ['Hop', event.hop > 0 && number(event.hop)]]));
  const again = async () => {
    const next = await load(false);
    if (write(next) === write(event)) return;
    event = next;
    if (!head.contains(document.activeElement) && !head.querySelector('.menu-list:not([hidden])')) drawHead();
    await Promise.all([steps.reload(), values.reload(), JSON.stringify(event.children) !== chainFor && chain.reload()]);
    chainFor = JSON.stringify(event.children);
  };
  chainFor = JSON.stringify(event.children);
  drawHead();
  root.append(head, steps.element, h('div', { class: 'grid2' }, values.element, chain.element));
  page.live.refetch(again, { signal: page.signal, gap: 1000 });
  await Promise.all([steps.first, values.first]);
}
