// Small components that the others use.

import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../l10n';
import { usePage } from './use';

export function Icon({ name, spin }: { name: string; spin?: boolean }): JSX.Element {
  return <span class={`codicon codicon-${name}${spin ? ' codicon-modifier-spin' : ''}`} aria-hidden="true" />;
}

interface ButtonProps {
  icon: string;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  refusal?: string; // why the engine cannot do it; "" if it can
  class?: string;
}

/**
 * A button with only an icon; screen readers and the tooltip use the label. If the engine cannot do it, the button
 * says so instead; it keeps its place in the order of Tab.
 */
export function IconButton({ icon, label, onClick, disabled, refusal, class: extra }: ButtonProps): JSX.Element {
  const page = usePage();
  const words = refusal ? `${label}. ${refusal}` : label;
  return (
    <button
      type="button"
      class={`icon-button ${extra ?? ''}`}
      aria-label={words}
      aria-disabled={refusal ? true : undefined}
      title={words}
      disabled={disabled}
      onClick={refusal ? () => page.refuse(refusal) : onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Copies a text, and confirms it for a moment. */
export function CopyButton({ text, label }: { text: () => string; label: string }): JSX.Element {
  const page = usePage();
  const [done, setDone] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const copy = () => {
    page.store.send({ kind: 'copy', text: text() });
    page.speak(t('Copied'));
    setDone(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(false), 1500);
  };
  return <IconButton icon={done ? 'check' : 'copy'} label={done ? t('Copied') : label} onClick={copy} />;
}

interface FoldProps {
  open: boolean;
  onToggle: (open: boolean) => void;
  summary: ComponentChildren;
  class: string;
  children: ComponentChildren;
}

/** A collapsible part. Its content is not in the page while it is closed. */
export function Fold({ open, onToggle, summary, class: name, children }: FoldProps): JSX.Element {
  return (
    <div class={`fold ${name}${open ? ' open' : ''}`}>
      <button type="button" class="fold-head" aria-expanded={open} onClick={() => onToggle(!open)}>
        {summary}
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
      </button>
      {open && <div class="fold-body">{children}</div>}
    </div>
  );
}
