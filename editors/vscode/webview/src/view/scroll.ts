// Scrolling: at its end, the page follows new text; elsewhere, nothing moves automatically.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { usePage } from './use';

const near = 24; // pixels from the end that still count as the end

export interface Scroll {
  box: { current: HTMLDivElement | null };
  inner: { current: HTMLDivElement | null };
  following: boolean;
  toEnd: () => void;
}

const fromEnd = (el: HTMLElement) => el.scrollHeight - el.scrollTop - el.clientHeight;

/** Keeps the box scrolled to its end while the user is there, and saves the scroll position. */
export function useScroll(drawn: boolean): Scroll {
  const page = usePage();
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(page.ui.kept.scroll === null);
  const follows = useRef(following);

  const follow = useCallback((on: boolean) => {
    follows.current = on;
    setFollowing(on);
  }, []);

  const toEnd = useCallback(() => {
    follow(true);
    page.keepScroll(null);
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, page]);

  // The scroll position before the page was unloaded.
  useLayoutEffect(() => {
    const el = box.current;
    if (drawn && el) el.scrollTop = el.scrollHeight - el.clientHeight - (page.ui.kept.scroll ?? 0);
  }, [drawn, page]);

  useEffect(() => {
    const [el, content] = [box.current, inner.current];
    if (!el || !content) return undefined;
    const size = new ResizeObserver(() => {
      if (follows.current) el.scrollTop = el.scrollHeight;
    });
    size.observe(content);
    size.observe(el);
    let last = el.scrollTop;
    const scrolled = () => {
      const up = el.scrollTop < last;
      last = el.scrollTop;
      const distance = fromEnd(el);
      if (distance <= near) follow(true);
      else if (up) follow(false);
      page.keepScroll(follows.current ? null : Math.round(distance));
    };
    el.addEventListener('scroll', scrolled, { passive: true });
    return () => {
      size.disconnect();
      el.removeEventListener('scroll', scrolled);
    };
  }, [drawn, follow, page]);

  return { box, inner, following, toEnd };
}
