// Earlier prompts with the arrow keys.

import type { TargetedKeyboardEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { recall, step } from '../state/history';
import type { Recall } from '../state/history';
import { isPrompt, promptOf } from '../state/prompt';
import { usePage } from './use';

/** Recalls earlier prompts with the arrow keys, at the edges of the text. */
export function useRecall(): { key: (e: TargetedKeyboardEvent<HTMLTextAreaElement>) => boolean; reset: () => void } {
  const page = usePage();
  const at = useRef<Recall | null>(null);
  const key = (e: TargetedKeyboardEvent<HTMLTextAreaElement>): boolean => {
    const el = e.currentTarget;
    const by = e.key === 'ArrowUp' ? -1 : e.key === 'ArrowDown' ? 1 : 0;
    if (by === 0 || e.altKey || e.shiftKey || e.ctrlKey || e.metaKey || el.selectionStart !== el.selectionEnd)
      return false;
    const beyond = by < 0 ? el.value.slice(0, el.selectionStart) : el.value.slice(el.selectionEnd);
    if (beyond.includes('\n') || (by > 0 && !at.current)) return false;
    const said = page.store.state.view.items.filter((i) => isPrompt(i.message)).map((i) => promptOf(i).text);
    at.current ??= recall([...page.ui.recalled, ...said], el.value);
    const next = step(at.current, by);
    if (!next) return by < 0 && el.selectionStart > 0 ? false : true;
    at.current = next.recall;
    page.keep({ text: next.text });
    requestAnimationFrame(() => el.setSelectionRange(el.value.length, el.value.length));
    return true;
  };
  return {
    key,
    reset: () => {
      at.current = null;
    },
  };
}
