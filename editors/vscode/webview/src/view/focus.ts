// Keeps the focus in the page: when the focused control disappears or is disabled, the composer gets the focus.

import { useLayoutEffect } from 'preact/hooks';

/** Returns the control that gets a lost focus: the composer, or the conversation if there is none. */
function refuge(): HTMLElement | null {
  const composer = document.querySelector<HTMLTextAreaElement>('#composer');
  return composer && !composer.disabled ? composer : document.querySelector<HTMLElement>('.scroll');
}

export function useFocusKeeper(): void {
  useLayoutEffect(() => {
    let last: EventTarget | null = null;
    const focused = (e: FocusEvent) => (last = e.target);
    const isGone = () =>
      last instanceof HTMLElement && (!last.isConnected || (last instanceof HTMLButtonElement && last.disabled));
    const keep = () => {
      if (document.activeElement !== document.body || !isGone() || !document.hasFocus()) return;
      last = null;
      refuge()?.focus({ preventScroll: true });
    };
    const changed = () => {
      if (!isGone()) return;
      keep();
      requestAnimationFrame(keep); // a disabled button loses the focus later
    };
    const watch = new MutationObserver(changed);
    watch.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
    document.addEventListener('focusin', focused);
    window.addEventListener('focus', keep);
    return () => {
      watch.disconnect();
      document.removeEventListener('focusin', focused);
      window.removeEventListener('focus', keep);
    };
  }, []);
}
