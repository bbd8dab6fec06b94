// Tool calls that need the user's approval, with the changes that they would make.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Decision } from '../../../src/chat/messages';
import { rowsOfPatch } from '../diff/rows';
import { t } from '../l10n';
import type { ApprovalPrompt } from '../state/wire';
import { obj, str } from '../state/wire';
import { relativeTo } from '../state/userMessage';
import { Code } from './code';
import { visible } from '../../../src/chat/visible';
import { Icon, IconButton } from './controls';
import { Denial } from './denial';
import { Counts, DiffView } from './diff';
import { describe, ruleText } from './describe';
import { useChat, usePage } from './use';

function What({ prompt, path }: { prompt: ApprovalPrompt; path: string }): JSX.Element | null {
  const args = obj(prompt.args);
  if (prompt.preview.diff) return <DiffView patch={prompt.preview.diff} path={path} />;
  if (str(args.command)) return <Code code={visible(str(args.command))} language="bash" live={false} />;
  if (str(args.content)) return <Code code={visible(str(args.content))} language="" live={false} />;
  return Object.keys(args).length > 0 ? (
    <Code code={visible(JSON.stringify(args, null, 2))} language="json" live={false} />
  ) : null;
}

/** Returns the warnings about a call, each as a sentence. */
function warnings(prompt: ApprovalPrompt, cwd: string): string[] {
  const all: string[] = [];
  const paths = (found: string[]) => found.map((p) => relativeTo(cwd, p)).join(', ');
  const blocked = prompt.blocked?.join(' | ') ?? '';
  if (prompt.unsandboxed)
    all.push(
      blocked ? t('Runs once outside the sandbox. Blocked: {0}.', blocked) : t('Runs once outside the sandbox.'),
    );
  else if (blocked) all.push(t('Runs again with write and network access. Blocked: {0}.', blocked));
  if (prompt.protected?.length) {
    const files = paths(prompt.protected);
    if (prompt.changed && obj(prompt.args).background === true)
      all.push(t('Protected files changed while it was running: {0}.', files));
    else if (prompt.changed) all.push(t('Changed protected files: {0}.', files));
    else if (str(obj(prompt.args).command)) all.push(t('Refers to protected files: {0}.', files));
    else all.push(t('Changes protected files: {0}.', files));
  }
  if (prompt.outside?.length) all.push(t('Outside the workspace folder: {0}.', paths(prompt.outside)));
  return all;
}

interface Choice {
  decision: Decision;
  label: string;
  title: string;
}

/** Returns a server's name as a part of a button. Its whole name is in the button's title. */
function shortName(prompt: ApprovalPrompt): string {
  const name = visible(str(prompt.wider?.[0]?.server));
  return name.length > maxName ? name.slice(0, maxName) + '…' : name;
}

const maxName = 40; // characters

/** The answers that also allow the other reading tools of a server. wider is what they apply to. */
function readingChoices(server: string, wider: string): Choice[] {
  return [
    {
      decision: 'session-wider',
      label: t('Allow all reading tools of {0} for this session', server),
      title: t('Allow for this session: {0}', wider),
    },
    {
      decision: 'workspace-wider',
      label: t('Always allow all reading tools of {0}', server),
      title: t('Always allow in this folder: {0}', wider),
    },
  ];
}

/**
 * The answers to a request, in the order of their digits. rules is what the lasting ones apply to, and wider what those
 * about all reading tools of a server apply to; "" if nothing.
 */
function choicesOf(rules: string, wider: string, server: string): Choice[] {
  const lasting: Choice[] = [
    {
      decision: 'session',
      label: t('Allow for this session'),
      title: t('Allow for this session: {0}', rules),
    },
    { decision: 'workspace', label: t('Always allow'), title: t('Always allow in this folder: {0}', rules) },
  ];
  return [
    { decision: 'once', label: t('Allow'), title: t('Allow') },
    ...(rules ? lasting : []),
    ...(wider ? readingChoices(server, wider) : []),
    { decision: 'deny', label: t('Deny'), title: t('Deny') },
  ];
}

/** A digit sooner after the request was shown is meant for something else. In milliseconds. */
const unread = 400;

/** Reports whether a key in an element is part of a text. */
const isText = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLElement && target.isContentEditable);

/**
 * Answers with a digit, unless the user is typing a text. After an answer, the focus moves to the next request, or back
 * to the composer. Returns the reference of the card.
 */
