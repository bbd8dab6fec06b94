// A formula: its source until it is typeset, and if it cannot be.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { typesetSoon } from './mathScript';

export const Formula = memo(function Formula({
  tex,
  display,
  source,
}: {
  tex: string;
  display: boolean;
  source: string;
}): JSX.Element {
  const box = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState('');
  const of = `${display} ${tex}`;
  useLayoutEffect(
    () =>
      typesetSoon(tex, display, (el) => {
        if (!el || !box.current) return;
        box.current.replaceChildren(el);
        setDrawn(of);
      }),
    [tex, display, of],
  );
  const typeset = drawn === of;
  return (
    <span class={`formula${display ? ' display' : ''}`} tabIndex={display && typeset ? 0 : undefined}>
      <span ref={box} hidden={!typeset} />
      {!typeset && <code>{source}</code>}
    </span>
  );
});
