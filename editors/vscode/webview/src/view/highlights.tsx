// Marks the references in the composer's text. A text field cannot contain marks, so they are behind it: the same text,
// invisible, with the same line breaks.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { maxNames } from '../../../src/chat/messages';
import { referencesIn } from '../state/references';
import type { Reference } from '../state/references';
import { usePage, useUi } from './use';

const settles = 200; // milliseconds without typing, before the paths are looked up

/** Returns which of the paths exist. A path is looked up once for each text in which it is new. */
function useKnownPaths(names: readonly string[]): ReadonlySet<string> {
  const page = usePage();
  const [known, setKnown] = useState<ReadonlySet<string>>(new Set());
  const wanted = names.slice(0, maxNames).join('\n');
  useEffect(() => {
    if (wanted === '') return undefined;
    let current = true;
    const timer = setTimeout(() => {
      void page.knownPaths(wanted.split('\n')).then((found) => current && setKnown(new Set(found)));
    }, settles);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [wanted, page]);
  return known;
}

/** Splits a text at its references. */
function piecesOf(text: string, marks: readonly Reference[]): JSX.Element[] {
  const out: JSX.Element[] = [];
  let at = 0;
  for (const { from, to } of marks) {
    out.push(<span key={`t${at}`}>{text.slice(at, from)}</span>, <mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  out.push(<span key={`t${at}`}>{text.slice(at)}</span>);
  return out;
}

export function Highlights({
  text,
  of,
}: {
  text: string;
  of: { current: HTMLTextAreaElement | null };
}): JSX.Element | null {
  const contexts = useUi((u) => u.init?.contexts ?? none);
  const all = referencesIn(text);
  const known = useKnownPaths([...new Set(all.filter(({ kind }) => kind === 'path').map(({ name }) => name))]);
  const offered = ({ kind, name }: Reference) => {
    if (kind === 'path') return known.has(name);
    return contexts.includes(kind === 'symbol' ? 'symbol' : name.replace('diagnostics', 'problems'));
  };
  const marks = all.filter(offered);
  const back = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [el, area] = [back.current, of.current];
    if (!el || !area) return undefined;
    const follow = () => {
      el.style.width = `${area.clientWidth}px`; // without the scroll bar
      el.scrollTop = area.scrollTop;
    };
    follow();
    area.addEventListener('scroll', follow, { passive: true });
    return () => area.removeEventListener('scroll', follow);
  });
  if (marks.length === 0) return null;
  return (
    <div class="highlights" ref={back} aria-hidden="true">
      {piecesOf(text, marks)}
      {'\n'}
    </div>
  );
}

const none: readonly string[] = [];