function useDigits(id: string, choices: readonly Choice[]): { current: HTMLElement | null } {
  const page = usePage();
  const card = useRef<HTMLElement>(null);
  const latest = useRef(choices);
  latest.current = choices;
  useLayoutEffect(() => {
    const shown = performance.now();
    const element = card.current;
    if (page.answering) element?.focus({ preventScroll: true });
    page.answering = false;
    const onKey = (e: KeyboardEvent) => {
      if (e.repeat || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey || e.isComposing) return;
      const choice = /^[1-6]$/.test(e.key) ? latest.current[Number(e.key) - 1] : undefined;
      if (!choice || isText(e.target) || performance.now() - shown < unread) return;
      e.preventDefault();
      page.answering = true;
      page.decide(id, choice.decision);
    };
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('keydown', onKey);
      // The focused button is removed with the card.
      page.answering ||= element?.contains(document.activeElement) ?? false;
      if (page.answering && page.store.state.view.approvals.length === 0) {
        page.answering = false;
        page.backToComposer();
      }
    };
  }, [page, id]);
  return card;
}

function Approval({ prompt, cwd }: { prompt: ApprovalPrompt; cwd: string }): JSX.Element {
  const page = usePage();
  const args = obj(prompt.args);
  const d = describe({ type: 'toolCall', name: prompt.tool, arguments: args }, cwd);
  const path = prompt.preview.paths?.[0] ?? d.path;
  const diff = prompt.preview.diff ? rowsOfPatch(prompt.preview.diff) : undefined;
  const rules = visible((prompt.rules ?? []).map(ruleText).join('; '));
  // The second click of a double click hits the next call's button, which is in the same position.
  const decide = (decision: Decision) => (e: MouseEvent) => {
    if (e.detail <= 1) page.decide(prompt.id, decision);
  };
  const wider = visible((prompt.wider ?? []).map(ruleText).join('; '));
  const choices = choicesOf(rules, wider, shortName(prompt));
  const card = useDigits(prompt.id, choices);
  const [denying, setDenying] = useState(false);
  const because = useRef<HTMLButtonElement>(null);
  const close = () => {
    setDenying(false);
    requestAnimationFrame(() => because.current?.focus());
  };
  return (
    <section
      class="approval"
      role="group"
      ref={card}
      tabIndex={-1}
      aria-label={t('Approval needed: {0} {1}', d.verb, d.what)}
    >
      <header>
        <Icon name="shield" />
        {prompt.task && <span class="in-task">{t('In task {0}:', visible(prompt.task))}</span>}
        <span class="verb">{d.verb}</span>
        {str(args.command) ? (
          args.background !== true && <span>{t('command')}</span>
        ) : (
          <code class="what">{d.what}</code>
        )}
        {diff && <Counts added={diff.added} removed={diff.removed} />}
        {diff && path && (
          <IconButton
            icon="diff"
            label={t('Show the change in an editor')}
            onClick={() =>
              page.store.send({ kind: 'openDiff', path, patch: prompt.preview.diff ?? '', prompt: prompt.id })
            }
          />
        )}
      </header>
      <div class="approval-what">
        <What prompt={prompt} path={path} />
      </div>
      {warnings(prompt, cwd).map((text) => (
        <p class="warning" key={text}>
          <Icon name="warning" />
          {visible(text)}
        </p>
      ))}
      {denying && <Denial deny={(reason) => page.decide(prompt.id, 'deny', reason)} close={close} />}
      <footer hidden={denying}>
        {choices.map(({ decision, label, title }, i) => (
          <button
            key={decision}
            type="button"
            class={`button${i > 0 ? ' secondary' : ''}${decision === 'deny' ? ' deny' : ''}`}
            title={t('{0} ({1})', title, i + 1)}
            aria-keyshortcuts={String(i + 1)}
            onClick={decide(decision)}
          >
            {label}
          </button>
        ))}
        <button
          type="button"
          class="button secondary"
          ref={because}
          title={t('Deny, and give the model a reason')}
          onClick={() => setDenying(true)}
        >
          {t('Deny, because…')}
        </button>
        {rules && <span class="rules">{t('“Allow for this session” and “Always allow” apply to: {0}', rules)}</span>}
        {wider && <span class="rules">{t('“All reading tools” means: {0}', wider)}</span>}
      </footer>
    </section>
  );
}

export function Approvals(): JSX.Element | null {
  const page = usePage();
  const approvals = useChat((s) => s.view.approvals);
  const cwd = useChat((s) => s.view.session?.cwd ?? '');
  const first = approvals[0];
  const announced = useRef('');
  useEffect(() => {
    if (first && announced.current !== first.id)
      page.speak(t('Approval needed: {0}', first.preview.title || first.tool));
    announced.current = first?.id ?? '';
  }, [first, page]);
  if (!first) return null;
  return (
    <div class="approvals">
      <Approval key={first.id} prompt={first} cwd={cwd} />
      {approvals.length > 1 && (
        <p class="quiet">
          {approvals.length === 2
            ? t('1 more request is waiting.')
            : t('{0} more requests are waiting.', approvals.length - 1)}
        </p>
      )}
    </div>
  );
}
