// What the next prompt is asked with: folder, model, thinking, permission; and how full the model's
// window is. The lists themselves are VS Code's own pickers.

import type { JSX } from 'preact';
import type { WindowCommand } from '../../../src/chat/messages';
import { num, str } from '../state/wire';
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
  return (
    <button
      type="button"
      class={`choice ${extra}${danger ? ' danger' : ''}`}
      title={`${label}: ${value}`}
      aria-label={`${label}: ${value}`}
      aria-haspopup="listbox"
      onClick={() => page.store.send({ kind: 'window', command })}
    >
      {icon && <Icon name={icon} />}
      <span>{value}</span>
    </button>
  );
}

const modes: Record<string, [icon: string, name: string]> = {
  'read-only': ['eye', 'Read only'],
  ask: ['shield', 'Ask'],
  'auto-edit': ['edit', 'Edits'],
  yolo: ['zap', 'Everything'],
};

function Folder(): JSX.Element | null {
  const page = usePage();
  const folders = useUi((u) => u.init?.folders ?? []);
  const cwd = useUi((u) => u.init?.cwd ?? '');
  if (folders.length < 2) return null;
  return (
    <label class="choice folder" title="Folder">
      <Icon name="folder" />
      <span class="unseen">Folder</span>
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

/** How full the model's window is, as a ring. */
function ContextRing(): JSX.Element | null {
  const page = usePage();
  const context = useChat((s) => s.view.context);
  const cost = useChat((s) => s.view.session?.usage.cost ?? 0);
  const percent = Math.min(100, num(context.percent));
  if (context.tokens === 0) return null;
  const words = [
    context.contextWindow
      ? `${exact(context.tokens)} of ${exact(context.contextWindow)} tokens (${Math.round(percent)}%)`
      : `${exact(context.tokens)} tokens`,
    costText(cost) && `${costText(cost)} so far`,
  ]
    .filter(Boolean)
    .join(', ');
  const tone = percent >= 90 ? 'full' : percent >= 75 ? 'filling' : '';
  return (
    <button
      type="button"
      class={`choice context ${tone}`}
      title={words}
      aria-label={`Context: ${words}. Summarise the older part`}
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
  const [icon, name] = modes[mode] ?? ['shield', mode];
  const level = session?.thinkingLevel ?? 'off';
  return (
    <>
      <Folder />
      {session && (
        <Choice
          command="approval"
          icon={icon}
          label="What tools may do without asking"
          value={name}
          danger={mode === 'yolo'}
          class="mode"
        />
      )}
      {session && <Choice command="model" label="Model" value={session.model?.id ?? 'Choose a model'} />}
      {session && session.model && level !== 'off' && (
        <Choice command="thinking" icon="lightbulb" label="Thinking" value={level} class="level" />
      )}
      {session && session.model && level === 'off' && (
        <Choice command="thinking" icon="lightbulb-empty" label="Thinking" value="off" class="level" />
      )}
      <ContextRing />
    </>
  );
}
