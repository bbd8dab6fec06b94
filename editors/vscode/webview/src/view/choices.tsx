// The options of the next prompt: folder, model, thinking, permissions; and the context usage. The
// lists are VS Code's own quick picks.

import type { JSX } from 'preact';
import type { WindowCommand } from '../../../src/chat/messages';
import { t } from '../l10n';
import { own } from '../state/engine';
import { num, pendingOf, str } from '../state/wire';
import type { ContextUsage } from '../state/wire';
import { costText, exact, tokenText } from './describe';
import { Icon } from './controls';
import { useChat, usePage, useRefusal, useUi } from './use';

function Choice({
  command,
  icon,
  label,
  value,
  danger,
  refusal = '',
  class: extra = '',
}: {
  command: WindowCommand;
  icon?: string;
  label: string;
  value: string;
  danger?: boolean;
  refusal?: string; // why the engine cannot change it; "" if it can
  class?: string;
}): JSX.Element {
  const page = usePage();
  const named = t('{0}: {1}', label, value);
  const words = refusal ? `${named}. ${refusal}` : named;
  return (
    <button
      type="button"
      class={`choice ${extra}${danger ? ' danger' : ''}`}
      title={words}
      aria-label={words}
      aria-haspopup={refusal ? undefined : 'listbox'}
      aria-disabled={refusal ? true : undefined}
      onClick={() => (refusal ? page.refuse(refusal) : page.store.send({ kind: 'window', command }))}
    >
      {icon && <Icon name={icon} />}
      <span>{value}</span>
    </button>
  );
}

/** The label of a thinking level; the quick pick uses the same words. */
function levelName(level: string): string {
  switch (level) {
    case 'off':
      return t('Off');
    case 'minimal':
      return t('Minimal');
    case 'low':
      return t('Low');
    case 'medium':
      return t('Medium');
    case 'high':
      return t('High');
    case 'xhigh':
      return t('Extra high');
    case 'max':
      return t('Maximum');
    default:
      return level;
  }
}

/** The icon and label of an approval mode. */
function modeLabel(mode: string): [icon: string, name: string] {
  switch (mode) {
    case 'read-only':
      return ['eye', t('Read-only')];
    case 'ask':
      return ['shield', t('Ask first')];
    case 'auto-edit':
      return ['edit', t('Auto-edit')];
    case 'yolo':
      return ['zap', t('Full access')];
    default:
      return ['shield', mode];
  }
}

/** The label of plan mode, "" while it is off. */
function planName(mode: string): string {
  switch (mode) {
    case 'plan':
      return t('Plan');
    case 'plan_paused':
      return t('Plan (paused)');
    default:
      return '';
  }
}

function Folder(): JSX.Element | null {
  const page = usePage();
  const folders = useUi((u) => u.init?.folders ?? []);
  const cwd = useUi((u) => u.init?.cwd ?? '');
  if (folders.length < 2) return null;
  return (
    <label class="choice folder" title={t('Folder')}>
      <Icon name="folder" />
      <span class="unseen">{t('Folder')}</span>
      <select value={cwd} onChange={(e) => page.store.send({ kind: 'selectFolder', cwd: e.currentTarget.value })}>
        {folders.map((f) => (
          <option key={f.cwd} value={f.cwd}>
            {f.name}
          </option>
        ))}
      </select>
    </label>
  );
}

const around = 2 * Math.PI * 6;

/** Describes the context usage in words. */
function fullness({ tokens, contextWindow }: ContextUsage, percent: number): string {
  if (contextWindow) return t('{0} of {1} tokens ({2}%)', exact(tokens), exact(contextWindow), Math.round(percent));
  return tokens === 1 ? t('1 token') : t('{0} tokens', exact(tokens));
}

/** Shows the context usage as a ring. */
function ContextRing(): JSX.Element | null {
  const page = usePage();
  const context = useChat((s) => s.view.context);
  const cost = useChat((s) => s.view.session?.usage?.cost ?? 0);
  const percent = Math.min(100, num(context.percent));
  const refusal = useRefusal('compact');
  if (context.tokens === 0) return null;
  const words = [fullness(context, percent), costText(cost) && t('{0} total', costText(cost))]
    .filter(Boolean)
    .join(', ');
  const tone = percent >= 90 ? 'full' : percent >= 75 ? 'filling' : '';
  return (
    <button
      type="button"
      class={`choice context ${tone}`}
      title={refusal ? `${words}. ${refusal}` : words}
      aria-label={refusal ? t('Context: {0}. {1}', words, refusal) : t('Context: {0}. Compact conversation', words)}
      aria-disabled={refusal ? true : undefined}
      onClick={() => (refusal ? page.refuse(refusal) : page.store.send({ kind: 'window', command: 'compact' }))}
    >
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <circle cx="8" cy="8" r="6" class="ring" />
        <circle
          cx="8"
          cy="8"
          r="6"
          class="part"
          stroke-dasharray={`${(around * percent) / 100} ${around}`}
          transform="rotate(-90 8 8)"
        />
      </svg>
      <span class="numbers">
        {context.contextWindow ? `${Math.round(percent)}%` : tokenText(context.tokens)}
        {costText(cost) && ` · ${costText(cost)}`}
      </span>
    </button>
  );
}

/** Takes the place of the numbers while the session is being read. */
function Reading(): JSX.Element {
  return (
    <span class="choice reading" role="status">
      <span>{t('Reading the session…')}</span>
    </span>
  );
}

export function Choices(): JSX.Element {
  const session = useChat((s) => s.view.session);
  const mode = str(session?.approvalMode);
  const [icon, name] = modeLabel(mode);
  const plan = planName(str(session?.mode));
  const level = session?.thinkingLevel ?? 'off';
  const pending = pendingOf(session);
  const refusal = useRefusal('models');
  const hosted = useChat((s) => s.view.engine.name !== own);
  const choose = hosted ? t('Model') : t('Choose model');
  const known = (name: string) => session !== null && !pending.includes(name);
  return (
    <>
      <Folder />
      {session && (
        <Choice
          command="approval"
          icon={icon}
          label={t('Permissions')}
          value={name}
          danger={mode === 'yolo'}
          class="mode"
        />
      )}
      {plan && <Choice command="mode" icon="checklist" label={t('Session mode')} value={plan} class="plan" />}
      {known('model') && (session?.model || !refusal) && (
        <Choice command="model" label={t('Model')} value={session?.model?.id ?? choose} refusal={refusal} />
      )}
      {known('model') && known('thinkingLevel') && session?.model && !refusal && (
        <Choice
          command="thinking"
          icon={level === 'off' ? 'lightbulb-empty' : 'lightbulb'}
          label={t('Thinking')}
          value={levelName(level)}
          class="level"
        />
      )}
      {pending.length > 0 ? <Reading /> : <ContextRing />}
    </>
  );
}
