// What stands between the conversation and the composer: the plan, the queue, and what went wrong.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Notice, Retry, Todo, TodoPhase } from '../state/model';
import { Fold, Icon, IconButton } from './controls';
import { useChat, useFold, usePage } from './use';

const todoIcons: Record<Todo['status'], [icon: string, words: string]> = {
  pending: ['circle-large-outline', 'to do'],
  in_progress: ['sync', 'in progress'],
  completed: ['pass-filled', 'done'],
  abandoned: ['circle-slash', 'given up'],
};

function Phase({ phase }: { phase: TodoPhase }): JSX.Element {
  return (
    <>
      {phase.name && <p class="phase">{phase.name}</p>}
      <ul>
        {phase.todos.map((t, i) => {
          const [icon, words] = todoIcons[t.status];
          return (
            <li key={i} class={t.status}>
              <Icon name={icon} />
              <span>{t.text}</span>
              <span class="unseen"> ({words})</span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Todos(): JSX.Element | null {
  const phases = useChat((s) => s.view.todos);
  const [open, setOpen] = useFold('todos', false);
  const all = phases.flatMap((p) => p.todos);
  if (all.length === 0) return null;
  const done = all.filter((t) => t.status === 'completed' || t.status === 'abandoned').length;
  const now = all.find((t) => t.status === 'in_progress');
  const summary = (
    <>
      <Icon name="checklist" />
      <span class="verb">{done === all.length ? 'Plan done' : `Plan ${done}/${all.length}`}</span>
      {!open && now && <span class="gist">{now.text}</span>}
    </>
  );
  return (
    <Fold class="todos" open={open} onToggle={setOpen} summary={summary}>
      {phases.map((p, i) => (
        <Phase key={i} phase={p} />
      ))}
    </Fold>
  );
}

function Queue(): JSX.Element | null {
  const { steering, followUp } = useChat((s) => s.view.queues);
  if (steering.length + followUp.length === 0) return null;
  const rows: [string, string, string][] = [
    ...steering.map((t): [string, string, string] => ['debug-step-into', 'Next', t]),
    ...followUp.map((t): [string, string, string] => ['debug-step-over', 'After', t]),
  ];
  return (
    <ul class="queue" aria-label="Waiting messages">
      {rows.map(([icon, when, text], i) => (
        <li key={i}>
          <Icon name={icon} />
          <span class="verb">{when}</span>
          <span class="gist">{text}</span>
        </li>
      ))}
    </ul>
  );
}

function RetryNote({ retry }: { retry: Retry }): JSX.Element {
  const page = usePage();
  const [left, setLeft] = useState(Math.ceil(retry.delayMs / 1000));
  useEffect(() => {
    const until = Date.now() + retry.delayMs;
    const tick = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [retry]);
  return (
    <div class="note warning" role="status">
      <Icon name="sync" spin />
      <p>
        {retry.message || "The model's service did not answer."}{' '}
        <span class="quiet">
          Attempt {retry.attempt} of {retry.maxAttempts}
          {left > 0 ? ` in ${left} s` : ''}
        </span>
      </p>
      <button type="button" class="link" onClick={() => void page.stop()}>
        Stop
      </button>
    </div>
  );
}

const toneIcons: Record<Notice['tone'], string> = { info: 'info', warning: 'warning', error: 'error' };

function Notices(): JSX.Element {
  const page = usePage();
  const notices = useChat((s) => s.view.notices);
  return (
    <>
      {notices.slice(-3).map((n) => (
        <div key={n.key} class={`note ${n.tone}`} role={n.tone === 'info' ? 'status' : 'alert'}>
          <Icon name={toneIcons[n.tone]} />
          <p>{n.text}</p>
          <IconButton
            icon="close"
            label="Dismiss"
            onClick={() => page.store.dispatch({ type: 'dismiss', key: n.key })}
          />
        </div>
      ))}
    </>
  );
}

function Connection(): JSX.Element | null {
  const page = usePage();
  const { server, serverMessage, failed, live } = useChat((s) => s.sync);
  const unsaved = useChat((s) => s.view.session?.unsaved ?? '');
  if (server === 'stopped') {
    return (
      <div class="note error" role="alert">
        <Icon name="debug-disconnect" />
        <p>{serverMessage || 'The server is not running.'}</p>
        <button type="button" class="link" onClick={() => page.store.send({ kind: 'window', command: 'restart' })}>
          Start
        </button>
        <button type="button" class="link" onClick={() => page.store.send({ kind: 'window', command: 'log' })}>
          Log
        </button>
      </div>
    );
  }
  if (failed) {
    return (
      <div class="note error" role="alert">
        <Icon name="error" />
        <p>{failed}</p>
        <button type="button" class="link" onClick={() => page.store.dispatch({ type: 'again' })}>
          Try again
        </button>
      </div>
    );
  }
  if (server === 'starting')
    return (
      <div class="note" role="status">
        <Icon name="loading" spin />
        <p>The server starts…</p>
      </div>
    );
  return unsaved && live ? (
    <div class="note warning" role="alert">
      <Icon name="warning" />
      <p>Not saved: {unsaved}</p>
    </div>
  ) : null;
}

export function Status(): JSX.Element {
  const retry = useChat((s) => s.view.retry);
  const compacting = useChat((s) => s.view.compacting);
  return (
    <div class="status">
      <Notices />
      <Connection />
      {compacting && (
        <div class="note" role="status">
          <Icon name="loading" spin />
          <p>Summarising the older conversation…</p>
        </div>
      )}
      {retry && <RetryNote retry={retry} />}
      <Todos />
      <Queue />
    </div>
  );
}
