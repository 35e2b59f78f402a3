// What became of an event, function by function: shared by the overview, the log and the page of one event.

import { h, shown } from './dom.js';
import { counted } from './time.js';
import { badge } from './base.js';

/** The functions that had an event: [{function, state, attempts, text}], those that still have it first. */
export function runsOf(event) {
  return [
    ...(event.deliveries ?? []).map((delivery) => ({
      function: delivery.function, state: delivery.state, attempts: delivery.attempts, text: delivery.lastError,
    })),
    ...(event.executions ?? []).map((run) => ({ function: run.function, state: run.outcome, attempts: run.attempt, text: run.reason })),
  ];
}

/** The same as badges, each with the function's name where there are several; "pending" where no function has it yet. */
export function outcomesOf(event, { names = false } = {}) {
  const runs = runsOf(event);
  if (runs.length === 0) return [badge('pending')];
  return runs.map(({ function: name, state, attempts, text }) => {
    const made = badge(state, names || runs.length > 1 ? `${name} ${state}` : state);
    const more = [attempts > 1 && counted(attempts, 'attempt'), text].filter(Boolean).join(', ');
    made.title = `${shown(name)}: ${state}${more ? `, ${shown(more)}` : ''}`;
    return more && names ? h('span', { class: 'row' }, made, h('span', { class: 'muted' }, shown(more))) : made;
  });
}
