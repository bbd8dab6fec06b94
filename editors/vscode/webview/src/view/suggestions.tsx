// The list above the composer that completes the text: references after @, commands after a slash.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './controls';

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

/** Returns where the chosen row is, also after rows have come or gone; 0 if it has gone itself. */
function placeOf({ at, row }: { at: number; row: string }, list: readonly Suggestion[]): number {
  if (list[at]?.key === row) return at; // of two rows with one key, this one
  return Math.max(
    list.findIndex((r) => r.key === row),
    0,
  );
}

/** Handles the keys of a list. It is closed by Escape until the query changes; undefined is no query. */
export function useKeys(
  query: string | undefined,
  list: readonly Suggestion[],
  { whole = () => false, noted = false }: Keys = {},
): { at: number; closed: boolean; key: (e: KeyboardEvent) => boolean } {
  const [chosen, setChosen] = useState({ query, at: 0, row: '' });
  const [closed, setClosed] = useState<string | undefined>(undefined);
  const at = chosen.query === query ? placeOf(chosen, list) : 0;
  useEffect(() => {
    if (query === undefined) setClosed(undefined);
  }, [query]);
  const shut = query === undefined || closed === query;
  const go = (to: number) => setChosen({ query, at: to, row: list[to]!.key });
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
