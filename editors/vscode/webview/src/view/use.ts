// Hooks: the page, and its stores as the state of a component.

import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../page/page';
import type { Ui } from '../page/ui';
import { refusalOf } from '../engine';
import type { Changing } from '../changes';
import type { Finding } from '../find';
import type { Ability } from '../state/engine';
import type { ChatState } from '../state/model';

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('a component is outside of the page');
  return page;
}

/** Returns a part of a store's value; the component is rendered again only if that part is a different object. */
function useStore<S, T>(subscribe: (f: () => void) => () => void, read: () => S, part: (s: S) => T): T {
  const [value, set] = useState(() => ({ now: part(read()) }));
  const shown = useRef(value.now);
  const select = useRef(part);
  select.current = part;
  shown.current = part(read());
  useLayoutEffect(() => {
    const check = () => {
      const now = select.current(read());
      if (now !== shown.current) set({ now });
    };
    check(); // it can have changed since it was rendered
    return subscribe(check);
  }, [subscribe, read]);
  return shown.current;
}

export function useChat<T>(part: (s: ChatState) => T): T {
  const { store } = usePage();
  return useStore(store.subscribe, store.getState, part);
}

export function useUi<T>(part: (u: Ui) => T): T {
  const page = usePage();
  return useStore(page.subscribe, page.getUi, part);
}

/** Returns why the engine cannot do something, "" if it can. */
export function useRefusal(ability: Ability): string {
  return useChat((s) => refusalOf(s.view.engine, ability));
}

export function useFinder<T>(part: (f: Finding) => T): T {
  const { finder } = usePage();
  return useStore(finder.subscribe, finder.getState, part);
}

export function useChanges<T>(part: (c: Changing) => T): T {
  const { changes } = usePage();
  return useStore(changes.subscribe, changes.getState, part);
}

/** Reports whether a path is known to be a file of the workspace, and asks for it. */
export function useFileIn(path: string): boolean {
  const { files } = usePage();
  useEffect(() => files.want(path), [files, path]);
  return useStore(files.subscribe, files.getState, (known) => known.get(path) === true);
}

/** Returns whether a fold is open: as the user left it, or else its default. */
export function useFold(key: string, byItself: boolean): [boolean, (open: boolean) => void] {
  const page = usePage();
  const chosen = useUi((u) => u.kept.folds[key]);
  return [chosen ?? byItself, (open) => page.fold(key, open)];
}
