// The area between the conversation and the composer: the plan, the queue, and errors.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../l10n';
import type { Notice, Retry, Todo, TodoPhase } from '../state/model';
import type { Action } from '../state/engine';
import { visible } from '../../../src/chat/visible';
import type { BranchChoice } from '../state/wire';
import { offered, titleOf } from './actions';
import { foreignText } from './describe';
import { Fold, Icon, IconButton } from './controls';
import { Queue } from './queue';
import { useChat, useFold, usePage, useUi } from './use';

/** The icon and words of a task status. */
const todoLooks: Record<Todo['status'], () => [icon: string, words: string]> = {
  pending: () => ['circle-large-outline', t('not started')],
  in_progress: () => ['sync', t('in progress')],
  completed: () => ['pass-filled', t('done')],
  abandoned: () => ['circle-slash', t('abandoned')],
  blocked: () => ['debug-pause', t('blocked')],
};

function Phase({ phase }: { phase: TodoPhase }): JSX.Element {
  return (
    <>
      {phase.name && <p class="phase">{phase.name}</p>}
      <ul>
        {phase.todos.map((todo, i) => {
          const [icon, words] = todoLooks[todo.status]();
          return (
            <li key={i} class={todo.status}>
              <Icon name={icon} />
              <span>
                {todo.text}
                {todo.blocker && <span class="quiet"> · {todo.blocker}</span>}
              </span>
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
  const done = all.filter(({ status }) => status === 'completed' || status === 'abandoned').length;
  const now = all.find(({ status }) => status === 'in_progress');
  const summary = (
    <>
      <Icon name="checklist" />
      <span class="verb">{done === all.length ? t('Plan complete') : t('Plan {0}/{1}', done, all.length)}</span>
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

function Background(): JSX.Element | null {
  const page = usePage();
  const background = useChat((s) => s.view.background);
  if (background.length === 0) return null;
  return (
    <ul class="queue" aria-label={t('Running in the background')}>
      {background.map(({ id, command }) => (
        <li key={id}>
          <Icon name="server-process" />
          <span class="verb">{t('Running in the background')}</span>
          <code class="gist">{command}</code>
          <IconButton icon="debug-stop" label={t('Stop {0}', command)} onClick={() => void page.stopBackground(id)} />
        </li>
      ))}
    </ul>
  );
}

/** Returns a message with its final period. */
const sentence = (text: string): string => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`);

function RetryNote({ retry }: { retry: Retry }): JSX.Element {
  const page = usePage();
  const provider = useChat((s) => s.view.session?.model?.provider ?? '');
  const why = retry.limited && provider ? t('Rate limited by {0}.', visible(provider)) : sentence(retry.message);
  const [left, setLeft] = useState(Math.ceil(retry.delayMs / 1000));
  useEffect(() => {
    if (retry.delayMs === 0) {
      setLeft(0);
      return undefined;
    }
    const until = Date.now() + retry.delayMs;
    const tick = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [retry]);
  const announced = t('{0} Retrying ({1} of {2})', why, retry.attempt, retry.maxAttempts).trim();
  // Once: the seconds that are left would be announced each second.
  useEffect(() => page.speak(announced), [page, announced]);
  return (
    <div class="note warning">
      <Icon name="sync" spin />
      <p title={retry.limited ? visible(retry.message) : undefined}>
        {why && <span>{why} </span>}
        {left > 0
          ? t('Retrying in {0} s ({1} of {2})', left, retry.attempt, retry.maxAttempts)
          : t('Retrying ({0} of {1})', retry.attempt, retry.maxAttempts)}
      </p>
      <button type="button" class="link" onClick={() => void page.prompts.stop()}>
        {t('Stop')}
      </button>
    </div>
  );
}

const toneIcons: Record<Notice['tone'], string> = { info: 'info', warning: 'warning', error: 'error' };

function Notices(): JSX.Element {
  const page = usePage();
  const all = useChat((s) => s.view.notices);
  const unsaved = useChat((s) => Boolean(s.view.session?.unsaved));
  const notices = unsaved ? all.filter((n) => n.cause !== 'saving') : all; // Connection shows it
  const engine = useChat((s) => s.view.engine.name);
  const act = (key: string, action: Action) => {
    page.act(action);
    page.store.dispatch({ type: 'dismiss', key });
  };
  return (
    <>
      {notices.slice(-3).map((n) => (
        <div
          key={n.key}
          class={`note ${n.tone}${n.actions ? ' buttons' : ''}`}
          role={n.tone === 'info' ? 'status' : 'alert'}
        >
          <Icon name={toneIcons[n.tone]} />
          <p>{n.text}</p>
          {offered(n.actions ?? []).map((action, i) => (
            <button key={i} type="button" class="link" onClick={() => act(n.key, action)}>
              {titleOf(action, engine)}
            </button>
          ))}
          <IconButton
            icon="close"
            label={t('Dismiss')}
            onClick={() => page.store.dispatch({ type: 'dismiss', key: n.key })}
          />
        </div>
      ))}
    </>
  );
}

function Foreign(): JSX.Element | null {
  const page = usePage();
  const foreign = useChat((s) => s.view.foreign);
  const running = useChat((s) => s.view.running);
  if (!foreign) return null;
  const choice = (value: BranchChoice, label: string, title: string) => (
    <button
      type="button"
      class="link"
      title={title}
      disabled={running && value !== 'stay'} // the server refuses to move the leaf of a running turn
      onClick={() => void page.chooseBranch(value)}
    >
      {label}
    </button>
  );
  return (
    <div class="note info buttons foreign" role="status">
      <Icon name="git-branch" />
      <p>
        {foreignText(foreign)} {foreign.prompt && <span class="quiet">{visible(foreign.prompt)}</span>}
      </p>
      {choice('follow', t('Follow'), t('Continue on the other branch'))}
      {choice('stay', t('Stay'), t('Continue on your branch'))}
      {choice('fork', t('Fork'), t('Continue your branch in a new session'))}
    </div>
  );
}

function Connection(): JSX.Element | null {
  const page = usePage();
  const { server, serverMessage, failed, live } = useChat((s) => s.sync);
  const unsaved = useChat((s) => s.view.session?.unsaved ?? '');
  if (server === 'stopped') {
    return (
      <div class="note error buttons" role="alert">
        <Icon name="debug-disconnect" />
        <p>{serverMessage || t('The server is not running.')}</p>
        <button type="button" class="link" onClick={() => page.store.send({ kind: 'window', command: 'restart' })}>
          {t('Restart')}
        </button>
        <button type="button" class="link" onClick={() => page.store.send({ kind: 'window', command: 'log' })}>
          {t('Show log')}
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
          {t('Try again')}
        </button>
      </div>
    );
  }
  if (server === 'starting')
    return (
      <div class="note" role="status">
        <Icon name="loading" spin />
        <p>{t('Starting the server…')}</p>
      </div>
    );
  return unsaved && live ? (
    <div class="note warning" role="alert">
      <Icon name="warning" />
      <p>{t('Not saved: {0}', unsaved)}</p>
    </div>
  ) : null;
}

const soon = 1000; // milliseconds

/** A prompt that the server has not taken yet: it asks something first, in a notification that the editor hides after a while. */
function Unsent(): JSX.Element | null {
  const page = usePage();
  const sending = useUi((u) => u.sending);
  const text = useUi((u) => u.kept.sent?.text ?? '');
  const begun = useChat((s) => s.view.running || s.view.compacting || s.view.engine.state === 'starting');
  const waits = sending && !begun;
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setTimeout(() => setLate(true), soon);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [waits]);
  if (!waits || !late) return null;
  return (
    <div class="note info buttons" role="status">
      <Icon name="question" />
      <p>
        {t('Your message has not been sent yet. Look for a question in the notifications.')}{' '}
        <span class="quiet">{visible(text).slice(0, 200)}</span>
      </p>
      <button type="button" class="link" onClick={() => page.store.send({ kind: 'window', command: 'notifications' })}>
        {t('Show notifications')}
      </button>
    </div>
  );
}

export function Status(): JSX.Element {
  const retry = useChat((s) => s.view.retry);
  const compacting = useChat((s) => s.view.compacting);
  return (
    <div class="status">
      <Notices />
      <Unsent />
      <Foreign />
      <Connection />
      {compacting && (
        <div class="note" role="status">
          <Icon name="loading" spin />
          <p>{t('Compacting the conversation…')}</p>
        </div>
      )}
      {retry && <RetryNote retry={retry} />}
      <Todos />
      <Background />
      <Queue />
    </div>
  );
}
