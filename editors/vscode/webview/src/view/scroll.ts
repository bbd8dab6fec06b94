// Scrolling: at its end, the page follows new text; elsewhere, the messages in view stay where they
// are, whatever is added, removed or resized above them.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { shownItems } from '../state/window';
import { usePage, useUi } from './use';

const near = 24; // pixels from the end that still count as the end
const scrolling = 500; // ms after the user's last input in which the box can still be moving because of it
const maxAnchors = 8;

export interface Scroll {
  box: { current: HTMLDivElement | null };
  inner: { current: HTMLDivElement | null };
  following: boolean;
  toEnd: () => void;
  /** Scrolls to a message; `top` is its distance from the top of the box, in pixels. */
  show: (key: string, top?: number) => void;
  /** Restores the position after other messages were drawn. */
  settle: () => void;
}

/** A message in view, and its distance from the top of the box. */
interface Anchor {
  key: string;
  top: number;
}

const fromEnd = (el: HTMLElement) => el.scrollHeight - el.scrollTop - el.clientHeight;
const topOf = (box: HTMLElement, el: Element) => el.getBoundingClientRect().top - box.getBoundingClientRect().top;

const messageWith = (box: HTMLElement, key: string) =>
  box.querySelector<HTMLElement>(`article.message[data-key="${CSS.escape(key)}"]`) ?? undefined;

/** Returns the first messages in view. Groups out of view are not looked into, because they have no layout. */
function anchorsOf(box: HTMLElement): Anchor[] {
  const { top, bottom } = box.getBoundingClientRect();
  const out: Anchor[] = [];
  for (const group of box.querySelectorAll('.group')) {
    const size = group.getBoundingClientRect();
    if (size.bottom <= top) continue;
    if (size.top >= bottom || out.length >= maxAnchors) break;
    for (const el of group.querySelectorAll<HTMLElement>('article.message')) {
      const at = el.getBoundingClientRect();
      if (at.bottom > top && at.top < bottom) out.push({ key: el.dataset.key ?? '', top: at.top - top });
    }
  }
  return out;
}

/** Scrolls so that the first anchor that is still there has its place again; false if there is none. */
function putBack(box: HTMLElement, anchors: readonly Anchor[]): boolean {
  for (const { key, top } of anchors) {
    const el = messageWith(box, key);
    if (!el) continue;
    const moved = topOf(box, el) - top;
    if (Math.abs(moved) >= 0.5) box.scrollTop += moved;
    return true;
  }
  return false;
}

/** Returns a function that reports whether the user can be scrolling the box now. */
function userScrolls(box: HTMLElement, signal: AbortSignal): () => boolean {
  let until = 0;
  const input = (e: Event) => {
    until = e.type === 'pointerdown' ? Infinity : Date.now() + scrolling; // a scroll bar that is held
  };
  for (const type of ['wheel', 'touchmove', 'pointerdown', 'pointerup', 'pointercancel', 'keydown']) {
    // The release of a scroll bar is an event of whatever is below the pointer then.
    const target = type === 'wheel' || type === 'pointerdown' ? box : window;
    target.addEventListener(type, input, { passive: true, signal });
  }
  return () => Date.now() < until;
}

/**
 * Keeps the box scrolled to its end while the user is there, keeps the messages in view in their
 * place otherwise, and saves the position. `atTail` reports whether the drawn messages reach the end of
 * the conversation.
 */
export function useScroll(drawn: boolean, atTail: boolean): Scroll {
  const page = usePage();
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(page.ui.kept.scroll === null);
  const follows = useRef(following);
  const anchors = useRef<Anchor[]>([]);
  const tail = useRef(atTail);
  tail.current = atTail;
  // Where the page or the user left the box, and how high its content was. The browser reports later that the page
  // scrolled, or that the content became shorter. By then the content can have grown, without the user having scrolled up.
  const was = useRef({ top: 0, height: 0 });
  const leave = useCallback((el: HTMLElement) => {
    was.current = { top: el.scrollTop, height: el.scrollHeight };
  }, []);

  const follow = useCallback((on: boolean) => {
    follows.current = on;
    setFollowing(on);
  }, []);

  /** Remembers what is in view. */
  const note = useCallback(() => {
    const el = box.current;
    if (!el) return;
    anchors.current = follows.current ? [] : anchorsOf(el);
    const [first] = anchors.current;
    page.store.reading = first?.key ?? '';
    const item = first && shownItems(page.store.state.view).find((i) => i.key === first.key);
    const place = first && item?.entryId ? { entryId: item.entryId, top: Math.round(first.top) } : null;
    page.keepScroll(follows.current ? null : Math.max(1, Math.round(fromEnd(el))), place);
  }, [page]);

  const toEnd = useCallback(() => {
    follow(true);
    page.store.dispatch({ type: 'toEnd' });
    if (box.current) {
      box.current.scrollTop = box.current.scrollHeight;
      leave(box.current);
    }
    note();
  }, [follow, leave, note, page]);

  // The user sent something.
  const sent = useUi((u) => u.toEnd);
  const shownSent = useRef(sent);
  useLayoutEffect(() => {
    if (shownSent.current === sent) return;
    shownSent.current = sent;
    toEnd();
  }, [sent, toEnd]);

  const show = useCallback(
    (key: string, top?: number) => {
      const el = box.current;
      const message = el ? messageWith(el, key) : undefined;
      if (!el || !message) return;
      follow(false);
      const space = Math.max(0, el.clientHeight - message.getBoundingClientRect().height);
      el.scrollTop += topOf(el, message) - (top ?? Math.min(space / 2, el.clientHeight / 4));
      leave(el);
      note();
    },
    [follow, leave, note],
  );

  // The scroll position before the page was unloaded.
  useLayoutEffect(() => {
    const el = box.current;
    if (drawn && el) el.scrollTop = el.scrollHeight - el.clientHeight - (page.ui.kept.scroll ?? 0);
  }, [drawn, page]);

  const settle = useCallback(() => {
    const el = box.current;
    if (!el) return;
    if (follows.current && tail.current) el.scrollTop = el.scrollHeight;
    // Other messages are drawn now, for example those of another session.
    else if (anchors.current.length > 0 && !putBack(el, anchors.current)) toEnd();
    leave(el);
  }, [leave, toEnd]);

  useEffect(() => {
    const [el, content] = [box.current, inner.current];
    if (!el || !content) return undefined;
    const ended = new AbortController();
    const size = new ResizeObserver(settle);
    size.observe(content);
    size.observe(el);
    leave(el);
    const users = userScrolls(el, ended.signal);
    const scrolled = () => {
      const resized = el.scrollHeight !== was.current.height;
      const up = el.scrollTop < was.current.top && (!resized || users());
      leave(el);
      if (!tail.current) follow(false);
      else if (fromEnd(el) <= near) follow(true);
      else if (up) follow(false);
      note();
    };
    el.addEventListener('scroll', scrolled, { passive: true, signal: ended.signal });
    return () => {
      size.disconnect();
      ended.abort();
    };
  }, [drawn, follow, leave, note, settle]);

  return { box, inner, following, toEnd, show, settle };
}
