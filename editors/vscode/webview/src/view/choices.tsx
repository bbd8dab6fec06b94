// What the next prompt is asked with: folder, model, thinking, permission; and how full the model's
// window is. The lists themselves are VS Code's own pickers.

import type { JSX } from 'preact';
import type { WindowCommand } from '../../../src/chat/messages';
import { t } from '../l10n';
import { num, str } from '../state/wire';
import type { ContextUsage } from '../state/wire';
import { costText, exact, tokenText } from './describe';
import { Icon } from './controls';
import { useChat, usePage, useUi } from './use';

function Choice({
  command,
  icon,
  label,
  value,
  danger,
  class: extra = '',
}: {
  command: WindowCommand;
  icon?: string;
  label: string;
  value: string;
  danger?: boolean;
  class?: string;
}): JSX.Element {
  const page = usePage();
  const words = t('{0}: {1}', label, value);
  return (
    <button
      type="button"
      class={`choice ${extra}${danger ? ' danger' : ''}`}
      title={words}
      aria-label={words}
      aria-haspopup="listbox"
      onClick={() => page.store.send({ kind: 'window', command })}
    >
      {icon && <Icon name={icon} />}
      <span>{value}</span>
    </button>
  );
}

/** How a mode of approval is shown. */
function modeLook(mode: string): [icon: string, name: string] {
  switch (mode) {
    case 'read-only':
      return ['eye', t('Read only')];
    case 'ask':
      return ['shield', t('Ask')];
    case 'auto-edit':
      return ['edit', t('Edits')];
    case 'yolo':
      return ['zap', t('Everything')];
    default:
      return ['shield', mode];
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

/** How full the model's window is, in words. */
function fullness({ tokens, contextWindow }: ContextUsage, percent: number): string {
  if (contextWindow) return t('{0} of {1} tokens ({2}%)', exact(tokens), exact(contextWindow), Math.round(percent));
  return tokens === 1 ? t('1 token') : t('{0} tokens', exact(tokens));
}

/** How full the model's window is, as a ring. */
function ContextRing(): JSX.Element | null {
  const page = usePage();
  const context = useChat((s) => s.view.context);
  const cost = useChat((s) => s.view.session?.usage.cost ?? 0);
  const percent = Math.min(100, num(context.percent));
  if (context.tokens === 0) return null;
  const words = [fullness(context, percent), costText(cost) && t('{0} so far', costText(cost))]
    .filter(Boolean)
    .join(', ');
  const tone = percent >= 90 ? 'full' : percent >= 75 ? 'filling' : '';
  return (
    <button
      type="button"
      class={`choice context ${tone}`}
      title={words}
      aria-label={t('Context: {0}. Summarise the older part', words)}
      onClick={() => page.store.send({ kind: 'window', command: 'compact' })}
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

export function Choices(): JSX.Element {
  const session = useChat((s) => s.view.session);
  const mode = str(session?.approvalMode);
  const [icon, name] = modeLook(mode);
  const level = session?.thinkingLevel ?? 'off';
  return (
    <>
      <Folder />
      {session && (
        <Choice
          command="approval"
          icon={icon}
          label={t('What tools may do without asking')}
          value={name}
          danger={mode === 'yolo'}
          class="mode"
        />
      )}
      {session && <Choice command="model" label={t('Model')} value={session.model?.id ?? t('Choose a model')} />}
      {session && session.model && (
        <Choice
          command="thinking"
          icon={level === 'off' ? 'lightbulb-empty' : 'lightbulb'}
          label={t('Thinking')}
          value={level}
          class="level"
        />
      )}
      <ContextRing />
    </>
  );
}
