// Completes a reference that is being typed: what the editor knows, files, folders, and symbols.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { FoundReference } from '../../../src/chat/messages';
import { visible } from '../../../src/chat/visible';
import { written } from '../../../src/chat/written';
import { t } from '../l10n';
import { complete, opened, typedAt } from '../state/references';
import type { Typed } from '../state/references';
import { useKeys } from './suggestions';
import type { Suggesting, Suggestion } from './suggestions';
import { usePage, useUi } from './use';

/** What the editor knows, with the words of the list. */
interface Known {
  context: string;
  icon: string;
  reference: string;
  about: string;
}

function allKnown(): Known[] {
  return [
    { context: 'selection', icon: 'list-selection', reference: '@selection', about: t('Selected lines') },
    { context: 'buffer', icon: 'file-code', reference: '@buffer', about: t('File in the editor') },
    { context: 'problems', icon: 'warning', reference: '@problems', about: t('Errors and warnings of this folder') },
    { context: 'terminal', icon: 'terminal', reference: '@terminal', about: t('Last command and its output') },
    { context: 'symbol', icon: 'symbol-class', reference: '@symbol:', about: t('A class, function or other symbol') },
  ];
}

const icons: Record<FoundReference['kind'], string> = { file: 'file', folder: 'folder', symbol: 'symbol-method' };

interface Found {
  of: string | undefined; // the query; until its answer arrives, the rows of the one before are shown
  list: readonly FoundReference[];
}

/** Loads what matches the query, again for each query. */
function useFound(query: string | undefined): Found {
  const page = usePage();
  const [found, setFound] = useState<Found>({ of: undefined, list: [] });
  const newest = useRef(0);
  useEffect(() => {
    const now = ++newest.current;
    if (query === undefined) return setFound({ of: query, list: [] });
    void page.findReferences(query).then((list) => {
      if (now === newest.current) setFound({ of: query, list });
    });
  }, [query, page]);
  return found;
}

/** Suggests references while one is being typed. write replaces the text of the composer. */
export function useReferences(
  text: string,
  cursor: number,
  write: (next: { text: string; cursor: number }) => void,
): Suggesting {
  const typed = typedAt(text, cursor);
  const contexts = useUi((u) => u.init?.contexts ?? none);
  const wanted = typed?.mark === '@' ? typed.query : undefined;
  const found = useFound(wanted);
  const take = (reference: string, finished: boolean) => () =>
    typed && write(complete(text, cursor, typed, reference, finished));
  const known = typed ? ofEditor(typed, contexts, take) : [];
  const list = [...known, ...(typed ? found.list.map(rowOf(take)) : [])];
  const query = typed && typed.mark + typed.query;
  const whole = (row: Suggestion) => typed !== undefined && row.key === text.slice(typed.from, cursor);
  const { at, closed, key: use } = useKeys(query, list, { whole });
  // A row of the query before may be none of this one's. The key waits for the answer, and then takes the chosen row if it is
  // still there, otherwise the first.
  const due = useRef<string | undefined>(undefined);
  const old = wanted !== undefined && found.of !== wanted;
  const key = (e: KeyboardEvent): boolean => {
    const row = list[at];
    const takes = (e.key === 'Tab' || (e.key === 'Enter' && row && !whole(row))) && !e.shiftKey;
    if (!old || !takes || closed || !row || at < known.length || e.altKey || e.ctrlKey || e.metaKey) return use(e);
    due.current = wanted;
    return true;
  };
  useEffect(() => {
    if (old || due.current === undefined) return;
    if (due.current === wanted) list[at]?.take();
    due.current = undefined;
  });
  return { open: !closed && list.length > 0, label: t('References'), list, at, key };
}

const none: readonly string[] = [];

type Take = (reference: string, finished: boolean) => () => void;

/** Returns the rows of what the editor knows. After # there is only the selection. */
function ofEditor({ mark, query }: Typed, contexts: readonly string[], take: Take): Suggestion[] {
  return allKnown()
    .filter(({ context }) => contexts.includes(context) && (mark === '@' || context === 'selection'))
    .map((known) => ({ ...known, reference: mark + known.reference.slice(1) }))
    .filter(({ reference }) => reference.slice(1).startsWith(query.toLowerCase()))
    .map(({ icon, reference, about }) => ({
      key: reference,
      icon,
      name: reference,
      about,
      take: take(reference, !reference.endsWith(':')),
    }));
}

const rowOf =
  (take: Take) =>
  ({ kind, name, about }: FoundReference): Suggestion => {
    if (kind === 'symbol') {
      const reference = `@symbol:${name.replace(/[\s(].*$/, '')}`;
      return {
        key: reference,
        icon: icons[kind],
        name: visible(name),
        about: visible(about),
        take: take(reference, true),
      };
    }
    const parts = name.replace(/\/$/, '').split('/');
    const folder = kind === 'folder';
    return {
      key: written(name),
      icon: icons[kind],
      name: visible(parts.at(-1) ?? name) + (folder ? '/' : ''),
      about: visible(parts.slice(0, -1).join('/')),
      from: 'end',
      take: folder ? take(opened(name), false) : take(written(name), true),
    };
  };
