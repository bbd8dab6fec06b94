// The file suggestions for an @ mention.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Attachment } from '../../../src/chat/messages';
import { t } from '../l10n';
import { Icon } from './controls';
import { usePage } from './use';

interface Suggesting {
  open: boolean;
  list: readonly Attachment[];
  at: number;
  key: (e: KeyboardEvent, take: (a: Attachment) => void) => boolean;
}

/** Loads file suggestions while a mention is being typed; undefined if there are none. */
export function useSuggestions(query: string | undefined): Suggesting {
  const page = usePage();
  const [list, setList] = useState<readonly Attachment[]>([]);
  const [at, setAt] = useState(0);
  const [closed, setClosed] = useState<string | null>(null);
  const newest = useRef(0);
  useEffect(() => {
    const now = ++newest.current;
    setAt(0);
    if (query === undefined) {
      setClosed(null);
      return setList([]);
    }
    void page.findFiles(query).then((found) => {
      if (now === newest.current) setList(found);
    });
  }, [query, page]);
  const open = query !== undefined && closed !== query && list.length > 0;
  const key = (e: KeyboardEvent, take: (a: Attachment) => void): boolean => {
    if (!open || e.altKey || e.ctrlKey || e.metaKey) return false;
    const chosen = list[at];
    if (e.key === 'ArrowDown') setAt((at + 1) % list.length);
    else if (e.key === 'ArrowUp') setAt((at + list.length - 1) % list.length);
    else if (e.key === 'Escape') setClosed(query);
    else if ((e.key === 'Enter' || e.key === 'Tab') && !e.shiftKey && chosen) take(chosen);
    else return false;
    return true;
  };
  return { open, list, at, key };
}

export function Suggestions({
  list,
  at,
  onTake,
}: {
  list: readonly Attachment[];
  at: number;
  onTake: (a: Attachment) => void;
}): JSX.Element {
  return (
    <ul id="suggestions" class="suggestions" role="listbox" aria-label={t('Files')}>
      {list.map((a, i) => (
        <li
          key={a.uri}
          id={`suggestion-${i}`}
          role="option"
          aria-selected={i === at}
          class={i === at ? 'chosen' : ''}
          onMouseDown={(e) => {
            e.preventDefault();
            onTake(a);
          }}
          ref={(el) => {
            if (i === at) el?.scrollIntoView({ block: 'nearest' });
          }}
        >
          <Icon name="file" />
          <span>{a.name.split('/').at(-1)}</span>
          <span class="quiet">{a.name.split('/').slice(0, -1).join('/')}</span>
        </li>
      ))}
    </ul>
  );
}
