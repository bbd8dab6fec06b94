// The list above the composer that completes the text: files for an @ mention, commands after a slash.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Attachment } from '../../../src/chat/messages';
import { t } from '../l10n';
import { Icon } from './controls';
import { usePage } from './use';

/** One row of the list. */
export interface Suggestion {
  key: string;
  icon: string;
  name: string;
  about: string; // "" if there is nothing to add
  from?: 'end'; // the end of a text that is too long is shown, as for a directory
  take: () => void;
}

export interface Suggesting {
  open: boolean;
  label: string;
  list: readonly Suggestion[];
  at: number;
  note?: ComponentChildren; // shown below the rows
  key: (e: KeyboardEvent) => boolean; // reports whether the list used the key
}

interface Keys {
  whole?: (chosen: Suggestion) => boolean; // reports whether the text already is the row, so that Enter sends it
  noted?: boolean; // the list is shown without rows, too
}

/** Handles the keys of a list. It is closed by Escape until the query changes; undefined is no query. */
export function useKeys(
  query: string | undefined,
  list: readonly Suggestion[],
  { whole = () => false, noted = false }: Keys = {},
): { at: number; closed: boolean; key: (e: KeyboardEvent) => boolean } {
  const [chosen, setChosen] = useState({ query, at: 0 });
  const [closed, setClosed] = useState<string | undefined>(undefined);
  const at = chosen.query === query && chosen.at < list.length ? chosen.at : 0;
  useEffect(() => {
    if (query === undefined) setClosed(undefined);
  }, [query]);
  const shut = query === undefined || closed === query;
  const go = (to: number) => setChosen({ query, at: to });
  const key = (e: KeyboardEvent): boolean => {
    if (shut || e.altKey || e.ctrlKey || e.metaKey) return false;
    const row = list[at];
    if (!row) {
      if (noted && e.key === 'Escape') setClosed(query);
      return noted && e.key === 'Escape';
    }
    if (e.key === 'ArrowDown') go((at + 1) % list.length);
    else if (e.key === 'ArrowUp') go((at + list.length - 1) % list.length);
    else if (e.key === 'Escape') setClosed(query);
    else if (e.key === 'Enter' && !e.shiftKey && !whole(row)) row.take();
    else if (e.key === 'Tab' && !e.shiftKey) row.take();
    else return false;
    return true;
  };
  return { at, closed: shut, key };
}

/** Suggests files while a mention is being typed. */
export function useFiles(query: string | undefined, take: (a: Attachment) => void): Suggesting {
  const page = usePage();
  const [found, setFound] = useState<readonly Attachment[]>([]);
  const newest = useRef(0);
  useEffect(() => {
    const now = ++newest.current;
    if (query === undefined) return setFound([]);
    void page.findFiles(query).then((files) => {
      if (now === newest.current) setFound(files);
    });
  }, [query, page]);
  const list = found.map((a): Suggestion => ({
    key: a.uri,
    icon: 'file',
    name: a.name.split('/').at(-1) ?? a.name,
    about: a.name.split('/').slice(0, -1).join('/'),
    from: 'end',
    take: () => take(a),
  }));
  const { at, closed, key } = useKeys(query, list);
  return { open: !closed && list.length > 0, label: t('Files'), list, at, key };
}

export function Suggestions({ list, at, label, note }: Suggesting): JSX.Element {
  return (
    <div class="suggestions">
      <ul id="suggestions" role="listbox" aria-label={label}>
        {list.map((row, i) => (
          <li
            key={row.key}
            id={`suggestion-${i}`}
            role="option"
            aria-selected={i === at}
            class={i === at ? 'chosen' : ''}
            onMouseDown={(e) => {
              e.preventDefault();
              row.take();
            }}
            ref={(el) => {
              if (i === at) el?.scrollIntoView({ block: 'nearest' });
            }}
          >
            <Icon name={row.icon} />
            <span class="row-name">{row.name}</span>
            {row.about && <span class={`quiet ${row.from ?? ''}`}>{row.about}</span>}
          </li>
        ))}
      </ul>
      {note}
    </div>
  );
}
