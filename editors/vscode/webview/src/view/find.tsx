// The search field above the conversation.

import type { JSX, TargetedEvent, TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countText } from '../find';
import type { Finding } from '../find';
import { t } from '../l10n';
import { IconButton } from './controls';
import { useFinder, usePage } from './use';

/** The position among the hits. */
function positionText(f: Finding): string {
  if (f.error) return f.error;
  if (f.busy && f.hits.length === 0) return t('Searching…');
  if (f.hits.length > 0) return t('{0} of {1}', f.at + 1, countText(f));
  return f.query === '' ? '' : t('No results');
}

export function FindBar(): JSX.Element | null {
  const { finder, backToComposer } = usePage();
  const find = useFinder((f) => f);
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);

  // The user opened it, to type.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [find.opened, find.open]);
  if (!find.open) return null;

  const close = () => {
    finder.close();
    backToComposer();
  };
  const onKey = (e: TargetedKeyboardEvent<HTMLElement>) => {
    if (e.isComposing) return;
    if (e.key === 'Escape') close();
    else if (e.key === 'Enter' && e.shiftKey) void finder.step(-1);
    else return;
    e.preventDefault();
  };
  const onSubmit = (e: TargetedEvent<HTMLFormElement>) => {
    e.preventDefault();
    void finder.search(text);
  };
  const some = find.hits.length > 0;
  return (
    <form class="find" role="search" aria-label={t('Find in conversation')} onSubmit={onSubmit} onKeyDown={onKey}>
      <input
        ref={field}
        type="text"
        value={text}
        maxLength={1000}
        placeholder={t('Find')}
        aria-label={t('Find in conversation')}
        title={t('Enter finds the next older match, Shift+Enter the next newer one')}
        onInput={(e) => setText(e.currentTarget.value)}
      />
      <span class={find.error ? 'position problem' : 'position'} title={find.error || undefined}>
        {positionText(find)}
      </span>
      <IconButton
        icon="arrow-up"
        label={t('Next older match (Enter)')}
        disabled={!some}
        onClick={() => void finder.step(1)}
      />
      <IconButton
        icon="arrow-down"
        label={t('Next newer match (Shift+Enter)')}
        disabled={!some}
        onClick={() => void finder.step(-1)}
      />
      <IconButton icon="close" label={t('Close (Escape)')} onClick={close} />
    </form>
  );
}

const maxRanges = 200;

/** Returns the places of a text below an element, in any case. */
function placesOf(el: Element, query: string): Range[] {
  const out: Range[] = [];
  if (query === '') return out;
  const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  const wanted = query.toLowerCase();
  for (let n = walker.nextNode(); n && out.length < maxRanges; n = walker.nextNode()) {
    const text = (n.nodeValue ?? '').toLowerCase();
    if (text.length !== n.nodeValue?.length) continue; // offsets differ in a few languages
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(n, at);
      range.setEnd(n, at + wanted.length);
      out.push(range);
    }
  }
  return out;
}

/** Marks the message with a hit and the texts in it; nothing without a key. */
export function markFound(key: string | undefined, words: readonly string[]): void {
  for (const el of document.querySelectorAll('[data-found]')) el.removeAttribute('data-found');
  CSS.highlights.delete('found');
  const el = key === undefined ? null : document.querySelector(`article.message[data-key="${CSS.escape(key)}"]`);
  if (!el || words.every((word) => word === '')) return;
  el.setAttribute('data-found', '');
  CSS.highlights.set('found', new Highlight(...words.flatMap((word) => placesOf(el, word))));
}
