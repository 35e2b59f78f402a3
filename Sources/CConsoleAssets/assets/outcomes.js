// What became of an event, function by function: shared by the overview, the log and the page of one event.

import { h, shown } from './dom.js';
import { counted } from './time.js';
import { badge } from './base.js';

/** The functions that had an event as badges, those that still have it first; each with its name where there are several; "pending" where none has it yet. */
export function outcomesOf({ deliveries = [], executions = [] }, { names = false } = {}) {
  const runs = [...deliveries.map((one) => [one.function, one.state, one.attempts, one.lastError]), ...executions.map((one) => [one.function, one.outcome, one.attempt, one.reason])];
  if (runs.length === 0) return [badge('pending')];
  return runs.map(([name, state, attempts, text]) => {
    const made = badge(state, names || runs.length > 1 ? `${name} ${state}` : state);
    const more = [attempts > 1 && counted(attempts, 'attempt'), text].filter(Boolean).join(', ');
    made.title = `${shown(name)}: ${state}${more ? `, ${shown(more)}` : ''}`;
    return more && names ? h('span', { class: 'row' }, made, h('span', { class: 'muted' }, shown(more))) : made;
  });
}
