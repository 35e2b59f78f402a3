// Start, for an empty store: the README's scenario in six steps, each with its command, and what came of it.

import * as api from './api.js';
import { fill, h, shown } from './dom.js';
import { write } from './json.js';
import { change } from './parts.js';
import { badge, button, copyIcon, errorPanel, guard, heading, toast } from './ui.js';

const COINS = 'inventory/pieces_of_eight';
const tree = (pairs) => new Map(pairs);
const LEVEL = '/users/bob/level';
const STEPS = [
  ['Alice plays', 'A record of hers, at /users/alice.', [['PATCH', '/users/alice', tree([['name', 'Alice']])]]],
  ['Bob comes, referred by Alice', 'His record names her. Nothing is paid for that alone.',
    [['PATCH', '/users/bob', tree([['name', 'Bob'], ['referred_by', 'alice']])]]],
  ['Bob signs in', 'grantSignupReward pays him 50 when last_signin_at is created.',
    [['PATCH', '/users/bob', tree([['last_signin_at', 1767225600000]])]]],
  ['Bob reaches level 4', 'rewardReferrals waits for 5: nothing is paid.', [['PUT', LEVEL, 4]]],
  ['Bob reaches level 5', 'rewardReferrals pays Alice 50.', [['PUT', LEVEL, 5]]],
  ['Back to 4, and to 5 again', 'Nothing: it was paid once, and the ledger knows.', [['PUT', LEVEL, 4], ['PUT', LEVEL, 5]]],
];

/** The same write by curl, answered when the functions are done with it. */
const command = (ns, [method, path, value]) => [
  'curl', '-X', method, api.quote(`${location.origin}${path}.json?ns=${ns}`), '-H', '"Authorization: Bearer $DOUBLOON_KEY"',
  '-H', "'X-Doubloon-Wait: effects'", '-d', api.quote(write(value)),
].join(' ');

/** What the functions made of a write, a line for each run. */
async function outcomes({ ns, signal }, revision) {
  const { events = [] } = await api.get('events', { ns, cause: revision }, { signal });
  const runs = events.filter((event) => event.revision === revision).flatMap((event) => [
    ...event.executions.map((run) => [badge(run.outcome), ` ${run.function}`, run.reason && `: ${shown(run.reason)}`]),
    ...event.deliveries.map((run) => [badge(run.state), ` ${run.function}`, run.lastError && `: ${shown(run.lastError)}`])]);
  return runs.length > 0 ? runs : [['No function ran.']];
}

/** The title of the page. */
export const title = () => 'Start';

/** Shows the six steps. */
export async function mount(root, page) {
  const { ns, signal } = page;
  const balances = h('p', { class: 'balances', aria: { live: 'polite' } });
  const coins = async (uid) => isThere && (await api.get('data', { ns, path: `/users/${uid}/${COINS}` }, { signal, active: false })).value || 0;
  const known = async () => (await api.get('namespaces', {}, { signal, active: false })).namespaces.some((item) => item.name === ns);
  let isThere = await known();
  const tellBalances = async () => {
    isThere ||= await known();
    const [bob, alice] = await Promise.all(['bob', 'alice'].map(coins));
    fill(balances, 'Bob has ', h('strong', write(bob || 0)), ' pieces of eight, Alice has ', h('strong', write(alice || 0)), '.');
  };
  const run = async (step) => {
    fill(step.result, 'Writing…');
    try {
      const lines = [];
      if (!isThere) await api.post('namespaces', { body: { name: ns } });
      isThere = true;
      for (const [method, path, value] of step.writes) {
        const before = await Promise.all(['bob', 'alice'].map(coins));
        const answer = await api[method.toLowerCase()]('data', { params: { ns }, body: { path, value, reason: 'the first steps' } });
        await api.post('drain', { params: { timeout: '10s' } });
        const after = await Promise.all(['bob', 'alice'].map(coins));
        const paid = ['bob', 'alice'].map((uid, at) => [uid, Number(after[at]) - Number(before[at])]).filter(([, more]) => more !== 0);
        lines.push(h('li', h('code', `${path} ${write(value)}`), answer.changed === false ? ' was there already.' : ` is r${answer.revision}. `,
          answer.changed !== false && (await outcomes(page, answer.revision)).map((line) => h('span', { class: 'run' }, line)),
          paid.map(([uid, more]) => h('strong', { class: more > 0 ? 'plus' : 'minus' }, ` ${more > 0 ? '+' : '−'}${Math.abs(more)} ${uid}`)),
          paid.length === 0 && ' No coins moved.'));
      }
      fill(step.result, h('ul', lines), h('p', h('a', { href: page.url('rewards/u', step.at < 3 ? 'bob' : 'alice', { tab: 'why' }) }, `Why ${step.at < 3 ? 'bob' : 'alice'} was paid, or not`), ' · ',
        h('a', { href: page.url('data', '/users', { sel: 'bob' }) }, 'See it in Data')));
      step.item.classList.add('is-done');
      await tellBalances();
      return true;
    } catch (error) {
      if (error.name !== 'AbortError') fill(step.result, errorPanel(error, () => run(step)));
      return false;
    }
  };

  const steps = STEPS.map(([name, text, writes], at) => {
    const step = { at, writes, result: h('div', { class: 'start-result', aria: { live: 'polite' } }) };
    const commands = writes.map((one) => command(ns, one)).join('\n');
    step.item = h('li', { class: 'start-step' }, h('div', { class: 'spread' }, h('h2', `${at + 1}. ${name}`),
      guard(button('Do it', () => run(step), { label: `Do step ${at + 1}: ${name}` }), page, 'admin')),
    h('p', text), h('div', { class: 'row' }, h('pre', { class: 'code', tabindex: 0, aria: { label: `Command of step ${at + 1}` } }, commands), copyIcon(commands, `Copy the command of step ${at + 1}`)), step.result);
    return step;
  });
  const all = guard(button('Do all six', async () => {
    for (const step of steps) if (!(await run(step))) return;
  }, { primary: true }), page, 'admin');
  const forget = page.session.mode === 'development' && guard(button('Remove it again', () => change({
    title: `Remove ${ns}`, verb: `Remove ${ns}`, danger: true, typed: ns, reason: false,
    preview: 'The whole namespace is forgotten: its tree, its log, its ledger. That is for good, and only done in development.',
    run: async () => {
      await api.del(`namespaces/${encodeURIComponent(ns)}`);
      isThere = false;
      for (const step of steps) { fill(step.result); step.item.classList.remove('is-done'); }
      toast(`${ns} is empty again.`);
      await tellBalances();
    },
  }), { danger: true }), page, 'admin');
  root.append(heading('Start', { sub: 'Six steps from an empty store to a reward that is paid exactly once.', actions: [all, forget] }),
    balances, h('ol', { class: 'start' }, steps.map((step) => step.item)));
  await tellBalances().catch((error) => fill(balances, shown(error.message)));
  page.live.refetch(tellBalances, { signal, gap: 500 });
}
